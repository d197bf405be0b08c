/** The requests that Okta documents for its SCIM 2.0 client ("Okta and SCIM Version 2.0"): by PUT, by PATCH without a path, with a page of a hundred. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GROUP, PATCH, scimClient, USER } from '../../support/scim.ts';
import { startService } from '../../support/service.ts';

test('Okta: a user is looked for, created with a password, replaced as read, deactivated and activated', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const test = await scim.call('GET', '/Users?startIndex=1&count=2');
  assert.deepEqual([test.status, test.body.startIndex, test.body.itemsPerPage], [200, 1, test.body.Resources.length]);
  const filter = encodeURIComponent('userName eq "test.user@okta.local"');
  assert.equal((await scim.call('GET', `/Users?filter=${filter}&startIndex=1&count=100`)).body.totalResults, 0);

  const created = await scim.call('POST', '/Users', {
    schemas: [USER],
    userName: 'test.user@okta.local',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  assert.ok(!('password' in created.body));
  const { id } = created.body;
  const signedIn = await service.api('POST', '/authn', { username: 'test.user@okta.local', password: '1mz050nq' });
  assert.equal(signedIn.body.status, 'SUCCESS');

  const { body: read } = await scim.call('GET', `/Users/${id}`);
  const replaced = await scim.call('PUT', `/Users/${id}`, {
    ...read,
    name: { givenName: 'Another', middleName: '', familyName: 'User' },
    groups: [],
  });
  assert.equal(replaced.status, 200, JSON.stringify(replaced.body));
  assert.deepEqual(replaced.body.name, { givenName: 'Another', familyName: 'User' });
  assert.equal(replaced.body.locale, 'en-US');
  assert.equal(replaced.body.externalId, '00ujl29u0le5T6Aj10h7');

  for (const active of [false, true]) {
    const changed = await scim.call('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations: [{ op: 'replace', value: { active } }] });
    assert.deepEqual([changed.status, changed.body.active], [200, active], JSON.stringify(changed.body));
    const whole = await scim.call('PUT', `/Users/${id}`, { ...replaced.body, active: !active });
    assert.equal(whole.body.active, !active);
    await scim.call('PUT', `/Users/${id}`, { ...replaced.body, active });
  }
  const password = await scim.call('PATCH', `/Users/${id}`, {
    schemas: [PATCH],
    Operations: [{ op: 'replace', value: { password: 'another-password-7' } }],
  });
  assert.equal(password.status, 200);
  assert.equal(
    (await service.api('POST', '/authn', { username: 'test.user@okta.local', password: 'another-password-7' })).body.status,
    'SUCCESS',
  );
});

test('Okta: groups are created, renamed without a path, filled and emptied by filter, replaced and deleted', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const user = await scim.create('Users', { userName: 'test.user@okta.local' });
  const other = await scim.create('Users', { userName: 'other.user@okta.local' });
  const created = await scim.call('POST', '/Groups', { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id } = created.body;
  assert.equal((await scim.call('GET', '/Groups?startIndex=1&count=100')).body.Resources.at(-1).id, id);
  const members = async () => (await scim.call('GET', `/Groups/${id}`)).body.members?.map(({ value }: { value: string }) => value) ?? [];

  assert.equal((await scim.patch(`/Groups/${id}`, [{ op: 'replace', value: { id, displayName: 'Test SCIMv3' } }])).status, 204);
  assert.equal((await scim.call('GET', `/Groups/${id}`)).body.displayName, 'Test SCIMv3');
  await scim.patch(`/Groups/${id}`, [{ op: 'add', path: 'members', value: [{ value: user.id, display: 'test.user@okta.local' }] }]);
  assert.deepEqual(await members(), [user.id]);
  await scim.patch(`/Groups/${id}`, [
    { op: 'remove', path: `members[value eq "${user.id}"]` },
    { op: 'add', path: 'members', value: [{ value: other.id }] },
  ]);
  assert.deepEqual(await members(), [other.id]);
  await scim.patch(`/Groups/${id}`, [{ op: 'replace', path: 'members', value: [{ value: user.id }, { value: other.id }] }]);
  assert.deepEqual((await members()).sort(), [other.id, user.id].sort());
  const put = await scim.call('PUT', `/Groups/${id}`, { schemas: [GROUP], id, displayName: 'Test SCIMv2', members: [{ value: user.id }] });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  assert.deepEqual(await members(), [user.id]);
  assert.equal((await scim.call('DELETE', `/Groups/${id}`)).status, 204);
});
