/** Configuration as code, from the command line to what the services then are: real files, two installations. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { readConfiguration } from '../../src/features/configuration/file.ts';
import { RESOURCE_KINDS } from '../../src/features/configuration/kinds.ts';
import { directoryOf } from '../../src/features/configuration/names.ts';
import { plan } from '../../src/features/configuration/plan.ts';
import { serviceAt } from '../../src/features/configuration/service.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { callCommand, freePort, type Outcome, runCommand } from '../support/process.ts';
import { API_TOKEN, type Service, startService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: configuration files have whatever shape a test gives them
type Content = any;

function fileOf(t: TestContext, content: Content): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-configuration-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'gatehouse.yaml');
  writeFileSync(file, typeof content === 'string' ? content : stringify(content));
  return file;
}

const run = (service: Service, env: Record<string, string>, ...args: string[]): Promise<Outcome> =>
  callCommand({ GATEHOUSE_TOKEN: API_TOKEN, ...env }, 'configuration', ...args, '--url', service.listensAt);

/** @returns what the command printed. @throws when it ended with another code */
async function carriedOut(service: Service, code: number, env: Record<string, string>, ...args: string[]): Promise<string> {
  const ended = await run(service, env, ...args);
  assert.equal(ended.code, code, ended.stdout + ended.stderr);
  return ended.stdout;
}

const exported = async (service: Service): Promise<Content> => parse(await carriedOut(service, 0, {}, 'export'));

const eventCount = (service: Service): Promise<number> =>
  onServer(service.database.url, async (client) => Number((await client.query('SELECT count(*) FROM audit_events')).rows[0].count));

const SECRET = { SHOP_SECRET: 'a-secret-that-is-long-enough-for-a-shop' };

const SHOP = {
  label: 'Shop <b>of</b> עברית',
  credentials: {
    oauthClient: { client_id: 'shop', client_secret: { env: 'SHOP_SECRET' }, token_endpoint_auth_method: 'client_secret_basic' },
  },
  settings: {
    oauthClient: {
      redirect_uris: ['https://shop.example/callback'],
      grant_types: ['authorization_code', 'client_credentials'],
      consent_method: 'REQUIRED',
      refresh_token: { rotation_type: 'ROTATE', leeway: 10 },
    },
  },
};

const ORDERS = {
  id: 'orders',
  name: 'Orders',
  audiences: ['https://orders.example'],
  accessTokenLifetimeMinutes: 10,
  scopes: [
    { name: 'orders.read', displayName: 'Read orders', consent: 'IMPLICIT', metadataPublish: 'ALL_CLIENTS' },
    { name: 'email', consent: 'REQUIRED' },
  ],
  claims: [{ name: 'tenant', claimType: 'RESOURCE', valueType: 'STATIC', value: 'north', conditions: { scopes: ['orders.read'] } }],
  policies: [
    {
      name: 'Shop',
      priority: 1,
      conditions: { clients: { include: ['shop'] } },
      rules: [
        {
          name: 'Machines',
          priority: 1,
          conditions: { grantTypes: { include: ['client_credentials'] }, scopes: { include: ['orders.read'] } },
          actions: { token: { accessTokenLifetimeMinutes: 5 } },
        },
        {
          name: 'Staff',
          priority: 2,
          conditions: {
            people: { groups: { include: ['Staff'] }, users: { include: ['ada'] } },
            grantTypes: { include: ['authorization_code'] },
            scopes: { include: ['*'] },
          },
          actions: { token: { accessTokenLifetimeMinutes: 15 } },
        },
      ],
    },
  ],
};

const PARTNER = {
  name: 'Partner',
  type: 'OIDC',
  policy: { provisioning: { action: 'AUTO', orgId: 'Partners <Ltd>', groups: { action: 'ASSIGN', assignments: ['Staff'] } } },
  protocol: {
    type: 'OIDC',
    issuer: { url: 'https://partner.example' },
    scopes: ['openid', 'email'],
    credentials: { client: { client_id: 'gatehouse', client_secret: { env: 'SHOP_SECRET' } } },
  },
};

/** It offers the partner, whom the file makes first. */
const PARTNERS_SHOP = { ...SHOP, settings: { oauthClient: { ...SHOP.settings.oauthClient, identity_providers: ['Partner'] } } };

const WANTED = { applications: [PARTNERS_SHOP], authorizationServers: [ORDERS], identityProviders: [PARTNER] };

