/** Preview of the sign-in page with a brand's colours in light and dark, drawn in HTML, and its contrasts. */

import type { TablePart } from '../../pages/console/detail-page.ts';
import type { Action, ConsoleRequest, Crumb, Drawn } from '../../pages/console/page.ts';
import { ENGLISH } from '../../platform/i18n/messages.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { renderMail } from '../mail/templates.ts';
import { checkContrast, type Scheme, writeRatio } from './brand-colours.policy.ts';
import { schemeColours } from './brand-css.policy.ts';
import { accentsOf, previewStylesheet } from './brand-stylesheet.service.ts';
import { footLinks } from './branding.resource.ts';
import type { Branding } from './settings.service.ts';

// Shared by the pages under Settings → Branding.

export const HOME = '/admin/settings/branding';
export const SETTINGS: readonly Crumb[] = [{ label: 'Settings' }];
export const CRUMBS: readonly Crumb[] = [...SETTINGS, { label: 'Branding', href: HOME }];
export const TABS: readonly Action[] = [
  { label: 'Service', href: HOME },
  { label: 'Style', href: `${HOME}/style` },
  { label: 'Links', href: `${HOME}/links` },
  { label: 'Applications', href: `${HOME}/applications` },
];

export const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

interface Pictured {
  readonly branding: Branding;
  readonly application?: { readonly label: string; readonly logo: string | undefined; readonly colour: string | undefined };
  /** Unsaved values. */
  readonly unsaved?: Readonly<Record<string, string>>;
}

/** The colours of a page, by default the original ones. */
export const coloursOf = ({ branding, application }: Pick<Pictured, 'branding' | 'application'>) =>
  accentsOf(branding, application?.colour);

const https = (address: string | null | undefined): string | undefined =>
  address != null && URL.canParse(address) && new URL(address).protocol === 'https:' ? address : undefined;

const exampleMail = (brand: Branding) =>
  renderMail('invitation', 'en', { login: 'ada@example.com', link: 'https://example.com/link' }, { brand, texts: {} }).picture;

/** @param page title, breadcrumbs and links of the page */
export function previewPage(page: Omit<Drawn, 'view' | 'locals' | 'images'>, pictured: Pictured): Drawn {
  const { branding, application, unsaved } = pictured;
  const colours = coloursOf(pictured);
  const logos = [https(branding.logoUrl), https(application?.logo)];
  const pictures = [...logos, https(branding.backgroundUrl)];
  const schemes: readonly (readonly [Scheme, string])[] = [
    ['light', 'Light'],
    ['dark', 'Dark'],
  ];
  return {
    ...page,
    view: 'branding-preview',
    images: pictures.flatMap((address) => (address === undefined ? [] : [new URL(address).origin])),
    locals: {
      stylesheets: ['frame.css', 'admin.css', 'branding.css'],
      previewColours: previewStylesheet(branding, application?.colour),
      pictures: schemes.map(([scheme, label]) => ({
        scheme,
        label,
        colour: colours[scheme],
        lowest: writeRatio(
          Math.min(...checkContrast(scheme, colours[scheme], schemeColours(scheme, branding.css)).map(({ ratio }) => ratio)),
        ),
      })),
      service: branding.name,
      serviceLogo: logos[0],
      application: application?.label,
      applicationLogo: logos[1],
      links: footLinks(branding, 'en', ENGLISH.text).map(({ label }) => verbatim(label)),
      unsaved: unsaved && Object.entries(unsaved),
      // E-mails use the service's branding, even about an application.
      mail: application === undefined ? exampleMail(branding) : undefined,
    },
  };
}

/** Contrast with the surrounding colours. */
export function contrastTable(branding: Branding): TablePart {
  const { light, dark } = coloursOf({ branding });
  const inDark = checkContrast('dark', dark, schemeColours('dark', branding.css));
  return {
    kind: 'table',
    title: 'Contrast',
    lead: 'As WCAG 2.2 measures it, from 1:1 to 21:1. A colour with too little contrast is refused.',
    name: 'contrasts',
    columns: ['What', 'Needed', phrase('Light, {light}', { light }), phrase('Dark, {dark}', { dark })],
    rows: checkContrast('light', light, schemeColours('light', branding.css)).map(({ what, criterion, needed, ratio, passes }, at) => {
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
