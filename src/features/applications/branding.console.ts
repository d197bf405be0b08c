/** Branding of an application on the sign-in and consent pages: logo, colour and links. */

import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { applicationIn, headOf, warningsOf } from './application-page.console.ts';
import { settingParts } from './settings.console.ts';

/** The logo as on pages for users: https only. */
function logoPart(logo: string): Part {
  const title = 'Logo, as users see it';
  return new URL(logo).protocol === 'https:'
    ? { kind: 'picture', title, src: logo, alt: 'The logo of the application' }
    : { kind: 'words', title, paragraphs: ['It is not shown: its address is not https.'], tone: 'warning' };
}

export const brandingPage: ConsolePage = {
  path: '/applications/:id/branding',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const { logo_uri: logo } = application.settings;
    return detailPage({
      ...headOf(visit, application),
      actions: [{ label: 'Preview', icon: 'preview', href: `/admin/settings/branding/applications/${encodeURIComponent(application.id)}` }],
      images: logo !== undefined && new URL(logo).protocol === 'https:' ? [new URL(logo).origin] : [],
      parts: [
        ...warningsOf(application),
        ...(await settingParts(visit, application, 'branding')),
        ...(logo === undefined ? [] : [logoPart(logo)]),
      ],
    });
  },
};