/** A service with the people and the organization that the file refers to. */
async function furnished(t: TestContext): Promise<Service> {
  const service = await startService(t);
  await service.api('POST', '/groups', { profile: { name: 'Staff' } });
  await service.createUser({ login: 'ada' });
  await service.api('POST', `/account/org?orgName=${encodeURIComponent('Partners <Ltd>')}`);
  return service;
}

test('a file makes a service what it says, twice changes nothing, and what is exported makes another service the same', async (t) => {
  const service = await furnished(t);
  const file = fileOf(t, WANTED);
  const before = await eventCount(service);
  const env = { GATEHOUSE_TOKEN: API_TOKEN, ...SECRET };
  const program = runCommand(t, 'configuration', env, 'plan', file, '--url', service.listensAt);
  assert.equal(await program.ended, 1, 'the program itself');
  const planned = await carriedOut(service, 1, SECRET, 'plan', file);
  assert.equal(program.output.stdout, planned);
  assert.match(planned, /^\+ application shop$/m);
  assert.match(planned, /^\+ authorization server orders$/m);
  assert.match(planned, /^ {4}policies: \["Shop"\]$/m);
  assert.match(planned, /^\+ identity provider Partner$/m);
  assert.match(planned, /^3 to create, 0 to change, 0 to delete\./m);
  assert.equal(await eventCount(service), before, 'a plan changes nothing');

  const applied = await carriedOut(service, 0, SECRET, 'apply', file, '--yes');
  assert.match(applied, /The service matches the file\./);
  assert.doesNotMatch(applied, new RegExp(SECRET.SHOP_SECRET), 'a secret that was given is not told');
  const policies = (await service.api('GET', '/authorizationServers/orders/policies')).body;
  assert.deepEqual(
    policies.map(({ name }: Content) => name),
    ['Shop'],
    'the policy that allows everything is not the file’s',
  );

  const after = await eventCount(service);
  assert.match(await carriedOut(service, 0, SECRET, 'apply', file, '--yes'), /^Nothing to change\./m);
  assert.match(await carriedOut(service, 0, {}, 'plan', file), /^Nothing to change\./m);
  assert.equal(await eventCount(service), after, 'nothing was changed');

  // The secret is the one in the variable, the token what the rule and the claim say.
  const response = await fetch(`${service.issuer('orders')}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`shop:${SECRET.SHOP_SECRET}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'orders.read' }),
  });
  const token: Content = await response.json();
  assert.equal(response.status, 200, JSON.stringify(token));
  assert.equal(token.expires_in, 300);
  const claims = JSON.parse(Buffer.from(token.access_token.split('.')[1], 'base64url').toString());
  assert.deepEqual([claims.tenant, claims.aud], ['north', 'https://orders.example']);

  const whole = await carriedOut(service, 0, {}, 'export');
  assert.doesNotMatch(whole, new RegExp(SECRET.SHOP_SECRET));
  assert.doesNotMatch(whole, /^ +client_secret:/m);
  assert.match(await carriedOut(service, 0, {}, 'plan', fileOf(t, whole), '--delete'), /^Nothing to change\.\n$/);
  const json = JSON.parse(await carriedOut(service, 0, {}, 'export', '--json'));
  assert.deepEqual(json, parse(whole));
  assert.deepEqual(Object.keys(json), [
    'groups',
    'userSchemas',
    'identityProviders',
    'inlineHooks',
    'applications',
    'provisioning',
    'signalStreams',
    'authorizationServers',
    'networkZones',
    'settings',
    'mailTemplates',
    'texts',
  ]);

  // Groups and users have other ids there: the file knows them by name.
  const other = await furnished(t);
  const elsewhere = structuredClone(json);
  elsewhere.identityProviders[0].protocol.credentials.client.client_secret = { env: 'SHOP_SECRET' };
  await carriedOut(other, 0, SECRET, 'apply', fileOf(t, elsewhere), '--yes');
  assert.deepEqual(await exported(other), json);
});

