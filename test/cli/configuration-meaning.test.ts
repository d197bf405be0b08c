/** What a configuration file means where it could be taken for something else: order, names, numbers, what is empty. Over the API of a real service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changes } from '../../src/features/configuration/report.ts';
import { type Service, startService } from '../support/service.ts';
import { applied, type Content, exported, planned, sectionsOf } from './configuring.ts';

const SERVER = { id: 'orders', name: 'Orders', audiences: ['https://orders.example'] };
const forAll = (name: string, more: Content = {}) => ({ name, conditions: { clients: { include: ['ALL_CLIENTS'] } }, ...more });
const withPolicies = (...policies: Content[]) => ({ authorizationServers: [{ ...SERVER, policies }] });
const policyNames = async (service: Service): Promise<string[]> =>
  (await service.api('GET', '/authorizationServers/orders/policies')).body.map(({ name }: Content) => name);

test('a server that lets nobody in is exported as such, and lets nobody in where the file is applied', async (t) => {
  const service = await startService(t);
  assert.deepEqual(await applied(t, service, withPolicies()), []);
  assert.deepEqual(await policyNames(service), []);
  const content = await exported(service);
  assert.deepEqual(content.authorizationServers.find(({ id }: Content) => id === 'orders').policies, []);
  const other = await startService(t);
  assert.deepEqual(await applied(t, other, content), []);
  assert.deepEqual(await policyNames(other), []);
});

test('policies and rules are in the order of the file, or in that of their priorities, however these are counted', async (t) => {
  const service = await startService(t);
  assert.deepEqual(await applied(t, service, withPolicies(forAll('A'), forAll('B'), forAll('C'))), []);
  assert.deepEqual(await policyNames(service), ['A', 'B', 'C']);

  assert.deepEqual(await applied(t, service, withPolicies(forAll('New'), forAll('C'), forAll('A'), forAll('B'))), []);
  assert.deepEqual(await policyNames(service), ['New', 'C', 'A', 'B']);

  const counted = withPolicies(forAll('B', { priority: 30 }), forAll('New', { priority: 10 }), forAll('A', { priority: 20 }));
  assert.deepEqual(await applied(t, service, counted), []);
  const order = (await policyNames(service)).filter((name) => name !== 'C');
  assert.deepEqual(order, ['New', 'A', 'B'], 'the one that the file does not have is somewhere');
  assert.deepEqual(await applied(t, service, counted, true), []);
  assert.deepEqual(await policyNames(service), ['New', 'A', 'B']);

  // Of [New, X, B, A] the second and third are put in their places by what moves the last one.
  await service.api('POST', '/authorizationServers/orders/policies', forAll('X', { priority: 2 }));
  await service.api('PUT', `/authorizationServers/orders/policies/${await idOf(service, 'A')}`, forAll('A', { priority: 4 }));
  assert.deepEqual(await policyNames(service), ['New', 'X', 'B', 'A']);
  assert.deepEqual(await applied(t, service, withPolicies(forAll('New'), forAll('A'), forAll('B'))), []);
  assert.deepEqual(await policyNames(service), ['New', 'A', 'B', 'X']);

  const [problem] = await planned(t, service, withPolicies(forAll('A', { priority: 0 }))).then(
    () => [],
    (error: Error) => [error.message],
  );
  assert.match(problem ?? '', /orders \/ policy A: priority must/);
});

const idOf = async (service: Service, wanted: string): Promise<string> =>
  (await service.api('GET', '/authorizationServers/orders/policies')).body.find(({ name }: Content) => name === wanted).id;

test('what the service writes otherwise is no drift: order and repetition of names, spaces, capitals, an empty text', async (t) => {
  const service = await startService(t);
  await service.createUser({ login: 'ada' });
  await service.createUser({ login: 'grace' });
  await service.api('POST', '/groups', { profile: { name: 'Staff' } });
  await service.api('POST', '/groups', { profile: { name: 'STAFF' } });
  const content = {
    applications: [
      {
        label: '  Shop  ',
        credentials: { oauthClient: { client_id: 'shop' } },
        settings: { oauthClient: { redirect_uris: ['https://shop.example/b', 'https://shop.example/a'] } },
      },
    ],
    authorizationServers: [
      {
        ...SERVER,
        description: null,
        claims: [
          { name: 'n', claimType: 'RESOURCE', valueType: 'STATIC', value: 'x', conditions: { scopes: ['profile', 'email', 'email'] } },
        ],
        policies: [
          forAll('  Everything / rule  ', {
            rules: [
              {
                name: 'Staff / x',
                conditions: {
                  people: { users: { include: ['GRACE', 'Ada', 'ada'] }, groups: { include: ['STAFF', 'Staff'] } },
                  scopes: { include: ['profile', 'email'] },
                },
              },
            ],
          }),
        ],
      },
    ],
  };
  assert.deepEqual(await applied(t, service, content), []);
  const { body: groups } = await service.api('GET', '/groups');
  const [policy] = (await service.api('GET', '/authorizationServers/orders/policies')).body;
  const [rule] = (await service.api('GET', `/authorizationServers/orders/policies/${policy.id}/rules`)).body;
  assert.deepEqual(
    rule.conditions.people.groups.include.map((id: string) => groups.find((one: Content) => one.id === id).profile.name),
    ['STAFF', 'Staff'],
    'names in small and capital letters are two groups',
  );
  content.applications[0]?.settings.oauthClient.redirect_uris.reverse();
  assert.deepEqual(changes(await planned(t, service, content)), []);
  content.applications[0]?.settings.oauthClient.redirect_uris.pop();
  assert.equal(changes(await planned(t, service, content)).length, 1);
});

test('nobody becomes everyone by a name, and nobody another by an id', async (t) => {
  const service = await startService(t);
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'EVERYONE' } });
  await applied(t, service, withPolicies(forAll('P')));
  const [policy] = (await service.api('GET', '/authorizationServers/orders/policies')).body;
  const { status } = await service.api('POST', `/authorizationServers/orders/policies/${policy.id}/rules`, {
    name: 'r',
    conditions: { people: { groups: { include: [group.id] } } },
  });
  assert.equal(status, 201);
  await assert.rejects(exported(service), /A referenced group is named EVERYONE/);

  const other = await startService(t);
  const user = await other.createUser({ login: 'ada' });
  const byId = withPolicies(forAll('Q', { rules: [{ name: 'r', conditions: { people: { users: { include: [user.id] } } } }] }));
  await assert.rejects(planned(t, other, byId), /The user usr\w+ is referenced but does not exist/);
});

test('an identity provider that names what is gone is exported still, and refused where it is applied', async (t) => {
  const service = await startService(t);
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Staff' } });
  const partner = {
    ...{ name: 'Partner', type: 'OIDC', policy: { provisioning: { groups: { action: 'ASSIGN', assignments: ['Staff'] } } } },
    protocol: {
      issuer: { url: 'https://partner.example' },
      scopes: ['openid'],
      credentials: { client: { client_id: 'gatehouse', token_endpoint_auth_method: 'none' } },
    },
  };
  assert.deepEqual(await applied(t, service, { identityProviders: [partner] }), []);
  await service.api('DELETE', `/groups/${group.id}`);
  const content = await exported(service);
  assert.equal(content.identityProviders.length, 1);
  assert.deepEqual(changes(await planned(t, service, content)), []);
  await assert.rejects(planned(t, await startService(t), content), /The group grp\w+ is referenced but does not exist/);
});

test('YAML is read as people write it: merge keys, Windows lines; what it takes for a number is refused in plain words', async (t) => {
  const read = (content: string) => () => sectionsOf(t, content);
  assert.throws(
    read('applications:\n  - credentials: {oauthClient: {client_id: 123}}\n'),
    /client_id must be text\. Put the value in quotation marks/,
  );
  assert.throws(read('authorizationServers:\n  - {id: true, name: x}\n'), /authorizationServers 1: id must be text/);
  assert.throws(read('applications: []\napplications: []\n'), /Map keys must be unique/);
  assert.throws(read('applications: []\n---\napplications: []\n'), /is neither YAML nor JSON/);
  assert.throws(read(''), /is not a configuration file/);
  const bomb = `${'abcdefgh'.replace(/./g, (name, at) => `${name}: &${name} [${at === 0 ? 'x' : Array(9).fill(`*${'abcdefgh'[at - 1]}`)}]\n`)}applications: *h\n`;
  assert.throws(read(bomb), /Excessive alias count/);

  const service = await startService(t);
  const shops = [
    'applications:',
    '  - &shop',
    '    label: Shop',
    '    credentials: {oauthClient: {client_id: shop}}',
    '    settings: {oauthClient: {redirect_uris: [https://shop.example/callback]}}',
    '  - <<: *shop',
    '    credentials: {oauthClient: {client_id: other}}',
  ];
  assert.deepEqual(await applied(t, service, `\u{feff}${shops.join('\r\n')}`), []);
  assert.equal((await service.api('GET', '/apps/other')).body.label, 'Shop');
  const prototype =
    'applications:\n  - label: Shop\n    __proto__: {status: INACTIVE}\n    credentials: {oauthClient: {client_id: shop}}\n';
  assert.throws(read(prototype), /__proto__ is not a field/);
});

test('a policy for an application that will not be there is refused before anything is changed', async (t) => {
  const service = await startService(t);
  const shop = {
    label: 'Shop',
    credentials: { oauthClient: { client_id: 'shop' } },
    settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'] } },
  };
  const policy = { name: 'The shop alone', conditions: { clients: { include: ['shop'] } } };
  await assert.rejects(planned(t, service, withPolicies(policy)), /The application shop is referenced but does not exist/);
  const both = { applications: [shop], ...withPolicies(policy) };
  assert.deepEqual(await applied(t, service, both), []);
  assert.deepEqual(changes(await planned(t, service, withPolicies(policy), true)), [], 'it is there, and stays');
  const contradiction = { applications: [], ...withPolicies({ ...policy, description: 'Of a shop that is gone' }) };
  await assert.rejects(
    planned(t, service, contradiction, true),
    /The application shop is referenced but not in the file, so --delete would delete it/,
  );
});

test('an application names identity providers, which the file knows by name: made before it, deleted after it, portable', async (t) => {
  const service = await startService(t);
  const partner = (name: string) => ({
    ...{ name, type: 'OIDC' },
    protocol: {
      issuer: { url: 'https://partner.example' },
      scopes: ['openid'],
      credentials: { client: { client_id: 'gatehouse', token_endpoint_auth_method: 'none' } },
    },
  });
  const shop = (...identity_providers: string[]) => ({
    label: 'Shop',
    credentials: { oauthClient: { client_id: 'shop' } },
    settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'], identity_providers } },
  });
  const named = async (at: Service) => (await at.api('GET', '/apps/shop')).body.settings.oauthClient.identity_providers;
  const idsOf = async (at: Service): Promise<string[]> => (await at.api('GET', '/idps')).body.map(({ id }: Content) => id);
  // The file has them in any order.
  const content = { applications: [shop('Two', 'One')], identityProviders: [partner('One'), partner('Two')] };
  assert.deepEqual(await applied(t, service, content), []);
  assert.deepEqual(new Set(await named(service)), new Set(await idsOf(service)));
  const out = await exported(service);
  const exportedShop = out.applications.find((one: Content) => one.label === 'Shop');
  assert.deepEqual(exportedShop.settings.oauthClient.identity_providers, ['Two', 'One']);

  const other = await startService(t);
  assert.deepEqual(await applied(t, other, out), []);
  assert.deepEqual(new Set(await named(other)), new Set(await idsOf(other)));
  assert.notDeepEqual(new Set(await named(other)), new Set(await named(service)));

  const refused = /shop: settings\.oauthClient\.identity_providers: The identity provider Three is referenced but does not exist/;
  await assert.rejects(planned(t, service, { applications: [shop('Three')] }), refused, 'a change');
  await assert.rejects(planned(t, await startService(t), { applications: [shop('Three')] }), refused, 'a creation');
  const deletes = /identity_providers: The identity provider One is referenced but not in the file, so --delete would delete it/;
  await assert.rejects(planned(t, service, { applications: [shop('One')], identityProviders: [partner('Two')] }, true), deletes);
  assert.deepEqual(await applied(t, service, { applications: [shop('Two')], identityProviders: [partner('Two')] }, true), []);
  assert.deepEqual(await named(service), await idsOf(service));
  assert.deepEqual(await applied(t, service, { applications: [], identityProviders: [] }, true), []);
  assert.deepEqual(await idsOf(service), []);
});
