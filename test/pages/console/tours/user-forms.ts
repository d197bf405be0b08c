/** What is done with a user: every form of his pages. */

import { giveConsent, linkAccount } from '../../../features/users/user-holdings.ts';
import { enrolledUser, trustedBrowserOf } from '../../../support/factors.ts';
import { createOrganization } from '../administrators.ts';
import { LONG, type Tour } from '../tour.ts';

export const userForms: Tour = async (service) => {
  const { api } = service;
  const orgId = await createOrganization(service, `${LONG} of forms`);
  const someone = await service.createUser({ firstName: LONG });
  const gone = await service.createUser();
  await api('POST', `/users/${gone.id}/lifecycle/deactivate`);
  await api('PUT', `/account/org/${orgId}/member/${someone.id}`, {});
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'] });
  await api('PUT', `/apps/${clientId}/users/${someone.id}`, {});
  const { grantId } = await giveConsent(service, someone);
  const idpId = await linkAccount(service, someone.id, `${LONG} of forms`);
  const role = await api('POST', `/users/${someone.id}/roles`, { type: 'ORG_ADMIN', orgId });
  const secured = await enrolledUser(service);
  await api('PUT', '/settings/sign-in', { ...(await api('GET', '/settings/sign-in')).body, rememberBrowserDays: 30 });
  await trustedBrowserOf(service, secured);
  const [factor] = (await api('GET', `/users/${secured.id}/factors`)).body as { id: string }[];

  const mailed = await service.createUser({ email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example` });
  const group = (await api('POST', '/groups', { profile: { name: `${LONG} of forms`, description: 'Kept' } })).body;
  await api('PUT', `/groups/${group.id}/users/${mailed.id}`);

  const user = `/users/${someone.id}`;
  return [
    '/users/new',
    `/users/new?org=${orgId}`,
    `${user}/edit`,
    `${user}/organizations/new`,
    `${user}/organizations/${orgId}`,
    `${user}/organizations/${orgId}/remove`,
    `${user}/groups/new`,
    `/users/${mailed.id}/groups/${group.id}/remove`,
    `/users/${mailed.id}/verify-email`,
    `/users/${mailed.id}/life-cycle/reset_password`,
    '/users/invite',
    `${user}/applications/new`,
    `${user}/applications/${clientId}/remove`,
    `${user}/sessions/end`,
    `${user}/sessions/some-session/end`,
    `${user}/consents/revoke`,
    `${user}/consents/${grantId}/revoke`,
    `/users/${secured.id}/factors`,
    `/users/${secured.id}/factors/reset`,
    `/users/${secured.id}/factors/${factor?.id}/reset`,
    `/users/${secured.id}/trusted-browsers`,
    `/users/${secured.id}/trusted-browsers/end`,
    `/users/${secured.id}/trusted-browsers/some-browser/end`,
    `${user}/linked-accounts/${idpId}/remove`,
    `${user}/roles/new`,
    `${user}/roles/${role.body.id}/take`,
    `${user}/life-cycle/suspend`,
    `${user}/life-cycle/reset_password`,
    `${user}/life-cycle/set-password`,
    `/users/${gone.id}/life-cycle/delete`,
  ];
};