test('drift is shown field by field, and mended; what the file does not mention stays', async (t) => {
  const service = await furnished(t);
  const file = fileOf(t, WANTED);
  await carriedOut(service, 0, SECRET, 'apply', file, '--yes');
  const { body: shop } = await service.api('GET', '/apps/shop');
  shop.settings.oauthClient.redirect_uris = ['https://elsewhere.example/callback'];
  shop.settings.oauthClient.client_uri = 'https://shop.example/';
  await service.api('PUT', '/apps/shop', shop);
  await service.api('POST', '/apps/shop/lifecycle/deactivate');
  const rules = async (): Promise<Content> => {
    const [policy] = (await service.api('GET', '/authorizationServers/orders/policies')).body;
    return (await service.api('GET', `/authorizationServers/orders/policies/${policy.id}/rules`)).body;
  };
  const [policy] = (await service.api('GET', '/authorizationServers/orders/policies')).body;
  const { body: staff } = await service.api('GET', `/authorizationServers/orders/policies/${policy.id}/rules/${(await rules())[1].id}`);
  await service.api('PUT', `/authorizationServers/orders/policies/${policy.id}/rules/${staff.id}`, { ...staff, priority: 1 });
  assert.equal((await rules())[0].name, 'Staff');

  const planned = await carriedOut(service, 1, {}, 'plan', file);
  assert.match(planned, /^~ application shop$/m);
  assert.ok(
    planned.includes(
      '    settings.oauthClient.redirect_uris: ["https://elsewhere.example/callback"] -> ["https://shop.example/callback"]\n',
    ),
    planned,
  );
  assert.match(planned, /^~ rule orders \/ policy Shop \/ rule Staff\n {4}priority: 1 -> 2$/m);
  assert.doesNotMatch(planned, /client_uri|status/);
  await carriedOut(service, 0, {}, 'apply', file, '--yes');
  const { body: mended } = await service.api('GET', '/apps/shop');
  assert.deepEqual(mended.settings.oauthClient.redirect_uris, SHOP.settings.oauthClient.redirect_uris);
  assert.deepEqual(
    [mended.settings.oauthClient.client_uri, mended.status],
    ['https://shop.example/', 'INACTIVE'],
    'not mentioned, not touched',
  );
  assert.deepEqual(
    (await rules()).map(({ name }: Content) => name),
    ['Machines', 'Staff'],
  );

  const emptied = { ...SHOP, status: 'ACTIVE', settings: { oauthClient: { ...SHOP.settings.oauthClient, client_uri: null } } };
  await carriedOut(service, 0, {}, 'apply', fileOf(t, { applications: [emptied] }), '--yes');
  const { body: active } = await service.api('GET', '/apps/shop');
  assert.deepEqual([active.settings.oauthClient.client_uri, active.status], [undefined, 'ACTIVE']);
});

test('what is not in the file is told and left, and deleted only on purpose', async (t) => {
  const service = await furnished(t);
  await carriedOut(service, 0, SECRET, 'apply', fileOf(t, WANTED), '--yes');
  await service.createApp({ redirect_uris: ['https://extra.example/callback'] }, { client_id: 'extra' });
  const file = fileOf(t, { applications: [], authorizationServers: [{ ...ORDERS, claims: [], policies: [] }] });
  const planned = await carriedOut(service, 0, {}, 'plan', file);
  assert.match(planned, /^\? application extra \(is not in the file, and is left\)$/m);
  assert.match(planned, /^\? claim orders \/ claim RESOURCE tenant \(is not in the file, and is left\)$/m);
  assert.match(planned, /^Nothing to change\. \d+ not in the file\.$/m);
  assert.doesNotMatch(planned, /console|playground|Partner|default/, 'what is the service’s own, and sections that the file has not');

  const deleted = await carriedOut(service, 0, {}, 'apply', file, '--delete', '--yes');
  assert.match(deleted, /^- policy orders \/ policy Shop$/m);
  assert.deepEqual((await service.api('GET', '/apps')).body.map(({ id }: Content) => id).sort(), ['console', 'playground']);
  assert.deepEqual((await service.api('GET', '/authorizationServers/orders/policies')).body, []);
  assert.deepEqual((await service.api('GET', '/idps')).body.length, 1);
  assert.equal((await service.api('GET', '/authorizationServers/default')).status, 200, 'is not deleted');
  assert.match(await carriedOut(service, 0, {}, 'plan', file, '--delete'), /^Nothing to change\.$/m);
});

