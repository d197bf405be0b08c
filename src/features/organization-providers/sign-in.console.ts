/** Organization → Sign-in: the identity providers of the organization, and the domains of each. */
import { departmentsIn } from '../../pages/console/candidates.ts';
import { affectedCount } from '../../pages/console/confirmation-page.ts';
import { listPage, type Piece } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { type Candidates, pickedId, pickField } from '../../pages/console/picker.ts';
import { shownDomain } from '../../platform/dns/domain-name.ts';
import { ApiError, forbidden } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { getIdentityProvider, listIdentityProviders } from '../identity-providers/identity-providers.service.ts';
import { verifiedDomains } from '../organization-domains/organization-domains.service.ts';
import {
  mayChangeOrganization,
  organizationCrumbs,
  organizationHead,
  organizationPath,
  organizationToChange,
  orgIdIn,
} from '../organizations/organization-page.console.ts';
import { getOrganization, target } from '../organizations/organizations.service.ts';
import { NO_DEPARTMENT } from '../users/organization-fields.console.ts';
import { type OrganizationProvider, organizationProviderBody } from './organization-providers.resource.ts';
import { getProviderOf, listProvidersOf, putProviderOf, removeProviderOf } from './organization-providers.service.ts';

const homeOf = (orgId: string): string => `${organizationPath(orgId)}/sign-in`;
const addressOf = ({ orgId, idpId }: Pick<OrganizationProvider, 'orgId' | 'idpId'>): string =>
  `${homeOf(orgId)}/${encodeURIComponent(idpId)}`;
const crumbsTo = (organization: { id: string; name: string }): readonly Crumb[] => [
  ...organizationCrumbs(organization),
  { label: 'Sign-in', href: homeOf(organization.id) },
];

/** Only administrators of the service can see all providers. */
const mayConnect = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

const modeOf = ({ mode, status }: OrganizationProvider): Piece => {
  if (status === 'INACTIVE') return { text: 'Inactive', tone: 'plain' };
  return mode === 'REQUIRED' ? { text: 'Required', tone: 'good' } : { text: 'Offered', tone: 'plain' };
};

const COLUMNS: ListColumns = [
  { label: 'Provider', by: 'name', searched: true },
  { label: 'Use', by: 'mode' },
  { label: 'Domains', searchedBy: 'domains' },
  { label: 'Membership', by: 'autoJoin', descending: true },
];

const list: ConsolePage = {
  path: '/organizations/:orgId/sign-in',
  access: 'organizations',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const organization = await getOrganization(services, orgIdIn(visit), request);
    const home = homeOf(organization.id);
    const { items, total } = await listProvidersOf(services, organization.id, pageIn(query, COLUMNS), request);
    const isChangeable = mayChangeOrganization(visit, organization.id, 'MANAGE_PROVIDERS');
    const add = { label: 'Connect provider', href: `${home}/new`, main: true };
    return listPage({
      ...organizationHead(visit, organization),
      lead: 'Identity providers of the organization. The domain of the typed e-mail address leads to them.',
      actions: mayConnect(visit) ? [{ label: 'Create set-up link', href: `${organizationPath(organization.id)}/setup-link` }, add] : [],
      list: {
        name: 'Identity providers',
        ...(isChangeable && { choosing: choosingAction(visit, home, typed, { kind: 'organization-providers', total }) }),
        rows: items.map((item) => ({
          value: item.idpId,
          cells: [
            isChangeable ? { text: item.name, href: addressOf(item) } : item.name,
            modeOf(item),
            item.domains.map((domain) => ({ text: shownDomain(domain) })),
            item.autoJoin ? phrase('Automatic') : phrase('By administrators'),
          ],
          actions: isChangeable ? [{ label: 'Remove', href: `${addressOf(item)}/remove` }] : [],
        })),
        empty: 'No identity providers. Users of the organization sign in like everybody else.',
        emptyAction: mayConnect(visit) ? add : undefined,
        ...paged(home, query, COLUMNS, { total }, 'identity provider'),
        files: fileActions(home, query, total),
      },
    });
  },
  async receive(visit, form) {
    const { id: orgId } = await organizationToChange(visit, 'MANAGE_PROVIDERS');
    return draftForList(visit, form, {
      kind: 'organization-providers',
      pieces: providersOf(visit, orgId),
      rowOf: ({ idpId, name }) => ({ name, item: { id: idpId, orgId } }),
    });
  },
  async download(visit) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    return downloadList(visit, {
      name: 'organization-identity-providers',
      columns: ['idpId', 'name', 'mode', 'domains', 'autoJoin', 'depId'],
      pieces: providersOf(visit, organization.id),
      recordOf: (provider) => ({ ...provider }),
      of: target(organization),
    });
  },
};

const providersOf = ({ services, query, request }: ConsoleRequest, orgId: string) =>
  piecesOf(query, COLUMNS, (window) => listProvidersOf(services, orgId, window, request));

