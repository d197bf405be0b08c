/** Security → Identity providers: the list, choosing a kind, creating, one provider, changing. */

import { groupsIn, organizationsIn } from '../../pages/console/candidates.ts';
import { type Content, detailPage, listPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { providerFields } from './fields.console.ts';
import {
  completeIdentityProvider,
  IDENTITY_PROVIDER_TYPES,
  type IdentityProviderType,
  providerUsesSecret,
} from './identity-provider.policy.ts';
import {
  IDENTITY_PROVIDER_CRUMBS,
  IDENTITY_PROVIDER_KINDS,
  IDENTITY_PROVIDERS_PATH,
  identityProviderCrumbs,
  identityProviderPath,
  identityProviderStatus,
  identityProviderSteps,
  identityProviderTabs,
  providerIn,
  typeIn,
} from './identity-provider-page.console.ts';
import { identityProviderId } from './identity-provider-settings.service.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { createIdentityProvider, updateIdentityProvider } from './identity-providers.service.ts';
import { providerInput } from './input.console.ts';
import { identityProviderList } from './list.console.ts';
import { upstreamRedirectUri } from './upstream-exchange.service.ts';

const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

const choose: ConsolePage = {
  path: '/security/identity-providers/new',
  access: 'service',
  verb: 'write',
  show: async () =>
    listPage({
      title: 'Add identity provider',
      lead: 'Choose its kind. Known values are filled in.',
      crumbs: IDENTITY_PROVIDER_CRUMBS,
      list: {
        name: 'kinds of identity providers',
        columns: ['Kind', 'Users'],
        rows: IDENTITY_PROVIDER_TYPES.map((type) => ({
          cells: [
            { text: phrase(IDENTITY_PROVIDER_KINDS[type].name), href: `${IDENTITY_PROVIDERS_PATH}/new/${type.toLowerCase()}` },
            phrase(IDENTITY_PROVIDER_KINDS[type].forWhom),
          ],
        })),
        empty: '',
      },
    }),
};

/** @throws {ApiError} not found */
function requireType(visit: ConsoleRequest): IdentityProviderType {
  const type = typeIn(visit);
  if (type === undefined) throw notFound(visit.params.type ?? '', 'IdentityProviderType');
  return type;
}

/** Initial values for a new provider of this kind. */
const presetOf = (type: IdentityProviderType) => ({
  ...completeIdentityProvider({ type, protocol: { credentials: { client: { client_id: '' } } } }),
  name: type === 'OIDC' ? '' : IDENTITY_PROVIDER_KINDS[type].name,
});

const create: ConsolePage = {
  path: '/security/identity-providers/new/:type',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const type = requireType(visit);
    const id = idTyped(typed.values) ?? newId('idp');
    return formPage(
      {
        title: phrase('Add {kind}', { kind: phrase(IDENTITY_PROVIDER_KINDS[type].name) }),
        crumbs: [...IDENTITY_PROVIDER_CRUMBS, { label: 'Add identity provider', href: `${IDENTITY_PROVIDERS_PATH}/new` }],
        facts: IDENTITY_PROVIDER_KINDS[type].steps,
        copies: [{ label: 'Redirect URI', text: upstreamRedirectUri(visit.services.config.baseUrl, id) }],
        fields: await providerFields(visit, presetOf(type), true, typed),
        hidden: { id, ...formKey() },
        submit: 'Add identity provider',
        cancel: IDENTITY_PROVIDERS_PATH,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const type = requireType(visit);
    const fields = await providerFields(visit, presetOf(type), true, { values: form, problems: [] });
    const input = await providerInput(visit, type, fields, form);
    const provider = { ...input, id: idTyped(form) };
    const id = await submitOnce(
      visit,
      form,
      [IDENTITY_PROVIDERS_PATH, provider],
      async (services) => (await createIdentityProvider(services, provider, visit.request)).id,
    );
    return { goTo: identityProviderPath(id), notice: 'idp-created' };
  },
};

/** The ID from the form's redirect URI. */
const idTyped = (form: URLSearchParams): string | undefined => identityProviderId.safeParse(form.get('id')).data;

async function provisioningText(visit: ConsoleRequest, { policy: { provisioning } }: IdentityProvider): Promise<Content> {
  if (provisioning.action === 'DISABLED') return phrase('Are refused');
  const organization = provisioning.orgId === undefined ? undefined : await organizationsIn(visit).byId(provisioning.orgId);
  const groups = await Promise.all(provisioning.groups.assignments.map((id) => groupsIn(visit).byId(id)));
  const into = [organization, ...groups].flatMap((one) => (one === undefined ? [] : [one.label]));
  return into.length === 0
    ? phrase('Get an account at the first sign-in')
    : phrase('Get an account at the first sign-in, in {places}', { places: series(into) });
}

const one: ConsolePage = {
  path: '/security/identity-providers/:id',
  access: 'service',
  async show(visit) {
    const provider = await providerIn(visit);
    const { id, name, type, status, protocol, policy } = provider;
    const { baseUrl } = visit.services.config;
    const at = identityProviderPath(id);
    const step = status === 'ACTIVE' ? { label: 'Deactivate', href: `${at}/deactivate` } : { label: 'Activate', href: `${at}/activate` };
    const { emailDomains } = policy.subject;
    return detailPage({
      title: verbatim(name),
      status: identityProviderStatus(provider),
      crumbs: IDENTITY_PROVIDER_CRUMBS,
      tabs: identityProviderTabs(id),
      actions: mayWrite(visit) ? [{ label: 'Edit', href: `${at}/edit` }, step, { label: 'Delete', href: `${at}/delete` }] : [],
      parts: [
        {
          kind: 'facts',
          facts: [
            { label: 'Kind', value: phrase(IDENTITY_PROVIDER_KINDS[type].name) },
            { label: 'Redirect URI', value: upstreamRedirectUri(baseUrl, id), copy: true },
            ...(protocol.issuer === undefined ? [] : [{ label: 'Issuer', value: { text: protocol.issuer.url, code: true } }]),
            { label: 'Client ID', value: { text: protocol.credentials.client.client_id, code: true } },
            { label: 'Client secret', value: providerUsesSecret(protocol) ? phrase('Kept, and never shown') : '' },
            { label: 'Scopes', value: { text: protocol.scopes.join(' '), code: true } },
            {
              label: 'Addresses',
              value:
                protocol.endpoints === undefined ? phrase('Read from the discovery document') : { text: endpointsOf(provider), code: true },
            },
            { label: 'New users', value: await provisioningText(visit, provider) },
            {
              label: 'Accounts are linked',
              value:
                policy.accountLink.action === 'AUTO'
                  ? phrase('By an e-mail address that the provider has verified, or by hand')
                  : phrase('Manual'),
            },
            { label: 'E-mail domains', value: emailDomains === undefined ? phrase('All') : emailDomains.join(', ') },
            { label: 'ID', value: id, copy: true },
            { label: 'Added', value: { moment: momentOf(provider.created) } },
            { label: 'Last change', value: { moment: momentOf(provider.lastUpdated) } },
          ],
        },
        ...(status === 'ACTIVE'
          ? [
              {
                kind: 'facts' as const,
                title: 'Try it',
                lead: 'Open this address in a private window. In this window, you would sign in as another user and leave the console.',
                facts: [{ label: 'Address', value: `${baseUrl}/signin/upstream/${id}`, copy: true }],
              },
            ]
          : []),
      ],
    });
  },
};

const endpointsOf = ({ protocol: { endpoints = {} } }: IdentityProvider): string =>
  Object.values(endpoints)
    .flatMap((address) => (address === undefined ? [] : [address.url]))
    .join(' ');

const edit: ConsolePage = {
  path: '/security/identity-providers/:id/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const provider = await providerIn(visit);
    return formPage(
      {
        title: phrase('Edit {provider}', { provider: provider.name }),
        crumbs: identityProviderCrumbs(provider),
        copies: [{ label: 'Redirect URI', text: upstreamRedirectUri(visit.services.config.baseUrl, provider.id) }],
        fields: await providerFields(visit, provider, false, typed),
        submit: 'Save',
        cancel: identityProviderPath(provider.id),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const provider = await providerIn(visit);
    const fields = await providerFields(visit, provider, false, { values: form, problems: [] });
    await updateIdentityProvider(visit.services, provider.id, await providerInput(visit, provider.type, fields, form), visit.request);
    return { goTo: identityProviderPath(provider.id), notice: 'idp-changed' };
  },
};

export const identityProviderPages: readonly ConsolePage[] = [identityProviderList, choose, create, one, edit, ...identityProviderSteps];
