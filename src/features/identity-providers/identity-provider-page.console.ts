/** The page of an identity provider: its paths, kind and lifecycle actions. */

import { affectedCount, confirmationPages } from '../../pages/console/confirmation-page.ts';
import type { Action, ConsolePage, ConsoleRequest, Crumb, Status } from '../../pages/console/page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { affectedBy } from '../affected/affected.service.ts';
import type { IdentityProviderType } from './identity-provider.policy.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { deleteIdentityProvider, getIdentityProvider, setIdentityProviderStatus } from './identity-providers.service.ts';

export const IDENTITY_PROVIDERS_PATH = '/admin/security/identity-providers';
export const IDENTITY_PROVIDER_CRUMBS: readonly Crumb[] = [
  { label: 'Security' },
  { label: 'Identity providers', href: IDENTITY_PROVIDERS_PATH },
];

export const identityProviderPath = (id: string): string => `${IDENTITY_PROVIDERS_PATH}/${encodeURIComponent(id)}`;

export const providerIn = ({ services, params }: ConsoleRequest): Promise<IdentityProvider> =>
  getIdentityProvider(services, params.id ?? '');

export const identityProviderCrumbs = ({ id, name }: Pick<IdentityProvider, 'id' | 'name'>): readonly Crumb[] => [
  ...IDENTITY_PROVIDER_CRUMBS,
  { label: verbatim(name), href: identityProviderPath(id) },
];

export const identityProviderTabs = (id: string): readonly Action[] => [
  { label: 'Provider', href: identityProviderPath(id) },
  { label: 'Linked users', href: `${identityProviderPath(id)}/users` },
];

export const identityProviderStatus = ({ status }: Pick<IdentityProvider, 'status'>): Status =>
  status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Inactive', tone: 'plain' };

interface Kind {
  readonly name: string;
  readonly forWhom: string;
  /** Steps at the provider before this form. */
  readonly steps: readonly string[];
}

export const IDENTITY_PROVIDER_KINDS: Readonly<Record<IdentityProviderType, Kind>> = {
  OIDC: {
    name: 'OpenID Connect',
    forWhom: 'Any OpenID provider: Okta, Keycloak, Auth0, Microsoft Entra ID, another Gatehouse, …',
    steps: ['At the provider, register a web application (a confidential client) with this redirect URI, then enter its values below.'],
  },
  GOOGLE: {
    name: 'Google',
    forWhom: 'Users with a Google account, or those of one Google Workspace',
    steps: [
      'In the Google Cloud console, under “APIs & Services” → “Credentials”, create an OAuth client ID of the type “Web application”.',
      'Enter the redirect URI under “Authorized redirect URIs”. Then fill in the client ID and the client secret.',
    ],
  },
  GITHUB: {
    name: 'GitHub',
    forWhom: 'Users with a GitHub account',
    steps: [
      'At GitHub, under “Settings” → “Developer settings” → “OAuth Apps”, create a new OAuth app.',
      'Enter the redirect URI as its “Authorization callback URL”. Then fill in the client ID and a client secret that you generate there.',
    ],
  },
  MICROSOFT: {
    name: 'Microsoft',
    forWhom: 'Users with a work, school or personal Microsoft account, or those of one tenant',
    steps: [
      'In the Microsoft Entra admin center, under “App registrations”, make a new registration with the redirect URI, platform “Web”.',
      'Create a secret under “Certificates & secrets”. Then fill in the application (client) ID and the value of the secret.',
    ],
  },
};

/** The provider type in the URL; undefined: an unknown type. */
export const typeIn = ({ params }: ConsoleRequest): IdentityProviderType | undefined =>
  (Object.keys(IDENTITY_PROVIDER_KINDS) as IdentityProviderType[]).find((type) => type.toLowerCase() === params.type);

const step = confirmationPages(async (visit) => {
  const provider = await providerIn(visit);
  return { name: provider.name, address: identityProviderPath(provider.id), crumbs: identityProviderCrumbs(provider) };
});

export const identityProviderSteps: readonly ConsolePage[] = [
  step({
    path: '/security/identity-providers/:id/activate',
    label: 'Activate',
    facts: ['Its button is back on the sign-in pages at once.'],
    notice: 'idp-activated',
    reverse: 'deactivate',
    execute: ({ services, request }, id) => setIdentityProviderStatus(services, id, 'ACTIVE', request),
  }),
  step({
    path: '/security/identity-providers/:id/deactivate',
    label: 'Deactivate',
    facts: [
      'Nobody can sign in with it until it is activated again. Linked users stay linked, and their sessions continue.',
      'Users without a password have no other way to sign in.',
    ],
    notice: 'idp-deactivated',
    reverse: 'activate',
    execute: ({ services, request }, id) => setIdentityProviderStatus(services, id, 'INACTIVE', request),
  }),
  step({
    path: '/security/identity-providers/:id/delete',
    label: 'Delete',
    async facts({ services, params }) {
      const { users, stranded } = await affectedBy(services, 'identityProvider', { id: params.id ?? '' });
      const facts = [
        phrase('Its settings, its client secret and the links of {users} to it are deleted; their accounts stay.', {
          users: affectedCount(users, 'user'),
        }),
        phrase('This includes {users} without a password, who may have no other way to sign in.', {
          users: affectedCount(stranded, 'user'),
        }),
        'This cannot be undone.',
      ];
      return { facts, affected: users };
    },
    danger: true,
    notice: 'idp-deleted',
    goTo: IDENTITY_PROVIDERS_PATH,
    execute: ({ services, request }, id) => deleteIdentityProvider(services, id, request),
  }),
];
