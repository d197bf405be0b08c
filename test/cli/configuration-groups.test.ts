/** Groups in a configuration file, and their roles in applications, over the API of a real service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportLines } from '../../src/features/configuration/report.ts';
import { startService } from '../support/service.ts';
import { applied, type Content, exported, planned } from './configuring.ts';

const STAFF = { profile: { name: 'Staff', description: 'Who works here' } };
const EDITOR = { name: 'editor', displayName: 'Editor', description: '' };
const READER = { name: 'reader', displayName: 'Reader', description: '' };

const shopWith = (inner: Content) => ({
  label: 'Shop',
  credentials: { oauthClient: { client_id: 'shop', token_endpoint_auth_method: 'none' } },
  settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'], assignment: 'ASSIGNED' } },
  ...inner,
});
const rule = (group: string) => ({ name: 'r', conditions: { people: { groups: { include: [group] } } } });
const serverFor = (group: string) => ({
  id: 'orders',
  name: 'Orders',
  audiences: ['https://orders.example'],
  policies: [{ name: 'p', conditions: { clients: { include: ['shop'] } }, rules: [rule(group)] }],
});

test('groups and their roles in applications are made by the file, changed, deleted, and move to another installation', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  const everyone = { profile: { name: 'EVERYONE' } };
  const content = {
    groups: [STAFF, everyone],
    applications: [
      shopWith({
        roles: [EDITOR, READER],
        groups: [
          { id: 'Staff', roles: ['editor', 'reader'] },
          { id: 'EVERYONE', roles: [] },
        ],
      }),
    ],
    authorizationServers: [serverFor('Staff')],
  };
  const steps = (await planned(t, service, content)).flatMap(reportLines);
  assert.ok(steps.includes('    profile.name: "Staff"'), steps.join('\n'));
  assert.ok(steps.includes('    groups: ["Staff","EVERYONE"]'), steps.join('\n'));
  assert.deepEqual(await applied(t, service, content), []);
  const [staff, all] = (await service.api('GET', '/groups')).body;
  assert.deepEqual([staff.profile, all.profile], [STAFF.profile, everyone.profile]);
  const assigned = async (): Promise<Content> => (await service.api('GET', '/apps/shop/groups')).body;
  assert.deepEqual(
    (await assigned()).map(({ id, roles }: Content) => [id, roles]),
    [
      [staff.id, ['editor', 'reader']],
      [all.id, []],
    ],
  );
  const ada = await service.createUser({ login: 'ada' });
  await service.api('PUT', `/groups/${staff.id}/users/${ada.id}`);

  const whole = await exported(service);
  assert.deepEqual(whole.groups, content.groups);
  assert.deepEqual(whole.applications[0].groups, content.applications[0]?.groups);
  assert.deepEqual(await applied(t, other, whole), []);
  assert.deepEqual(await exported(other), whole);

  // Fewer roles, another description, and neither role nor assignment of the other group.
  const less = {
    groups: [{ profile: { ...STAFF.profile, description: null } }],
    applications: [shopWith({ roles: [EDITOR], groups: [{ id: 'Staff', roles: ['editor'] }] })],
    authorizationServers: [serverFor('Staff')],
  };
  assert.deepEqual((await planned(t, service, less, true)).flatMap(reportLines), [
    '~ group Staff',
    '    profile.description: "Who works here" -> nothing',
    '~ assignment to group shop / assignment to group Staff',
    '    roles: ["editor","reader"] -> ["editor"]',
    '- assignment to group shop / assignment to group EVERYONE',
    '- role shop / role reader',
    '- group EVERYONE',
  ]);
  assert.deepEqual(await applied(t, service, less, true), []);
  assert.deepEqual(
    (await assigned()).map(({ id, roles }: Content) => [id, roles]),
    [[staff.id, ['editor']]],
  );
  assert.deepEqual(
    (await service.api('GET', `/groups/${staff.id}/users`)).body.map(({ id }: Content) => id),
    [ada.id],
    'members stay',
  );

  const before = await exported(service);
  for (const [wrong, reason] of [
    [{ groups: [{ profile: { description: 'x' } }] }, /groups 1: profile\.name must identify the group/],
    [{ groups: [{ profile: { name: 'Staff', colour: 'red' } }] }, /^Staff: profile\.colour is not a field/],
    [
      { applications: [shopWith({ groups: [{ id: 'Nobody' }] })] },
      /^shop \/ assignment to group Nobody: id: The group Nobody is referenced but does not exist/,
    ],
    [
      { applications: [shopWith({ groups: [{ id: 'Staff', roles: ['owner'] }] })] },
      /^shop \/ assignment to group Staff: roles: The role owner is referenced but does not exist/,
    ],
    [
      {
        applications: [
          { ...shopWith({ groups: [{ id: 'Staff', roles: ['owner'] }] }), credentials: { oauthClient: { client_id: 'new' } } },
        ],
      },
      /^new \/ assignment to group Staff: roles: The role owner is referenced but does not exist/,
    ],
    [
      { groups: [], applications: [shopWith({ groups: [{ id: 'Staff', roles: [] }] })] },
      /^shop \/ assignment to group Staff: id: The group Staff is referenced but not in the file, so --delete would delete it/,
    ],
    [
      { groups: [], authorizationServers: [serverFor('Staff'), { ...serverFor('Staff'), id: 'bills' }] },
      /^bills \/ policy p \/ rule r: conditions\.people\.groups\.include: The group Staff is referenced but not in the file/,
    ],
  ] as const)
    await assert.rejects(planned(t, service, wrong, true), { message: reason });
  assert.deepEqual(await exported(service), before, 'nothing was changed');
});

test('groups that SCIM created are neither exported nor deleted, may be named, and a priority of an assignment is no drift', async (t) => {
  const service = await startService(t);
  const { token } = (await service.api('POST', '/api-tokens', { name: 'Entra', type: 'SCIM' })).body;
  const made = await fetch(`${service.baseUrl}/scim/v2/Groups`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:Group'], displayName: 'Provisioned' }),
  });
  assert.equal(made.status, 201);
  const content = {
    groups: [STAFF],
    applications: [shopWith({ roles: [EDITOR], groups: [{ id: 'Provisioned', roles: ['editor'], priority: 3 }] })],
    authorizationServers: [serverFor('Provisioned')],
  };
  assert.deepEqual(await applied(t, service, content, true), []);
  assert.deepEqual(
    (await service.api('GET', '/groups')).body.map(({ origin, profile: { name } }: Content) => [name, origin]),
    [
      ['Provisioned', 'SCIM'],
      ['Staff', 'ADMIN'],
    ],
  );
  assert.deepEqual((await exported(service)).groups, [STAFF]);
  // A file that names it changes it.
  const named = { profile: { name: 'Provisioned', description: 'From Entra' } };
  assert.deepEqual((await planned(t, service, { groups: [named] }, true)).flatMap(reportLines), [
    '~ group Provisioned',
    '    profile.description: nothing -> "From Entra"',
    '- group Staff',
  ]);
});
