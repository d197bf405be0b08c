/** Users: the list, one with every tab, full and empty. */

import { giveConsent, linkAccount } from '../../../features/users/user-holdings.ts';
import { onServer } from '../../../support/database.ts';
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
  await onServer(service.database.url, async (sql) => {
    for (const state of ['DRAFT', 'RUNNING', 'DONE']) {
      await sql.query(
        `INSERT INTO bulk_jobs (id, action, parameters, state, created_by, request, total, created, expires_at)
         SELECT $1, 'users.add-to-group', '{}', $2, id, jsonb_build_object('actor', jsonb_build_object('id', id, 'displayName', login)), 3, now(), now() + interval '1 day'
         FROM users WHERE login = 'admin'`,
        [`job_${state}`, state],
      );
      await sql.query(
        `INSERT INTO bulk_job_rows (job_id, line, name, item, outcome, reason) VALUES
         ($1, 1, $2, '{}', 'DONE', NULL), ($1, 2, 'refused', '{}', 'REFUSED', $2), ($1, 3, 'waiting', '{}', NULL, NULL)`,
        [`job_${state}`, LONG],
      );
    }
  });
  const waiting = await service.createUser({ lastName: LONG });
  await onServer(service.database.url, (sql) =>
    sql.query("UPDATE users SET status = 'STAGED', approval_requested = now() WHERE id = $1", [waiting.id]),
  );
  return [
    '/search',
    '/search?q=crowd',
    '/search?q=nobody-is-called-so',
    '/bulk',
    '/bulk/job_DRAFT/confirm',
    '/bulk/job_RUNNING',
    '/bulk/job_RUNNING/cancel',
    '/bulk/job_DONE',
    '/users/import',
    '/users',
    '/users?q=crowd',
    '/users?q=nobody-is-called-so',
    '/users?status=waiting',
    `/users/${waiting.id}/life-cycle/refuse`,
    '/users?status=any&expression=status',
    `/users/${rich.id}`,
    ...TABS.map((tab) => `/users/${rich.id}/${tab}`),
    ...['groups', 'sessions', 'factors'].map((tab) => `/users/${empty.id}/${tab}`),
  ];
};