test('a file that cannot be is refused in plain words before anything is changed', async (t) => {
  const service = await furnished(t);
  const before = await eventCount(service);
  const shopWith = (changes: Content) => ({ applications: [{ ...SHOP, ...changes }] });
  const ordersWith = (changes: Content) => ({ applications: [SHOP], authorizationServers: [{ ...ORDERS, ...changes }] });
  const refusals: [content: Content, reason: RegExp][] = [
    ['applications: [', /is neither YAML nor JSON/],
    ['- one', /is not a configuration file/],
    [
      { apps: [] },
      /apps is not a section\. The sections are groups, userSchemas, identityProviders, inlineHooks, applications, provisioning, signalStreams, authorizationServers/,
    ],
    [{ applications: {} }, /applications must be a list/],
    [{ applications: ['shop'] }, /applications 1: credentials\.oauthClient\.client_id must identify the application/],
    [{ applications: [SHOP, SHOP] }, /the application shop is in the list twice/],
    [shopWith({ colour: 'red' }), /shop: colour is not a field of this resource/],
    [shopWith({ label: '' }), /shop: label must not be empty/],
    [shopWith({ status: 'ASLEEP' }), /shop: status must be ACTIVE or INACTIVE/],
    [
      shopWith({ credentials: { oauthClient: { client_id: 'shop', client_secret: 'in the file' } } }),
      /client_secret must not be in the file/,
    ],
    [ordersWith({ scopes: [{ name: 'x', consent: 'SOMETIMES' }] }), /orders \/ scope x: consent must be/],
    [
      ordersWith({ policies: [{ ...ORDERS.policies[0], rules: [{ name: 'r', actions: { token: { accessTokenLifetimeMinutes: 0 } } }] }] }),
      /orders \/ policy Shop \/ rule r: /,
    ],
  ];
  // As the command does, without a process for each.
  const near = serviceAt(service.listensAt, API_TOKEN);
  const context = { service: near, directory: directoryOf(near), env: SECRET, deleting: false };
  for (const [content, reason] of refusals) {
    await assert.rejects(async () => plan(context, readConfiguration(fileOf(t, content), RESOURCE_KINDS), RESOURCE_KINDS), {
      name: 'StartFailure',
      message: reason,
    });
  }
  const [content, reason] = refusals[0] ?? [];
  const ended = await run(service, SECRET, 'apply', fileOf(t, content), '--yes');
  assert.equal(ended.code, 2, ended.stdout);
  assert.match(ended.stderr, reason ?? /never/);
  const unknown = await startService(t);
  assert.match(
    (await run(unknown, SECRET, 'apply', fileOf(t, WANTED), '--yes')).stderr,
    /^Partner: policy\.provisioning\.orgId: The organization Partners <Ltd> is referenced but does not exist/,
  );
  assert.match((await run(service, {}, 'apply', fileOf(t, WANTED), '--yes')).stderr, /The environment variable SHOP_SECRET is not set/);
  assert.match((await run(service, SECRET, 'apply', fileOf(t, WANTED))).stderr, /There is no terminal for the confirmation\. Add --yes/);
  assert.equal(await eventCount(service), before, 'nothing was changed');

  const usage = /Usage: gatehouse configuration /;
  assert.match((await run(service, {}, 'apply')).stderr, usage);
  assert.match((await run(service, {}, 'destroy', 'x')).stderr, usage);
  assert.match((await run(service, { GATEHOUSE_TOKEN: '' }, 'export')).stderr, /^Set GATEHOUSE_TOKEN to /);
  assert.match((await run(service, { GATEHOUSE_TOKEN: 'unknown' }, 'export')).stderr, /^GET \/groups\?limit=200: Invalid token provided/);
  assert.match((await run(service, {}, 'plan', '/nowhere/gatehouse.yaml')).stderr, /cannot be read/);
  const nobody = { ...service, listensAt: `http://127.0.0.1:${await freePort()}` };
  assert.match((await run(nobody, {}, 'export')).stderr, /cannot be reached/);
});

test('a step that the service refuses ends the work, tells how far it came, leaves nothing open, and the next run goes on', async (t) => {
  const service = await furnished(t);
  const [claim] = ORDERS.claims;
  const lost = { ...claim, conditions: { scopes: ['nothing'] } };
  const stopped = await run(
    service,
    SECRET,
    'apply',
    fileOf(t, { ...WANTED, authorizationServers: [{ ...ORDERS, claims: [lost] }] }),
    '--yes',
  );
  assert.equal(stopped.code, 2);
  assert.match(stopped.stderr, /conditions\.scopes.*\n2 of 3 steps were applied\. Correct the file and apply it again\./);
  assert.deepEqual((await service.api('GET', '/authorizationServers/orders/policies')).body, [], 'nothing is allowed meanwhile');
  assert.match(await carriedOut(service, 0, SECRET, 'apply', fileOf(t, WANTED), '--yes'), /The service matches the file/);
});

