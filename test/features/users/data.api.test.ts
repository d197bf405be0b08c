/** `users/{id}/data`: all that the service holds about one user, nothing secret and nothing of others, and its events in pages. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NOBODY, SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { rememberConsent } from '../../../src/features/consents/consents.service.ts';
import { authenticatePassword, noteSignIn } from '../../../src/features/sign-in/sign-in.service.ts';
import { administrator, eventsAbout, organization, person } from '../../api/people.ts';
import { sealAll } from '../../support/audit.ts';
import { type Answer, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

type Json = Record<string, never[]> & { user: { id: string }; _links: { events: { href: string } } };

describe('users/{id}/data', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());
  const ask = async <T = { id: string }>(path: string, method = 'POST', body?: unknown): Promise<T> => {
    const answer = await api.call<T>(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };

  it('holds profile, memberships, groups, roles, applications, consents, API tokens, and no secret', async () => {
    const orgId = await organization(api);
    const { depId } = await ask<{ depId: string }>(`/account/org/${orgId}/department`, 'POST', { name: 'Analytical Engines' });
    const ada = await person(api, { profile: { firstName: '<b>Ада</b>' } });
    const other = await person(api, { profile: { firstName: 'Somebody else' } });
    await ask(`/account/org/${orgId}/member/${ada.id}`, 'PUT', { depId });
    await ask(`/account/org/${orgId}/member/${other.id}`, 'PUT', {});
    const [group, elsewhere] = [
      await ask('/groups', 'POST', { profile: { name: 'Poets' } }),
      await ask('/groups', 'POST', { profile: { name: 'Others' } }),
    ];
    await ask(`/groups/${group.id}/users/${ada.id}`, 'PUT');
    await ask(`/groups/${elsewhere.id}/users/${other.id}`, 'PUT');
    const app = await ask('/apps', 'POST', { label: 'Engine', settings: { oauthClient: { redirect_uris: ['https://app.example/'] } } });
    await ask(`/apps/${app.id}/users/${ada.id}`, 'PUT');
    await ask(`/apps/${app.id}/groups/${group.id}`, 'PUT');
    const role = await ask(`/users/${ada.id}/roles`, 'POST', { type: 'READ_ONLY_ADMIN' });
    const server = await ask('/authorizationServers', 'POST', { name: 'Server' });
    await rememberConsent(
      api.services,
      { userId: ada.id, applicationId: app.id, serverId: server.id },
      { requested: ['email'], allowed: ['email'] },
      SYSTEM,
    );

    const answer: Answer<Json> = await api.call('GET', `/users/${ada.profile.login}/data`);
    assert.equal(answer.status, 200);
    const undated = (rows: readonly object[] = []) =>
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== 'created')));
    const { user, memberships, groups, roles, applications, consents, identityProviders, apiTokens, sessions, _links } = answer.body;
    assert.deepEqual(user, (await api.call('GET', `/users/${ada.id}`)).body);
    assert.equal(undated(memberships)[0]?.depName, 'Analytical Engines');
    assert.deepEqual(
      undated(memberships).map((row) => [row.orgId, row.depId]),
      [[orgId, depId]],
    );
    assert.deepEqual(undated(groups), [{ id: group.id, name: 'Poets' }]);
    assert.deepEqual(undated(roles), [{ id: role.id, type: 'READ_ONLY_ADMIN', orgId: null }]);
    assert.deepEqual(
      undated(applications)
        .map((row) => [row.id, row.assignedBy])
        .sort(),
      [
        [app.id, 'GROUP'],
        [app.id, 'USER'],
      ],
    );
    assert.deepEqual(
      undated(consents).map((row) => [row.applicationId, row.authorizationServerId, row.scope]),
      [[app.id, server.id, 'email']],
    );
    assert.deepEqual([identityProviders, apiTokens, sessions], [[], [], []]);
    assert.match(_links.events.href, new RegExp(`/api/v1/users/${ada.id}/data/events$`));
    assert.doesNotMatch(JSON.stringify(answer.body), /hash|argon|Somebody else|Others/i);
    const event = (await eventsAbout(api, ada.id)).at(-1);
    assert.deepEqual([event.event_type, event.actor.id], ['user.account.export_data', api.admin.userId]);
  });

  it('names API tokens, and never their values', async () => {
    const { id, token } = await administrator(api, { type: 'SUPER_ADMIN' });
    const { body } = await api.call<Json>('GET', `/users/${id}/data`);
    assert.equal(body.apiTokens?.length, 1);
    assert.ok(!JSON.stringify(body).includes(token));
  });

  it('lists the events by him and about him in pages, nobody else’s', async () => {
    const ada = await person(api);
    const other = await person(api);
    const request = { actor: NOBODY, ipAddress: '203.0.113.9', userAgent: 'x', requestId: 'x' };
    const signIn = async ({ id, profile: { login = '' } }: typeof ada) =>
      api.services.database.transaction((trx) => noteSignIn(api.services, trx, { id, login }, { amr: ['pwd'] }, request));
    for (let n = 0; n < 3; n += 1) await signIn(ada);
    await authenticatePassword(api.services, { username: ada.profile.login ?? '', password: 'wrong' }, request);
    await signIn(other);
    await sealAll(api.services);
    const types: string[] = [];
    let path: string | undefined = `/users/${ada.id}/data/events?limit=2`;
    for (let pages = 0; path !== undefined; pages += 1) {
      const page: Answer<{ eventType: string }[]> = await api.call('GET', path);
      assert.ok(pages < 10 && page.body.length <= 2);
      types.push(...page.body.map(({ eventType }) => eventType));
      path = /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1];
    }
    assert.deepEqual(types, ['user.lifecycle.create', ...Array(3).fill('user.session.start'), 'user.authentication.failure']);
  });
});
