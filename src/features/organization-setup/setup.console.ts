/** Organization → Sign-in → Set-up link: creates the link for the customer's administrator to set up domain and provider. */
import { detailPage } from '../../pages/console/detail-page.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { organizationCrumbs, organizationPath, orgIdIn } from '../organizations/organization-page.console.ts';
import { getOrganization, type OrganizationDetail } from '../organizations/organizations.service.ts';
import { createSetup, setupBody } from './organization-setup.service.ts';

const homeOf = ({ id }: Pick<OrganizationDetail, 'id'>): string => `${organizationPath(id)}/sign-in`;
const crumbsTo = (organization: OrganizationDetail) => [
  ...organizationCrumbs(organization),
  { label: 'Sign-in', href: homeOf(organization) },
];

const FIELDS: readonly Field[] = [
  {
    name: 'mode',
    label: 'Use',
    kind: 'radios',
    value: 'OFFERED',
    options: [
      { value: 'OFFERED', label: 'Offered', hint: 'Its button is shown first. Passwords and other ways still work.' },
      { value: 'REQUIRED', label: 'Required', hint: 'Once the customer has tried it, users of the domain sign in there only.' },
    ],
  },
];

const organizationIn = (visit: ConsoleRequest): Promise<OrganizationDetail> =>
  getOrganization(visit.services, orgIdIn(visit), visit.request);

const make: ConsolePage = {
  path: '/organizations/:orgId/setup-link',
  access: 'service',
  verb: 'write',
  async show(visit, typed: Typed) {
    const organization = await organizationIn(visit);
    const page = {
      title: 'Create set-up link',
      crumbs: crumbsTo(organization),
      facts: [
        'The customer’s administrator needs no account here. The link leads through the domain, the identity provider and a test sign-in.',
        'It works for seven days, in the browser that opens it first. A link that was made before stops working.',
      ],
      fields: FIELDS,
      submit: 'Create link',
      cancel: homeOf(organization),
    };
    return formPage({ ...page, hidden: formKey() }, typed);
  },
  async receive(visit, form) {
    const organization = await organizationIn(visit);
    const { mode } = parse(setupBody, typedValues(FIELDS, form));
    const { link } = await submitOnce(visit, form, { orgId: organization.id, mode }, async (within) => {
      const made = await createSetup(within, organization.id, mode, visit.request);
      return { link: made.link };
    });
    return linkPage(organization, link);
  },
};

const linkPage = (organization: OrganizationDetail, link: string): Drawn =>
  detailPage({
    title: 'Set-up link',
    lead: 'Copy it now and send it to the customer’s administrator. It is shown only once.',
    crumbs: crumbsTo(organization),
    parts: [
      { kind: 'facts', facts: [{ label: 'Link', value: link, copy: true }] },
      {
        kind: 'words',
        tone: 'warning',
        paragraphs: ['The first person to open the link decides how users of the organization sign in. Send it over a private channel.'],
      },
    ],
    actions: [{ label: 'Done, I have copied it', href: homeOf(organization), main: true }],
  });

export const organizationSetupPages: readonly ConsolePage[] = [make];
