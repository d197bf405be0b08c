/** `users/{id}/factors` and `authn` with codes by e-mail, as Okta's APIs have them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';

test('codes by e-mail are set up, proved and used by API', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const { api } = service;
  await api('PUT', '/settings/sign-in', { messageFactors: ['email'] });
  const email = 'ada@example.com';
  const user = await service.createUser({ email });
  const home = `/users/${user.id}/factors`;
  const code = async (number: number) => /Your code is (\d{8})/.exec((await server.mail(email, number, 'Your code is')).text)?.[1] ?? '';

  await t.test('enrolled, activated and verified', async () => {
    const other = await api('POST', home, { factorType: 'email', provider: 'OKTA', profile: { email: 'eve@example.com' } });
    assert.deepEqual(
      [other.status, other.body.errorCauses[0].errorSummary],
      [400, 'profile.email: must be the e-mail address of the user'],
    );
    const made = await api('POST', home, { factorType: 'email', provider: 'OKTA', profile: { email } });
    assert.deepEqual([made.status, made.body.status, made.body.profile.email], [200, 'PENDING_ACTIVATION', 'a•••@example.com']);
    const { id } = made.body;
    assert.equal((await api('POST', `${home}/${id}/verify`, {})).status, 403, 'it is not active yet');
    const first = await code(1);
    const refused = await api('POST', `${home}/${id}/lifecycle/activate`, { passCode: '1' });
    assert.deepEqual([refused.status, refused.body.errorCode], [403, 'E0000068']);
    const active = await api('POST', `${home}/${id}/lifecycle/activate`, { passCode: first });
    assert.deepEqual([active.status, active.body.status], [200, 'ACTIVE']);
    assert.equal((await api('POST', `${home}/${id}/lifecycle/activate`, { passCode: first })).status, 403);
    assert.equal((await api('POST', home, { factorType: 'email', provider: 'OKTA' })).status, 409);

    assert.deepEqual((await api('POST', `${home}/${id}/verify`, {})).body, { factorResult: 'CHALLENGE' });
    const second = await code(2);
    assert.equal((await api('POST', `${home}/${id}/verify`, { passCode: first })).status, 403);
    assert.deepEqual((await api('POST', `${home}/${id}/verify`, { passCode: second })).body, { factorResult: 'SUCCESS' });
    assert.equal((await api('POST', `${home}/${id}/verify`, { passCode: second })).status, 403, 'once');
  });

  await t.test('asked for and sent by authn', async () => {
    const begun = await api('POST', '/authn', { username: user.login, password: user.password });
    assert.equal(begun.body.status, 'MFA_REQUIRED');
    const { stateToken, _embedded } = begun.body;
    const [factor] = _embedded.factors;
    assert.deepEqual([factor.factorType, factor.profile.email], ['email', 'a•••@example.com']);
    const address = new URL(factor._links.verify.href).pathname.replace('/api/v1', '');
    const challenged = await api('POST', address, { stateToken });
    assert.deepEqual(
      [challenged.body.status, challenged.body.factorResult, challenged.body._embedded.factor.id],
      ['MFA_CHALLENGE', 'CHALLENGE', factor.id],
    );
    const passCode = await code(3);
    assert.equal((await api('POST', `${home}/${factor.id}/verify`, { passCode })).status, 403, 'a code of a sign-in is right there alone');
    const done = await api('POST', address, { stateToken, passCode });
    assert.equal(done.body.status, 'SUCCESS', JSON.stringify(done.body));
  });

  await t.test('one that waits for its first code is no factor; an administrator can vouch for it', async () => {
    const other = await service.createUser({ email: 'bob@example.com' });
    const pending = await api('POST', `/users/${other.id}/factors`, { factorType: 'email', provider: 'OKTA' });
    assert.equal(pending.body.status, 'PENDING_ACTIVATION');
    assert.equal((await api('POST', '/authn', { username: other.login, password: other.password })).body.status, 'SUCCESS');
    const vouched = await api('POST', `/users/${other.id}/factors?activate=true`, { factorType: 'email', provider: 'OKTA' });
    assert.deepEqual([vouched.status, vouched.body.status], [200, 'ACTIVE']);
    assert.equal((await api('POST', '/authn', { username: other.login, password: other.password })).body.status, 'MFA_REQUIRED');
    const rows = await onServer(service.database.url, async (sql) => (await sql.query('SELECT * FROM message_factors')).rows);
    assert.equal(rows.length, 2);
    const stranger = await service.createUser();
    assert.equal((await api('POST', `/users/${stranger.id}/factors`, { factorType: 'email', provider: 'OKTA' })).status, 400, 'no address');
  });
});
