/** Security → Identity providers: activating, deactivating and deleting one. */

import type { ConsolePage } from '../../pages/console/page.ts';
import { stepPages } from '../../pages/console/step.ts';
import { deleteIdentityProvider, setIdentityProviderStatus } from './identity-providers.service.ts';
import { addressOf, below, HOME, providerIn } from './place.console.ts';

const step = stepPages(async (visit) => {
  const provider = await providerIn(visit);
  return { name: provider.name, address: addressOf(provider.id), crumbs: below(provider) };
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
    goTo: HOME,
    carryOut: ({ services, request }, id) => deleteIdentityProvider(services, id, request),
  }),
];