test('settings, e-mail templates and texts are set by the file, moved to another installation, and returned to their defaults', async (t) => {
  const [service, other] = [await startService(t), await startService(t)];
  const relay = { id: 'mail', host: 'mail.example', username: 'gate', password: { env: 'RELAY_SECRET' }, fromAddress: 'id@example.com' };
  const content = {
    settings: [{ id: 'branding', name: 'Acme', primaryColorHex: '#7a1f5c' }, relay],
    mailTemplates: [{ kind: 'invitation', language: 'de', subject: 'Willkommen bei {service}' }],
    texts: [{ language: 'en', key: 'sign-in.submit', text: 'Go on' }],
  };
  const file = fileOf(t, content);
  const env = { RELAY_SECRET: 'known to the mail server' };
  const planned = await carriedOut(service, 1, env, 'plan', file);
  assert.match(planned, /settings branding[\s\S]*settings mail[\s\S]*e-mail template invitation de[\s\S]*text en sign-in\.submit/);
  assert.ok(!planned.includes(env.RELAY_SECRET));
  await carriedOut(service, 0, env, 'apply', file, '--yes');
  assert.match(await carriedOut(service, 0, env, 'plan', file), /Nothing to change/);
  const { body: mail } = await service.api('GET', '/settings/mail');
  assert.deepEqual([mail.host, mail.passwordSet], ['mail.example', true]);
  assert.equal((await service.api('GET', '/settings/mail-templates/invitation/de')).body.subject, 'Willkommen bei {service}');
  assert.equal((await service.api('GET', '/settings/texts/en/sign-in.submit')).body.text, 'Go on');

  const { settings, mailTemplates, texts } = await exported(service);
  assert.ok(!JSON.stringify(settings).includes(env.RELAY_SECRET));
  assert.deepEqual(texts, content.texts);
  assert.equal(mailTemplates.length, 1);
  // The whole template is moved: its other parts equal the originals.
  const moved = settings.map((one: Content) => (one.id === 'mail' ? { ...one, password: relay.password } : one));
  await carriedOut(other, 0, env, 'apply', fileOf(t, { settings: moved, mailTemplates, texts }), '--yes');
  assert.equal((await other.api('GET', '/settings/branding')).body.name, 'Acme');
  assert.equal((await other.api('GET', '/settings/mail')).body.passwordSet, true);

  await carriedOut(service, 0, env, 'apply', fileOf(t, { mailTemplates: [], texts: [] }), '--yes', '--delete');
  assert.equal((await service.api('GET', '/settings/mail-templates/invitation/de')).body.customized, false);
  assert.equal((await service.api('GET', '/settings/texts/en/sign-in.submit')).body.customized, false);
});

test('a rule names an inline hook by its name, made by the same file; values of its headers are never in one', async (t) => {
  const service = await startService(t);
  const hook = {
    name: 'Tenant',
    type: 'com.okta.oauth2.tokens.transform',
    failure: 'CLOSED',
    channel: {
      type: 'HTTP',
      version: '1.0.0',
      config: { uri: 'https://hooks.example/tenant', headers: [{ key: 'X-Key', value: { env: 'HOOK_KEY' } }] },
    },
  };
  const rules = [{ name: 'With the tenant', conditions: {}, actions: { token: { inlineHook: { id: 'Tenant' } } } }];
  const server = {
    id: 'orders',
    name: 'Orders',
    audiences: ['https://orders.example'],
    signingAlg: 'ES256',
    policies: [{ name: 'All', conditions: { clients: { include: ['ALL_CLIENTS'] } }, rules }],
  };
  const file = fileOf(t, { authorizationServers: [server], inlineHooks: [hook] });
  const HOOK_KEY = 'the-key-of-the-hook';
  const told = await carriedOut(service, 0, { HOOK_KEY }, 'apply', file, '--yes');
  assert.match(told, /Tenant: signingSecret whsec_/);
  assert.ok(!told.includes(HOOK_KEY));
  await carriedOut(service, 0, { HOOK_KEY }, 'plan', file);
  const { body: hooks } = await service.api('GET', '/inlineHooks');
  const { body: policies } = await service.api('GET', '/authorizationServers/orders/policies');
  const { body: applied } = await service.api('GET', `/authorizationServers/orders/policies/${policies[0].id}/rules`);
  assert.deepEqual(applied[0].actions.token.inlineHook, { id: hooks[0].id });
  const content = await exported(service);
  assert.deepEqual(content.inlineHooks[0].channel.config.headers, [{ key: 'X-Key' }]);
  assert.deepEqual(content.authorizationServers.find(({ id }: Content) => id === 'orders').policies[0].rules[0].actions, rules[0]?.actions);
  const plain = { ...hook, channel: { ...hook.channel, config: { ...hook.channel.config, headers: [{ key: 'X-Key', value: HOOK_KEY }] } } };
  const refused = await run(service, {}, 'plan', fileOf(t, { inlineHooks: [plain] }));
  assert.match(refused.stderr + refused.stdout, /value must not be in the file/);
});

