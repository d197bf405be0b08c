/** Branding tab of an organization: name, logo and colours on its sign-in pages, with a preview. */
import { type Content, detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { isWithin, reachOf } from '../administrators/administration.policy.ts';
import { organizationCrumbs, organizationHead, organizationPath, orgIdIn } from '../organizations/organization-page.console.ts';
import { getOrganization } from '../organizations/organizations.service.ts';
import { previewPage } from '../settings/branding-preview.console.ts';
import { readSettings } from '../settings/settings.service.ts';
import { organizationBrandingFields } from '../settings/settings-fields.service.ts';
import { brandedFor, type OrganizationBranding } from './organization-branding.resource.ts';
import { readOrganizationBranding, replaceOrganizationBranding } from './organization-branding.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/branding`;

async function brandingOf(visit: ConsoleRequest) {
  const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
  return { organization, branding: await readOrganizationBranding(visit.services, organization.id, visit.request) };
}

const DEFAULT: Content = { text: 'Default of the service', soft: true };
const MADE: Content = { text: 'made from the other one', soft: true };
const code = (text: string | null): Content => (text === null ? DEFAULT : { text, code: true });

const show: ConsolePage = {
  path: '/organizations/:orgId/branding',
  access: 'organizations',
  async show(visit) {
    const { organization, branding } = await brandingOf(visit);
    const home = homeOf(organization.id);
    const mayWrite = isWithin(reachOf(visit.request.roles, 'write', 'MANAGE_BRANDING'), organization.id);
    const isMade = branding.primaryColorDarkHex === null && branding.primaryColorHex !== null;
    const preview = { label: 'Preview', href: `${home}/preview` };
    return detailPage({
      ...organizationHead(visit, organization),
      lead: 'On the pages where members sign in for the organization, and in its invitations.',
      actions: mayWrite ? [preview, { label: 'Edit', href: `${home}/edit`, main: true }] : [preview],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Name', value: branding.name ?? organization.name },
            { label: 'Logo', value: code(branding.logoUrl) },
            { label: 'Colour', value: code(branding.primaryColorHex) },
            { label: 'Colour on dark pages', value: isMade ? MADE : code(branding.primaryColorDarkHex) },
          ],
        },
      ],
    });
  },
};

const fieldsOf = (held: OrganizationBranding): readonly Field[] => [
  { name: 'name', label: 'Name', value: held.name ?? '', hint: 'Empty: the name of the organization.' },
  {
    ...{ name: 'logoUrl', label: 'Logo', kind: 'url', value: held.logoUrl ?? '' },
    hint: 'The https:// address of a picture, shown 28 pixels high beside the name. Every visitor’s browser asks for it there. Empty: that of the service.',
  },
  {
    ...{
      name: 'primaryColorHex',
      label: 'Colour',
      kind: 'colour',
      group: 'Colour of links and buttons',
      value: held.primaryColorHex ?? '',
    },
    hint: 'As #rrggbb, e.g. #0f5c5c. Empty: the colours of the application or of the service.',
  },
  {
    ...{ name: 'primaryColorDarkHex', label: 'Colour on dark pages', kind: 'colour', group: 'Colour of links and buttons' },
    value: held.primaryColorDarkHex ?? '',
    hint: 'For devices in dark mode. Empty: a variant of the colour above with enough contrast.',
  },
];

/** Parses the form; an empty field means the service's value. @throws {ApiError} validation */
function brandingIn(held: OrganizationBranding, form: URLSearchParams): OrganizationBranding {
  const typed = Object.entries(typedValues(fieldsOf(held), form)).map(([name, value]) => [name, String(value).trim() || null]);
  return { ...held, ...parse(organizationBrandingFields, Object.fromEntries(typed)) };
}

const edit: ConsolePage = {
  path: '/organizations/:orgId/branding/edit',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const { organization, branding } = await brandingOf(visit);
    return formPage(
      {
        title: 'Edit the branding',
        crumbs: [...organizationCrumbs(organization), { label: 'Branding', href: homeOf(organization.id) }],
        facts: [
          'A colour with too little contrast is refused, and the nearest accessible one is suggested (WCAG 2.2: 4.5:1 for text, 3:1 for the edges of buttons).',
        ],
        fields: fieldsOf(branding),
        submit: 'Save',
        cancel: homeOf(organization.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { organization, branding } = await brandingOf(visit);
    await replaceOrganizationBranding(visit.services, organization.id, brandingIn(branding, form), visit.request);
    return { goTo: homeOf(organization.id), notice: 'branding-changed' };
  },
};

const preview: ConsolePage = {
  path: '/organizations/:orgId/branding/preview',
  access: 'organizations',
  async show(visit) {
    const { organization, branding } = await brandingOf(visit);
    const look = { ...branding, name: branding.name ?? organization.name };
    const page = {
      title: phrase('Preview of {name}', { name: organization.name }),
      lead: 'The page where members sign in for the organization, as it is now.',
      crumbs: [...organizationCrumbs(organization), { label: 'Branding', href: homeOf(organization.id) }],
    };
    return previewPage(page, { branding: brandedFor(await readSettings(visit.services, 'branding'), look) });
  },
};

export const organizationBrandingPages: readonly ConsolePage[] = [show, edit, preview];