/** All fields except the department, which is chosen from a list. */
async function fieldsOf(visit: ConsoleRequest, orgId: string, now?: OrganizationProvider): Promise<readonly Field[]> {
  const domains = await verifiedDomains(visit.services, orgId, visit.request);
  return [
    {
      name: 'domains',
      label: 'Domains',
      kind: 'checks',
      hint:
        domains.length === 0
          ? 'The organization has no verified domain yet. Add one under Domains.'
          : 'Users of these domains are sent to the provider.',
      values: now?.domains ?? domains,
      options: domains.map((domain) => ({ value: domain, label: verbatim(shownDomain(domain)) })),
    },
    {
      name: 'mode',
      label: 'Use',
      kind: 'radios',
      value: now?.mode ?? 'OFFERED',
      options: [
        { value: 'OFFERED', label: 'Offered', hint: 'Its button is shown first. Passwords and other ways still work.' },
        { value: 'REQUIRED', label: 'Required', hint: 'Users of the domains sign in there only. Try it as “Offered” first.' },
      ],
    },
    {
      name: 'autoJoin',
      label: 'Add its users as members',
      kind: 'check',
      checked: now?.autoJoin ?? true,
      hint: 'At their first sign-in with an address of these domains. Members of other organizations are added by hand.',
    },
  ];
}

const departmentField = async (visit: ConsoleRequest, orgId: string, value: string | null | undefined, typed: Typed): Promise<Field> =>
  pickField(
    await departmentsIn(visit, orgId),
    { name: 'defaultDepId', label: 'Department of new members', value: value ?? undefined, none: NO_DEPARTMENT },
    typed,
  );

async function settingsIn(visit: ConsoleRequest, form: URLSearchParams) {
  const orgId = orgIdIn(visit);
  const defaultDepId = (await pickedId(await departmentsIn(visit, orgId), 'defaultDepId', form.get('defaultDepId') ?? '')) ?? null;
  return parse(organizationProviderBody, { ...typedValues(await fieldsOf(visit, orgId), form), defaultDepId });
}

/** All providers of the service. */
const providersIn = ({ services }: ConsoleRequest): Candidates => ({
  what: 'security/identity-providers',
  async find(words, most) {
    if (!isPrintable(words)) return [];
    const { items } = await listIdentityProviders(services, { q: words === '' ? undefined : words }, { limit: most });
    return items.map(({ id, name }) => ({ id, label: name }));
  },
  async byId(id) {
    try {
      const { name } = await getIdentityProvider(services, isPrintable(id) ? id : '');
      return { id, label: name };
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  },
});

const add: ConsolePage = {
  path: '/organizations/:orgId/sign-in/new',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_PROVIDERS');
    if (!mayConnect(visit)) throw forbidden();
    const provider = await pickField(
      providersIn(visit),
      { name: 'idpId', label: 'Provider', hint: 'Add it under Security → Identity providers first.' },
      typed,
    );
    const fields = [provider, ...(await fieldsOf(visit, organization.id)), await departmentField(visit, organization.id, undefined, typed)];
    const page = { title: 'Connect provider', crumbs: crumbsTo(organization), fields, submit: 'Connect provider' };
    return formPage({ ...page, cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit, form) {
    const orgId = orgIdIn(visit);
    const idpId = (await pickedId(providersIn(visit), 'idpId', form.get('idpId') ?? '')) ?? '';
    await putProviderOf(visit.services, orgId, idpId, await settingsIn(visit, form), visit.request);
    return { goTo: homeOf(orgId), notice: 'provider-connected' };
  },
};

const providerIn = (visit: ConsoleRequest): Promise<OrganizationProvider> =>
  getProviderOf(visit.services, orgIdIn(visit), visit.params.idpId ?? '', visit.request);

const edit: ConsolePage = {
  path: '/organizations/:orgId/sign-in/:idpId',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_PROVIDERS');
    const found = await providerIn(visit);
    const fields = [
      ...(await fieldsOf(visit, organization.id, found)),
      await departmentField(visit, organization.id, found.defaultDepId, typed),
    ];
    const page = { title: verbatim(found.name), crumbs: crumbsTo(organization), fields, submit: 'Save' };
    return formPage({ ...page, cancel: homeOf(organization.id) }, typed);
  },
  async receive(visit, form) {
    const { orgId, idpId } = await providerIn(visit);
    await putProviderOf(visit.services, orgId, idpId, await settingsIn(visit, form), visit.request);
    return { goTo: homeOf(orgId), notice: 'provider-connection-changed' };
  },
};

const remove: ConsolePage = {
  path: '/organizations/:orgId/sign-in/:idpId/remove',
  access: 'organizations',
  verb: 'write',
  async show(visit, typed) {
    const organization = await organizationToChange(visit, 'MANAGE_PROVIDERS');
    const { name, idpId } = await providerIn(visit);
    const { domains } = await affectedBy(visit.services, 'organizationProvider', { orgId: organization.id, id: idpId });
    const title = phrase('Remove “{provider}” from “{organization}”?', { provider: name, organization: organization.name });
    const facts = [
      phrase('It is removed from {domains}. Members stay members. Nobody new can sign in with it until it is connected again.', {
        domains: affectedCount(domains, 'domain'),
      }),
    ];
    return formPage(
      { title, crumbs: crumbsTo(organization), facts, submit: 'Remove provider', danger: true, cancel: homeOf(organization.id) },
      typed,
    );
  },
  async receive(visit) {
    const { orgId, idpId } = await providerIn(visit);
    await removeProviderOf(visit.services, orgId, idpId, visit.request);
    return { goTo: homeOf(orgId), notice: 'provider-disconnected' };
  },
};

export const organizationSignInPages: readonly ConsolePage[] = [list, add, edit, remove];
