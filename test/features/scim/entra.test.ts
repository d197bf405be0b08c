/** The requests that Microsoft documents for the provisioning service of Entra ID ("Develop and plan provisioning for a SCIM endpoint", of March 2025), in its order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTERPRISE, GROUP, scimClient, USER } from '../../support/scim.ts';
import { startService } from '../../support/service.ts';

test('Entra: users are looked for, created, changed, disabled, restored and deleted', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const userName = 'Test_User_00aa00aa-bb11-cc22-dd33-44ee44ee44ee';
  const query = `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`;
  const nobody = await scim.call('GET', query);
  assert.equal(nobody.status, 200);
  assert.match(nobody.headers.get('content-type') ?? '', /^application\/scim\+json/);
  assert.deepEqual([nobody.body.totalResults, nobody.body.Resources], [0, []]);

  const created = await scim.call('POST', '/Users', {
    schemas: [USER, ENTERPRISE],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName,
    active: true,
    emails: [{ primary: true, type: 'work', value: 'Test_User_11bb11bb@testuser.com' }],
    meta: { resourceType: 'User' },
    name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
    roles: [],
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id, meta, ...rest } = created.body;
  assert.deepEqual(rest, {
    schemas: [USER],
    externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
    userName,
    active: true,
    emails: [{ value: 'Test_User_11bb11bb@testuser.com', type: 'work', primary: true }],
    name: { familyName: 'familyName', givenName: 'givenName' },
  });
  assert.deepEqual([created.headers.get('location'), created.headers.get('etag')], [meta.location, meta.version]);
  assert.equal(meta.location, `${service.baseUrl}/scim/v2/Users/${id}`);

  assert.equal((await scim.call('GET', `/Users/${id}`)).status, 200);
  assert.equal((await scim.call('GET', '/Users/5171a35d82074e068ce2')).status, 404);
  assert.equal((await scim.call('GET', query)).body.Resources[0].id, id);
  const byMail = await scim.find('emails[type eq "work"].value eq "test_user_11bb11bb@testuser.com"');
  assert.deepEqual(byMail, [userName]);
  assert.deepEqual(await scim.find('externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"'), [userName]);

  const several = await scim.patch(`/Users/${id}`, [
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updatedEmail@microsoft.com' },
    { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
  ]);
  assert.equal(several.status, 200, JSON.stringify(several.body));
  assert.deepEqual(several.body.emails, [{ value: 'updatedEmail@microsoft.com', type: 'work', primary: true }]);
  assert.deepEqual(several.body.name, { familyName: 'updatedFamilyName', givenName: 'givenName' });
  const asked = await scim.call('GET', `/Users/${id}?attributes=name.formatted`);
  assert.deepEqual(asked.body, { schemas: [USER], id, name: { formatted: 'givenName updatedFamilyName' } });

  const renamed = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: 'userName', value: '5b50642d@testuser.com' }]);
  assert.equal(renamed.body.userName, '5b50642d@testuser.com');

  // The default mappings, as they are sent for values that the user has not had yet.
  const mapped = await scim.patch(`/Users/${id}`, [
    { op: 'Add', path: 'displayName', value: 'Given Family' },
    { op: 'Add', path: 'name.formatted', value: 'Given Family' },
    { op: 'Add', path: 'title', value: 'Engineer' },
    { op: 'Add', path: 'preferredLanguage', value: 'en-US' },
    { op: 'Add', path: 'addresses[type eq "work"].streetAddress', value: '1 Main Street' },
    { op: 'Add', path: 'addresses[type eq "work"].locality', value: 'London' },
    { op: 'Add', path: 'addresses[type eq "other"].Formatted', value: 'Room 7' },
    { op: 'Add', path: 'phoneNumbers[type eq "work"].value', value: '55555555555' },
    { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '66666666666' },
    { op: 'Add', path: 'phoneNumbers[type eq "fax"].value', value: '77777777777' },
    { op: 'Add', path: 'emails[type eq "other"].Value', value: 'other@testuser.com' },
    { op: 'Add', path: `${ENTERPRISE}:employeeNumber`, value: '701984' },
    { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Research' },
    { op: 'Add', path: `${ENTERPRISE}:manager`, value: [{ $ref: `${service.baseUrl}/scim/v2/Users/x`, value: 'usr_manager' }] },
  ]);
  assert.equal(mapped.status, 200, JSON.stringify(mapped.body));
  assert.deepEqual(mapped.body.phoneNumbers, [
    { value: '55555555555', type: 'work' },
    { value: '66666666666', type: 'mobile' },
  ]);
  assert.deepEqual(mapped.body.addresses, [{ streetAddress: '1 Main Street', locality: 'London', type: 'work' }]);
  assert.deepEqual(
    mapped.body.emails.map(({ value }: { value: string }) => value),
    ['updatedEmail@microsoft.com', 'other@testuser.com'],
  );
  assert.deepEqual(mapped.body[ENTERPRISE], { employeeNumber: '701984', department: 'Research', manager: { value: 'usr_manager' } });
  assert.deepEqual(mapped.body.schemas, [USER, ENTERPRISE]);
  const manager = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: `${ENTERPRISE}:manager`, value: 'usr_another' }]);
  assert.deepEqual(manager.body[ENTERPRISE].manager, { value: 'usr_another' });

  for (const value of [false, 'False']) {
    const disabled = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value }]);
    assert.equal(disabled.body.active, false, JSON.stringify(disabled.body));
    assert.equal((await scim.call('GET', `/Users/${id}`)).body.active, false);
    assert.equal((await service.api('GET', `/users/${id}`)).body.status, 'DEPROVISIONED');
    const restored = await scim.patch(`/Users/${id}`, [{ op: 'Replace', path: 'active', value: 'True' }]);
    assert.equal(restored.body.active, true, JSON.stringify(restored.body));
  }

  assert.equal((await scim.call('DELETE', `/Users/${id}`)).status, 204);
  assert.equal((await scim.call('GET', `/Users/${id}`)).status, 404);
  assert.equal((await scim.call('DELETE', `/Users/${id}`)).status, 404);
  assert.equal((await service.api('GET', `/users/${id}`)).status, 404);
});

test('Entra: groups are created, found without their members, renamed, filled, emptied and deleted', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const user = await scim.create('Users', { userName: 'ada@example.com' });
  const created = await scim.call('POST', '/Groups', {
    schemas: [GROUP, 'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group'],
    externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
    displayName: 'displayName',
    meta: { resourceType: 'Group' },
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { id } = created.body;
  assert.equal(created.body.externalId, '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159');
  const members = async () => (await scim.call('GET', `/Groups/${id}`)).body.members?.map(({ value }: { value: string }) => value) ?? [];

  const silent = async (operation: unknown) => {
    const { status, body } = await scim.patch(`/Groups/${id}`, [operation]);
    assert.deepEqual([status, body], [204, undefined]);
  };
  await silent({ op: 'Replace', path: 'displayName', value: '1879db59updatedDisplayName' });
  const filter = encodeURIComponent('displayName eq "1879db59updatedDisplayName"');
  assert.equal((await scim.call('GET', `/Groups?excludedAttributes=members&filter=${filter}`)).body.Resources[0].id, id);
  await silent({ op: 'Add', path: 'members', value: [{ $ref: null, value: user.id }] });
  await silent({ op: 'Add', path: 'members', value: [{ $ref: null, value: user.id }] });
  assert.deepEqual(await members(), [user.id]);
  const bare = await scim.call('GET', `/Groups/${id}?excludedAttributes=members`);
  assert.ok(!('members' in bare.body));
  // Whether a reference has a value: asked of the members.
  const asked = encodeURIComponent(`id eq "${id}" and members eq "${user.id}"`);
  assert.equal((await scim.call('GET', `/Groups?attributes=id&filter=${asked}`)).body.totalResults, 1);
  assert.deepEqual((await scim.call('GET', `/Users/${user.id}`)).body.groups, [
    { value: id, $ref: `${service.baseUrl}/scim/v2/Groups/${id}`, display: '1879db59updatedDisplayName' },
  ]);
  await silent({ op: 'Remove', path: 'members', value: [{ $ref: null, value: user.id }] });
  assert.deepEqual(await members(), []);
  assert.equal((await scim.call('DELETE', `/Groups/${id}`)).status, 204);
  assert.equal((await scim.call('GET', `/Groups/${id}`)).status, 404);
});