test('attributes of users are set by the file, exported as they are, and removed by null', async (t) => {
  const service = await startService(t);
  const tier = { title: 'Tier', type: 'string', enum: ['gold', 'silver'] };
  const userSchemas = (properties: object) => ({ userSchemas: [{ id: 'default', definitions: { custom: { properties } } }] });
  const file = fileOf(t, userSchemas({ tier, seats: { title: 'Seats', type: 'integer' } }));
  await carriedOut(service, 0, {}, 'apply', file, '--yes');
  assert.match(await carriedOut(service, 0, {}, 'plan', file), /Nothing to change/);
  const { userSchemas: kept } = await exported(service);
  assert.deepEqual(Object.keys(kept[0].definitions.custom.properties), ['tier', 'seats']);
  assert.match(await carriedOut(service, 0, {}, 'plan', fileOf(t, { userSchemas: kept })), /Nothing to change/);
  await carriedOut(service, 0, {}, 'apply', fileOf(t, userSchemas({ tier: null })), '--yes');
  const { body } = await service.api('GET', '/meta/schemas/user/default');
  assert.deepEqual(Object.keys(body.definitions.custom.properties), ['seats']);
});

test('SCIM targets are set by the file, with the secret from the environment, and null in a mapping is kept', async (t) => {
  const service = await startService(t);
  const target = {
    applicationId: 'shop',
    status: 'INACTIVE',
    baseUrl: 'https://shop.example/scim',
    auth: { type: 'BEARER', secret: { env: 'SCIM_TOKEN' } },
    mapping: { nickName: null, userName: 'email' },
    pushGroups: true,
  };
  const env = { ...SECRET, SCIM_TOKEN: 'the-token-of-the-target' };
  const file = fileOf(t, { applications: [SHOP], provisioning: [target] });
  await carriedOut(service, 0, env, 'apply', file, '--yes');
  const { body } = await service.api('GET', '/apps/shop/provisioning');
  assert.deepEqual([body.baseUrl, body.mapping, body.leavers], [target.baseUrl, target.mapping, 'DEACTIVATE']);
  assert.match(await carriedOut(service, 0, env, 'plan', file), /^Nothing to change\./m);

  const { provisioning } = await exported(service);
  const { secret: _, ...auth } = target.auth;
  assert.deepEqual(provisioning, [{ ...target, auth, leavers: 'DEACTIVATE' }]);

  const changed = { ...target, mapping: { nickName: 'displayName' }, leavers: 'DELETE' };
  const second = fileOf(t, { provisioning: [changed] });
  const plan = await carriedOut(service, 1, env, 'plan', second);
  assert.match(plan, /SCIM target shop/);
  assert.ok(!plan.includes(env.SCIM_TOKEN), plan);
  await carriedOut(service, 0, env, 'apply', second, '--yes');
  const { body: after } = await service.api('GET', '/apps/shop/provisioning');
  assert.deepEqual([after.mapping, after.leavers, after.pushGroups], [changed.mapping, 'DELETE', true]);

  const inTheOpen = fileOf(t, { provisioning: [{ ...target, auth: { type: 'BEARER', secret: 'in-the-open' } }] });
  assert.match((await run(service, env, 'plan', inTheOpen)).stderr, /must not be in the file/);
  await carriedOut(service, 0, env, 'apply', fileOf(t, { provisioning: [] }), '--yes', '--delete');
  assert.equal((await service.api('GET', '/apps/shop/provisioning')).status, 404);
});
