/** Users: the list, one with every tab, full and empty. */

import { giveConsent, linkAccount } from '../../../features/users/user-holdings.ts';
import { createOrganization } from '../administrators.ts';
import { LONG, type Tour } from '../tour.ts';

const TABS = [
  'organizations',
  'groups',
  'applications',
  'sessions',
  'consents',
  'factors',
  'linked-accounts',
  'roles',
  'access',
  'security',
  'activity',
  'data',
];

export const users: Tour = async (service) => {
  const { api } = service;
  const orgId = await createOrganization(service, `${LONG} of users`);
  const depId: string = (await api('POST', `/account/org/${orgId}/department`, { name: LONG })).body.depId;
  const rich = await service.createUser({ firstName: LONG, lastName: 'Short', email: 'rich@example.com', city: 'Rome', title: LONG });
  const empty = await service.createUser();
  for (let n = 0; n < 21; n += 1) await service.createUser({ lastName: `Crowd ${n}` });
  await api('PUT', `/account/org/${orgId}/member/${rich.id}`, { depId });
  for (let n = 0; n < 21; n += 1) {
    const { body } = await api('POST', '/groups', { profile: { name: n === 0 ? `${LONG} in full` : `Circle ${n}`, description: LONG } });
    await api('PUT', `/groups/${body.id}/users/${rich.id}`);
  }
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'], client_uri: 'https://app.example' });
  await api('PUT', `/apps/${clientId}/users/${rich.id}`, {});
  await giveConsent(service, rich);
  await linkAccount(service, rich.id, LONG);
  await api('POST', `/users/${rich.id}/roles`, { type: 'ORG_ADMIN', orgId });
  return [
    '/users',
    '/users?q=crowd',
    '/users?q=nobody-is-called-so',
    '/users?status=any&expression=status',
    `/users/${rich.id}`,
    ...TABS.map((tab) => `/users/${rich.id}/${tab}`),
    ...['groups', 'sessions', 'factors'].map((tab) => `/users/${empty.id}/${tab}`),
  ];
};
