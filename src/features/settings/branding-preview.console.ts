/** How the sign-in page looks in a brand's colours, in light and in dark: a picture drawn of HTML, and the contrasts that it has. */

import type { TablePart } from '../../pages/console/detail-page.ts';
import type { Drawn } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { checkContrast, completeColours, type Scheme, SURROUNDINGS, writeRatio } from './brand-colours.policy.ts';
import { previewStylesheet } from './brand-stylesheet.service.ts';
import type { Branding } from './settings.service.ts';

interface Pictured {
  readonly branding: Branding;
  readonly application?: { readonly label: string; readonly logo: string | undefined; readonly colour: string | undefined };
  /** What is to be saved, where nothing of it is yet. */
  readonly unsaved?: Readonly<Record<string, string>>;
}

/** The colours of a page, its own where no brand has any. */
export const coloursOf = ({ branding, application }: Pick<Pictured, 'branding' | 'application'>) =>
  (application?.colour === undefined
    ? completeColours(branding.primaryColorHex, branding.primaryColorDarkHex)
    : completeColours(application.colour)) ?? { light: SURROUNDINGS.light.accent, dark: SURROUNDINGS.dark.accent };

const https = (address: string | null | undefined): string | undefined =>
  address != null && URL.canParse(address) && new URL(address).protocol === 'https:' ? address : undefined;

/** @param page title, way and links of the page */
export function previewPage(page: Omit<Drawn, 'view' | 'locals' | 'images'>, pictured: Pictured): Drawn {
  const { branding, application, unsaved } = pictured;
  const colours = coloursOf(pictured);
  const logos = [https(branding.logoUrl), https(application?.logo)];
  const schemes: readonly (readonly [Scheme, string])[] = [
    ['light', 'Light'],
    ['dark', 'Dark'],
  ];
  return {
    ...page,
    view: 'branding-preview',
    images: logos.flatMap((logo) => (logo === undefined ? [] : [new URL(logo).origin])),
    locals: {
      stylesheets: ['frame.css', 'admin.css', 'branding.css'],
      previewColours: previewStylesheet(colours),
      pictures: schemes.map(([scheme, label]) => ({
        scheme,
        label,
        colour: colours[scheme],
        lowest: writeRatio(Math.min(...checkContrast(scheme, colours[scheme]).map(({ ratio }) => ratio))),
      })),
      service: branding.name,
      serviceLogo: logos[0],
      application: application?.label,
      applicationLogo: logos[1],
      links: [branding.supportUrl && 'Help', branding.privacyUrl && 'Privacy policy', branding.termsUrl && 'Terms of service'].filter(
        Boolean,
      ),
      unsaved: unsaved && Object.entries(unsaved),
    },
  };
}

/** What the colours are held against. */
export function contrastTable(branding: Branding): TablePart {
  const { light, dark } = coloursOf({ branding });
  const inDark = checkContrast('dark', dark);
  return {
    kind: 'table',
    title: 'Contrast',
    lead: 'As WCAG 2.2 measures it, from 1:1 to 21:1. A colour that people could not read by is refused.',
    name: 'contrasts',
    columns: ['What', 'Needed', phrase('Light, {light}', { light }), phrase('Dark, {dark}', { dark })],
    rows: checkContrast('light', light).map(({ what, criterion, needed, ratio, passes }, at) => {
      const other = inDark[at];
      return {
        cells: [
          phrase(what),
          `${needed}:1 (${criterion})`,
          { text: writeRatio(ratio), tone: passes ? 'good' : 'bad' },
          { text: writeRatio(other?.ratio ?? 1), tone: other?.passes ? 'good' : 'bad' },
        ],
      };
    }),
    empty: '',
  };
}
