/** Organization → Domains: the e-mail domains of the organization, and the DNS record that verifies each. */
import { z } from 'zod';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { listPage, type Piece } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { organizationDomain, shownDomain } from '../../platform/dns/domain-name.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import {
  mayChangeOrganization,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from '../organizations/organization-page.console.ts';
import { getOrganization, target } from '../organizations/organizations.service.ts';
import { challengeName, MOST_DOMAINS, type OrganizationDomain } from './organization-domains.resource.ts';
import { addDomain, getDomain, listDomains, removeDomain, verifyDomain } from './organization-domains.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/domains`;
const addressOf = ({ orgId, domain }: Pick<OrganizationDomain, 'orgId' | 'domain'>): string => `${homeOf(orgId)}/${domain}`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...organizationCrumbs(organization),
  { label: 'Domains', href: homeOf(organization.id) },
];

const statusOf = ({ verified }: OrganizationDomain): Piece =>
  verified === null ? { text: 'To be verified', tone: 'warning' } : { text: 'Verified', tone: 'good' };

const COLUMNS: ListColumns = [
  { label: 'Domain', by: 'shown', searched: true },
  'Status',
  { label: 'Verified on', by: 'verified', descending: true },
];

const list: ConsolePage = {
  path: '/organizations/:orgId/domains',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { items, total } = inPages(await shownDomains(visit, organization.id), pageIn(query, COLUMNS));
    const isChangeable = mayChangeOrganization(visit, organization.id, 'MANAGE_DOMAINS');
    const add = { label: 'Add domain', href: `${home}/new`, main: true };
    return listPage({
      ...organizationHead(visit, organization),
      lead: 'E-mail domains of the organization. A verified domain decides where its users sign in.',
      actions: isChangeable ? [add] : [],
      list: {
        name: 'Domains',
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'domains', total }) }),
        rows: items.map((item) => ({
          value: item.domain,
          cells: [
            isChangeable ? { text: item.shown, href: addressOf(item) } : item.shown,
            statusOf(item),
            item.verified === null ? '' : { moment: momentOf(item.verified) },
          ],
          actions: isChangeable
            ? [
                ...(item.verified === null ? [{ label: 'Verify', icon: 'verify' as const, href: addressOf(item) }] : []),
                { label: 'Remove', href: `${addressOf(item)}/remove` },
              ]
            : [],
        })),
        empty: 'No domains. Add one so that its users can sign in with a provider of their own.',
        emptyAction: isChangeable ? add : undefined,
        ...paged(home, query, COLUMNS, { total }, 'domain'),
        files: fileActions(home, query, total),
      },
    });
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToChange(visit, 'MANAGE_DOMAINS');
    return draftForList(visit, form, {
      kind: 'domains',
      pieces: domainsOf(visit, orgId),
      rowOf: ({ domain, shown }) => ({ name: shown, item: { id: domain, orgId } }),
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    return downloadList(visit, {
      name: 'organization-domains',
      columns: ['domain', 'created', 'verified'],
      pieces: domainsOf(visit, organization.id),
      recordOf: (domain) => ({ ...domain }),
      of: target(organization),
    });
  },
};

/** The newest first. */
async function shownDomains({ services, request }: ConsoleRequest, orgId: string) {
  const { items } = await listDomains(services, orgId, { limit: MOST_DOMAINS }, request);
  return items.map((item) => ({ ...item, shown: shownDomain(item.domain) })).reverse();
}

const domainsOf = (visit: ConsoleRequest, orgId: string) =>
  piecesOf(visit.query, COLUMNS, async (window) => inPages(await shownDomains(visit, orgId), window));

const add: ConsolePage = {
  path: '/organizations/:orgId/domains/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_DOMAINS');
    const fields = [
      { name: 'domain', label: 'Domain', required: true, hint: 'The part of e-mail addresses after the @, such as example.com.' },
    ];
    return formPage(
      { title: 'Add domain', crumbs: crumbsTo(organization), fields, submit: 'Add domain', cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit, form) {
    const { domain } = parse(z.object({ domain: organizationDomain }), typedValues([{ name: 'domain', label: 'Domain' }], form));
    return { goTo: addressOf(await addDomain(visit.services, orgIdIn(visit), domain, visit.request)), notice: 'domain-added' };
  },
};

const domainIn = (visit: ConsoleRequest): Promise<OrganizationDomain> =>
  getDomain(visit.services, orgIdIn(visit), visit.params.domain ?? '', visit.request);

const verify: ConsolePage = {
  path: '/organizations/:orgId/domains/:domain',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_DOMAINS');
    const found = await domainIn(visit);
    const page = { title: verbatim(shownDomain(found.domain)), crumbs: crumbsTo(organization), cancel: homeOf(organization.id) };
    if (found.verified !== null)
      return formPage({ ...page, facts: ['The domain is verified. You may remove the DNS record.'], submit: 'Back to the domains' }, typed);
    return formPage(
      {
        ...page,
        facts: ['Add this TXT record to the DNS of the domain, then verify it.', 'DNS changes can take an hour to arrive.'],
        copies: [
          { label: 'Name', text: challengeName(found.domain) },
          { label: 'Value', text: found.challenge },
        ],
        submit: 'Verify',
      },
      typed,
    );
  },
  async receive(visit) {
    const { orgId, domain } = await domainIn(visit);
    await verifyDomain(visit.services, orgId, domain, visit.request);
    return { goTo: homeOf(orgId), notice: 'domain-verified' };
  },
};

const remove: ConsolePage = {
  path: '/organizations/:orgId/domains/:domain/remove',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_DOMAINS');
    const { domain } = await domainIn(visit);
    const title = phrase('Remove “{domain}” from “{organization}”?', { domain: shownDomain(domain), organization: organization.name });
    const { providers } = await affectedBy(visit.services, 'domain', { orgId: organization.id, id: domain });
    const facts = [
      providers === 0
        ? 'No identity provider uses it. Afterwards another organization can verify it.'
        : phrase('It is used by {providers}. Remove it there first.', {
            providers: affectedCount(providers, 'identity provider'),
          }),
    ];
    return formPage(
      { title, crumbs: crumbsTo(organization), facts, submit: 'Remove domain', danger: true, cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit) {
    const { orgId, domain } = await domainIn(visit);
    await removeDomain(visit.services, orgId, domain, visit.request);
    return { goTo: homeOf(orgId), notice: 'domain-removed' };
  },
};

export const domainPages: readonly ConsolePage[] = [list, add, verify, remove];
