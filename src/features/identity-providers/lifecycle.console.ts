/** Security → Identity providers: activating, deactivating and deleting one. */

import { confirmationPages } from '../../pages/console/confirmation-page.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { IDENTITY_PROVIDERS_PATH, identityProviderCrumbs, identityProviderPath, providerIn } from './identity-provider-page.console.ts';
import { deleteIdentityProvider, setIdentityProviderStatus } from './identity-providers.service.ts';

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
    carryOut: ({ services, request }, id) => setIdentityProviderStatus(services, id, 'ACTIVE', request),
  }),
  step({
    path: '/security/identity-providers/:id/deactivate',
    label: 'Deactivate',
    facts: [
      'Nobody signs in with it until it is activated again. Who is linked to it stays linked, and who is signed in stays signed in.',
      'People without a password have no other way to sign in.',
    ],
    notice: 'idp-deactivated',
    carryOut: ({ services, request }, id) => setIdentityProviderStatus(services, id, 'INACTIVE', request),
  }),
  step({
    path: '/security/identity-providers/:id/delete',
    label: 'Delete',
    facts: [
      'Its settings, its client secret and the links of people to it are deleted; their accounts stay.',
      'People without a password have no other way to sign in then.',
      'This cannot be undone.',
    ],
    danger: true,
    notice: 'idp-deleted',
    goTo: IDENTITY_PROVIDERS_PATH,
    carryOut: ({ services, request }, id) => deleteIdentityProvider(services, id, request),
  }),
];
