/** API → Authorization servers, without JavaScript: each resource made, changed and deleted, with its effect at the endpoints (RFC 8414, RFC 6749, RFC 7517). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { createAdministrator, enter, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { authorizeUrl, createClient, post, type TestClient } from '../../protocol/servers/relying-party.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const HOME = '/admin/api/servers';

/** Opens a page and posts its form. */
const fill = async (agent: UserAgent, path: string, typed: Record<string, string | readonly string[]> = {}): Promise<Page> =>
  agent.submit(await agent.visit(path), 'console-form', typed);

const problemOf = ({ text }: Page, field: string): string | undefined => new RegExp(`id="${field}-problem">([^<]*)<`).exec(text)?.[1];

/** The last event of a type, as the API tells it. */
async function eventOf(service: Service, eventType: string) {
  const { body } = await service.api(
    'GET',
    `/logs?sortOrder=DESCENDING&limit=1&filter=${encodeURIComponent(`eventType eq "${eventType}"`)}`,
  );
  return body[0] ?? assert.fail(`no event ${eventType}`);
}

const MACHINE = { grant_types: ['client_credentials', 'password'], response_types: [] };

/** What a token of the server says, or why none is given. */
async function tokenOf(
  service: Service,
  client: TestClient,
  form: Record<string, string> = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { status, body } = await post(service, 'orders', 'token', client, { grant_type: 'client_credentials', ...form });
  return status === 200 ? { ...decodeJwt(body.access_token), seconds: body.expires_in } : { error: body.error };
}

/** A public document of the server. */
async function documentOf(service: Service, path: string): Promise<Record<string, unknown>> {
  return (await (await fetch(`${service.issuer('orders')}${path}`)).json()) as Record<string, unknown>;
}

/** One of the server's parts, as the API tells it. */
async function partOf(service: Service, parts: string, name: string, serverId = 'orders') {
  const { body } = await service.api('GET', `/authorizationServers/${serverId}/${parts}`);
  return body.find((one: { name: string }) => one.name === name) ?? assert.fail(`no ${name} in ${parts}`);
}

const createServer = async (service: Service, id = 'orders') =>
  assert.equal((await service.api('POST', '/authorizationServers', { id, name: id, signingAlg: 'ES256' })).status, 201);

test('a server is created with what was typed, found, changed, deactivated, activated and deleted', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const refused = await fill(agent, `${HOME}/new`, {
    name: ' Orders <b> ',
    id: 'Not good',
    accessTokenLifetimeMinutes: '1441',
    'accessTokenLifetimeMinutes-unit': 'minute',
    audiences: 'https://api.example\nhttps://orders.example',
  });
  assert.equal(refused.status, 400);
  assert.equal(problemOf(refused, 'accessTokenLifetimeMinutes'), 'Must be at most 1440 minutes');
  const again = await agent.submit(refused, 'console-form', { accessTokenLifetimeMinutes: '5' });
  assert.match(problemOf(again, 'id') ?? '', /^Must be 1 to 64 characters a-z/);
  assert.equal(typedIn(again, 'audiences'), 'https://api.example\nhttps://orders.example', 'what was typed stays');
  const created = await agent.submit(again, 'console-form', { id: 'orders', signingAlg: 'ES256' });
  assert.equal(created.url.pathname, `${HOME}/orders`);
  assert.match(created.text, /<h1 dir="auto">Orders &lt;b&gt;<\/h1>/);
  assert.match(wordsOf(created), /The authorization server is created.*live for 5 minutes/);

  const discovery = await documentOf(service, '/.well-known/openid-configuration');
  const told = Object.entries(discovery).filter(([name]) => name === 'issuer' || name === 'jwks_uri' || name.endsWith('_endpoint'));
  assert.ok(told.length >= 7);
  for (const [name, address] of told) assert.ok(created.text.includes(`>${address}</code>`), `${name}: ${address}`);
  const client = await createClient(service, MACHINE);
  const token = await tokenOf(service, client, { scope: 'profile' });
  assert.deepEqual([token.aud, token.seconds], ['https://api.example', 300]);
  const event = await eventOf(service, 'oauth2.as.created');
  assert.deepEqual([event.actor.displayName, event.target[0].id], ['admin', 'orders']);

  const list = await agent.visit(`${HOME}?q=ORDERS`);
  assert.match(wordsOf(list), /Orders &lt;b&gt; Active https:\/\/api\.example/);
  assert.doesNotMatch(list.text, /servers\/built-in/);
  for (const q of ['none-of-them', '%00']) assert.match(wordsOf(await agent.visit(`${HOME}?q=${q}`)), /No authorization servers match/, q);

  const taken = await fill(agent, `${HOME}/orders/edit`, { name: 'default' });
  assert.equal(problemOf(taken, 'name'), 'Another authorization server has this name. Choose another name');
  const changed = await agent.submit(taken, 'console-form', { name: 'Orders', accessTokenFormat: 'opaque', rotationMode: 'MANUAL' });
  assert.match(wordsOf(changed), /The authorization server is changed.*Opaque, live for 5 minutes.*Manual/);
  assert.equal((await service.api('GET', '/authorizationServers/orders')).body.accessTokenFormat, 'opaque');

  const stopped = await fill(agent, `${HOME}/orders/deactivate`);
  assert.match(wordsOf(stopped), /is deactivated.*Status Inactive/);
  const answers = async () => (await fetch(`${service.issuer('orders')}/.well-known/openid-configuration`)).status;
  assert.equal(await answers(), 404);
  assert.match(wordsOf(await agent.visit(`${HOME}/orders`)), /It is deactivated/);
  await fill(agent, `${HOME}/orders/activate`);
  assert.equal(await answers(), 200);
  assert.match(
    wordsOf(await agent.visit(`${HOME}/orders/delete`)),
    /This deletes [1-9]\d* scopes, 0 claims, 1 access policy, 0 consents, its keys and its tokens\..*This cannot be undone\./,
  );
  const kept = await fill(agent, `${HOME}/orders/delete`, { 'confirmed-name': 'orders' });
  assert.deepEqual([kept.status, await answers()], [400, 200], 'the name has to be typed');
  assert.match(problemOf(kept, 'confirmed-name') ?? '', /is not the name that is shown/i);
  const gone = await fill(agent, `${HOME}/orders/delete`, { 'confirmed-name': ' Orders ' });
  assert.equal(gone.url.pathname, HOME);
  assert.equal(await answers(), 404);
  assert.equal((await agent.visit(`${HOME}/orders`)).status, 404);
});

test('without an id one is made up, and the audience with it; of lists there are pages', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const created = await fill(agent, `${HOME}/new`, { name: 'Anything', signingAlg: 'ES256' });
  const id = created.url.pathname.split('/').at(-1) ?? '';
  assert.match(id, /^aus[a-z0-9]{17}$/);
  assert.ok(created.text.includes(`>api://${id}</code>`));
  await createServer(service);
  for (let n = 0; n < 16; n += 1) await service.api('POST', '/authorizationServers/orders/scopes', { name: `s${n}` });
  const first = await agent.visit(`${HOME}/orders/scopes`);
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? [];
  assert.match(first.text, />s15</, 'the newest first');
  const second = await agent.visit(next);
  assert.match(second.text, />openid</);
  assert.match(wordsOf(second), /24 scopes.*Previous page Page 2 of 2 Rows per page: 20 50 100/);
  assert.doesNotMatch(second.text, />s15</);
  assert.match((await agent.visit(`${HOME}/orders/scopes?q=S15`)).text, />s15</);
});

test('of the built-in server only its profile, lifetimes and keys are offered, and nothing else is taken', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const home = `${HOME}/built-in`;
  assert.doesNotMatch((await agent.visit(home)).text, /\/(deactivate|delete)"/);
  const before = await service.api('GET', '/authorizationServers/built-in');
  const form = await agent.visit(`${home}/edit`);
  for (const name of ['name', 'audiences', 'accessTokenFormat']) assert.doesNotMatch(form.text, new RegExp(`name="${name}"`));
  const changed = await agent.submit(form, 'console-form', {
    accessTokenLifetimeMinutes: '30',
    'accessTokenLifetimeMinutes-unit': 'minute',
    profile: 'openid',
    audiences: 'api://other',
  });
  assert.match(wordsOf(changed), /live for 30 minutes/);
  const { body } = await service.api('GET', '/authorizationServers/built-in');
  assert.deepEqual([body.accessTokenLifetimeMinutes, body.profile, body.audiences], [30, 'openid', before.body.audiences]);
  for (const path of ['scopes', 'claims', 'policies']) {
    const page = await agent.visit(`${home}/${path}`);
    assert.equal(page.status, 200, path);
    assert.doesNotMatch(page.text, /\/new"|>Delete<|Move (up|down)/, path);
    assert.equal(page.text.includes('>Edit<'), path === 'scopes', path);
    const refused = await agent.visit(`${home}/${path}/new`);
    assert.equal(refused.status, 403, path);
    assert.match(wordsOf(refused), /the built-in authorization server has fixed scopes, claims and policies/, path);
  }
  assert.match(wordsOf(await agent.visit(`${home}/delete`)), /cannot be deactivated or deleted/);

  const { body: scopes } = await service.api('GET', '/authorizationServers/built-in/scopes');
  const idOf = (name: string) => scopes.find((scope: { name: string }) => scope.name === name).id;
  await fill(agent, `${home}/scopes/${idOf('email')}`, { consent: 'REQUIRED' });
  assert.equal((await agent.visit(`${home}/scopes/${idOf('openid')}`)).status, 403);
  const user = await service.createUser();
  const { clientId } = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const asked = authorizeUrl(service, 'built-in', { client_id: clientId, scope: 'openid email profile' });
  assert.match((await browser.signIn(await browser.visit(asked), user)).text, /<form id="consent"/);
});

test('a scope is created, changed and deleted; a standard one keeps its name; one that a claim names stays', async (t) => {
  const service = await startService(t);
  await createServer(service);
  const { agent } = await enter(service);
  const client = await createClient(service, MACHINE);
  const home = `${HOME}/orders/scopes`;
  const bad = await fill(agent, `${home}/new`, { name: 'two words', displayName: 'See <them>' });
  assert.match(problemOf(bad, 'name') ?? '', /^Must be 1 to 100 printable ASCII/);
  assert.equal(typedIn(bad, 'displayName'), 'See &lt;them&gt;');
  assert.match(
    wordsOf(await agent.submit(bad, 'console-form', { name: 'orders:read', isDefault: 'true' })),
    /The scope is created.*orders:read See &lt;them&gt; Never ask Yes Yes/,
  );
  assert.equal((await tokenOf(service, client)).scope, 'orders:read', 'asked for by default');
  const discovered = async () =>
    ((await documentOf(service, '/.well-known/openid-configuration')).scopes_supported as string[]).includes('orders:read');
  assert.equal(await discovered(), true);

  const { id } = await partOf(service, 'scopes', 'orders:read');
  const without = await agent.visit(`${home}/${id}`);
  // What is not ticked is not sent.
  const unticked = {
    ...without,
    text: without.text
      .replace(/name="isDefault"[^>]*checked/, 'name="isDefault"')
      .replace(/(name="metadataPublish"[^>]*) checked/, '$1')
      .replace(/(name="isDefault"[^>]*) checked/, '$1'),
  };
  assert.match(wordsOf(await agent.submit(unticked, 'console-form', { consent: 'REQUIRED' })), /The scope is changed/);
  assert.equal(await discovered(), false);
  assert.equal((await tokenOf(service, client, { scope: 'orders:read' })).error, 'invalid_scope', 'nobody can be asked');
  const { before, after } = (await eventOf(service, 'oauth2.scope.updated')).debugContext;
  assert.deepEqual([before.consent, after.consent], ['IMPLICIT', 'REQUIRED']);

  const standard = await partOf(service, 'scopes', 'openid');
  const form = await agent.visit(`${home}/${standard.id}`);
  assert.doesNotMatch(form.text, /name="(name|consent)"/);
  assert.match(wordsOf(await agent.submit(form, 'console-form', { displayName: 'Sign in' })), /openid Sign in Never ask/);
  assert.equal((await fill(agent, `${home}/${standard.id}/delete`)).status, 400);

  await service.api('POST', '/authorizationServers/orders/claims', {
    name: 'region',
    claimType: 'RESOURCE',
    valueType: 'STATIC',
    value: 'x',
    conditions: { scopes: ['orders:read'] },
  });
  assert.match(wordsOf(await fill(agent, `${home}/${id}/delete`)), /is used in conditions: claim region/i);
  await service.api('DELETE', `/authorizationServers/orders/claims/${(await partOf(service, 'claims', 'region')).id}`);
  assert.match(wordsOf(await fill(agent, `${home}/${id}/delete`)), /The scope is deleted/);
  assert.equal((await agent.visit(`${home}/${id}`)).status, 404);
});

test('a claim of each kind is created with its own fields, and stands in the token', async (t) => {
  const service = await startService(t);
  await createServer(service);
  const { agent } = await enter(service);
  const client = await createClient(service, MACHINE);
  const user = await service.createUser({ department: 'Sales & more' });
  for (const name of ['team-red', 'team-blue', 'other']) {
    const { body: group } = await service.api('POST', '/groups', { profile: { name } });
    await service.api('PUT', `/groups/${group.id}/users/${user.id}`);
  }
  const { body: org } = await service.api('POST', '/account/org', { orgName: 'Acme' });
  const { body: dep } = await service.api('POST', `/account/org/${org.orgId}/department`, { name: 'Support' });
  await service.api('PUT', `/account/org/${org.orgId}/member/${user.id}`, { depId: dep.depId });
  const home = `${HOME}/orders/claims`;
  const choice = await agent.visit(`${home}/new`);
  for (const kind of ['USER_ATTRIBUTE', 'GROUPS', 'ORGANIZATION', 'DEPARTMENT', 'STATIC'])
    assert.match(choice.text, new RegExp(`href="${home}/new/${kind}"`));
  assert.equal((await agent.visit(`${home}/new/SOMETHING`)).status, 404);
  assert.doesNotMatch((await agent.visit(`${home}/new/STATIC`)).text, /groupFilterType/);

  await fill(agent, `${home}/new/USER_ATTRIBUTE`, { name: 'dep', value: 'department' });
  const pattern = await fill(agent, `${home}/new/GROUPS`, { name: 'teams', groupFilterType: 'REGEX', value: '(a' });
  assert.match(problemOf(pattern, 'value') ?? '', /parentheses/);
  assert.match(
    wordsOf(await agent.submit(pattern, 'console-form', { groupFilterType: 'STARTS_WITH', value: 'team-' })),
    /Groups whose name begins with “team-”/,
  );
  await fill(agent, `${home}/new/ORGANIZATION`, { name: 'orgs', value: 'name' });
  await fill(agent, `${home}/new/DEPARTMENT`, { name: 'deps', value: 'name' });
  await fill(agent, `${home}/new/STATIC`, { name: 'region', value: ' eu ', scopes: ['email'] });
  assert.match(problemOf(await fill(agent, `${home}/new/STATIC`, { name: 'sub', value: 'x' }), 'name') ?? '', /protocol/);
  const typed = await fill(agent, `${home}/new/STATIC`, { name: 'powers', value: 'read', valueFormat: 'JSON' });
  assert.match(problemOf(typed, 'value') ?? '', /a list like/);
  await agent.submit(typed, 'console-form', { value: '["read", "write"]' });
  assert.match(problemOf(await fill(agent, `${home}/new/STATIC`, { name: 'region', value: 'x' }), 'name') ?? '', /^Another claim/);

  const asUser = { grant_type: 'password', username: user.login, password: user.password };
  const token = await tokenOf(service, client, { ...asUser, scope: 'profile' });
  assert.deepEqual(
    [token.dep, token.teams, token.orgs, token.deps, token.region, token.powers],
    ['Sales & more', ['team-blue', 'team-red'], ['Acme'], ['Support'], undefined, ['read', 'write']],
  );
  assert.equal((await tokenOf(service, client, { ...asUser, scope: 'email' })).region, ' eu ', 'its spaces are meant');

  const { id } = await partOf(service, 'claims', 'region');
  const edited = await fill(agent, `${home}/${id}`, { place: 'userinfo', scopes: [] });
  assert.match(wordsOf(edited), /The claim is changed.*region Userinfo “ eu ” All Active/);
  const { claimType, alwaysIncludeInToken } = await partOf(service, 'claims', 'region');
  assert.deepEqual([claimType, alwaysIncludeInToken], ['IDENTITY', false]);
  assert.match(wordsOf(await fill(agent, `${home}/${id}/delete`)), /The claim is deleted/);
  assert.equal((await eventOf(service, 'oauth2.claim.deleted')).actor.displayName, 'admin');
});

test('policies and rules are created, moved, put out of force and deleted, and decide who gets a token', async (t) => {
  const service = await startService(t);
  await createServer(service);
  const { agent } = await enter(service);
  const [client, other] = [await createClient(service, MACHINE), await createClient(service, MACHINE)];
  const [user, stranger] = [await service.createUser(), await service.createUser()];
  const { body: group } = await service.api('POST', '/groups', { profile: { name: 'Staff "A"' } });
  await service.api('PUT', `/groups/${group.id}/users/${user.id}`);
  const home = `${HOME}/orders/policies`;
  const ask = (who: TestClient, person?: typeof user, scope = 'profile') =>
    tokenOf(service, who, { scope, ...(person && { grant_type: 'password', username: person.login, password: person.password }) });

  const unknown = await fill(agent, `${home}/new`, { name: 'Ours', for: 'some', clients: 'no-such-application' });
  assert.match(problemOf(unknown, 'clients') ?? '', /“no-such-application” is not the name or client ID/);
  const ambiguous = await agent.submit(unknown, 'console-form', { clients: 'Test application' });
  assert.match(problemOf(ambiguous, 'clients') ?? '', /several applications have the name “Test application”/i);
  const created = await agent.submit(ambiguous, 'console-form', { clients: `${client.clientId}\r\n` });
  assert.match(wordsOf(created), /The access policy is created.*For Test application.*No rules, so its applications/);
  const address = created.url.pathname;
  assert.match(
    wordsOf(await fill(agent, `${HOME}/orders/policies/new`, { name: 'Ours' })),
    /Another policy of this authorization server has this name. Choose another name/,
  );

  assert.equal((await ask(client)).scope, 'profile', 'the first policy, for all, decides');
  const list = await agent.visit(home);
  const [, up = ''] = new RegExp(`<form method="post" id="(press-\\d+-\\d+)" action="${address}/move">`).exec(list.text) ?? [];
  assert.match(list.text, new RegExp(`<button[^>]* form="${up}" name="place" value="1"><svg[\\s\\S]*?</svg>Move up`));
  assert.match(wordsOf(await agent.submit(list, up, { place: '1' })), /has its new place.*Ours 1 .*Everything 2/);
  await fill(agent, `${address}/move`, { place: '2' });
  assert.match(wordsOf(await fill(agent, `${address}/move`, { place: '1' })), /Ours 1 .*Everything 2/);
  assert.equal((await ask(client)).error, 'access_denied', 'the policy without a rule decides now');
  assert.equal((await ask(other)).scope, 'profile');
  const { debugContext } = await eventOf(service, 'policy.lifecycle.update');
  assert.deepEqual([debugContext.before.priority, debugContext.after.priority], [2, 1]);

  const wrong = await fill(agent, `${address}/rules/new`, {
    name: 'Staff',
    people: 'some',
    users: 'nobody',
    groups: 'Staff',
    refreshTokenLifetimeMinutes: '5',
    refreshTokenWindowMinutes: '6',
  });
  assert.match(problemOf(wrong, 'refreshTokenWindowMinutes') ?? '', /^Must not be longer/);
  const people = await agent.submit(wrong, 'console-form', { refreshTokenWindowMinutes: '' });
  assert.match(problemOf(people, 'users') ?? '', /“nobody” is not the user name/);
  const named = await agent.submit(people, 'console-form', { users: '' });
  assert.match(problemOf(named, 'groups') ?? '', /“Staff” is not the name of a group/);
  const ruled = await agent.submit(named, 'console-form', {
    groups: 'Staff "A"',
    accessTokenLifetimeMinutes: '7',
    scopesFor: 'some',
    scopes: ['profile'],
  });
  assert.match(
    wordsOf(ruled),
    /The rule is created.*Staff 1 members of “Staff "A"”; all grants; scopes: profile access 7 minutes, refresh 5 minutes Active/,
  );
  assert.equal((await ask(client, user)).seconds, 420);
  assert.equal((await ask(client, stranger)).error, 'access_denied');
  assert.equal((await ask(client, user, 'email')).error, 'access_denied');

  await fill(agent, `${address}/rules/new`, { name: 'All', grants: 'some', grantTypes: ['password'] });
  assert.equal((await ask(client, stranger)).scope, 'profile');
  assert.equal((await ask(client)).error, 'access_denied');
  const rules = `policies/${address.split('/').at(-1)}/rules`;
  const all = (await partOf(service, rules, 'All')).id;
  await fill(agent, `${address}/rules/${all}/move`, { place: '1' });
  assert.equal((await ask(client, user)).seconds, 3600, 'the rule for all is the first now');
  assert.match(wordsOf(await fill(agent, `${address}/rules/${all}/deactivate`)), /The rule is deactivated.*All 1 .*Inactive/);
  assert.equal((await ask(client, stranger)).error, 'access_denied');
  await fill(agent, `${address}/rules/${all}/activate`);
  assert.equal((await ask(client, stranger)).scope, 'profile');
  const staff = (await partOf(service, rules, 'Staff')).id;
  const form = await agent.visit(`${address}/rules/${staff}`);
  assert.match(form.text, new RegExp(`name="groups" type="checkbox" value="${group.id}" checked>\\s*<label[^>]*><bdi>Staff &#34;A&#34;`));
  await agent.submit(form, 'console-form', { users: user.login, groups: '' });
  assert.deepEqual((await partOf(service, rules, 'Staff')).conditions.people, { users: { include: [user.id] }, groups: { include: [] } });
  const acting = await fill(agent, `${address}/rules/new`, { name: 'Acting', actorsFor: 'any' });
  assert.match(wordsOf(acting), /Acting 3 everyone; all grants; all scopes ; any actor/);
  const acts = (await partOf(service, rules, 'Acting')).id;
  await fill(agent, `${address}/rules/${acts}`, { actorsFor: 'some', actors: client.clientId });
  assert.deepEqual((await partOf(service, rules, 'Acting')).conditions, { actors: { include: [client.clientId] } });
  assert.match(wordsOf(await agent.visit(`${address}/rules/${all}/delete`)), /are then decided by 2 rules after it\./);
  await fill(agent, `${address}/rules/${acts}/deactivate`);
  assert.match(wordsOf(await agent.visit(`${address}/rules/${all}/delete`)), /are then decided by 1 rule after it\./, 'active ones');
  await fill(agent, `${address}/rules/${acts}/delete`);
  assert.match(wordsOf(await fill(agent, `${address}/rules/${all}/delete`)), /The rule is deleted/);
  assert.equal((await ask(client, stranger)).error, 'access_denied');

  const edited = await fill(agent, `${address}/edit`, { for: 'all', description: 'For <everyone>' });
  assert.match(wordsOf(edited), /For &lt;everyone&gt;.*For All applications/);
  assert.equal((await ask(other)).error, 'access_denied');
  await fill(agent, `${address}/deactivate`);
  assert.equal((await ask(other)).scope, 'profile');
  await fill(agent, `${address}/activate`);
  assert.match(wordsOf(await fill(agent, `${address}/delete`)), /The access policy is deleted with its rules/);
  assert.equal((await ask(other)).scope, 'profile');
  assert.equal((await eventOf(service, 'policy.lifecycle.delete')).actor.displayName, 'admin');
});

test('keys are rotated once by a form that is sent twice; the new one signs, the one before stays published', async (t) => {
  const service = await startService(t);
  await createServer(service);
  const { agent } = await enter(service);
  const kids = async () => ((await documentOf(service, '/keys')).keys as { kid: string }[]).map(({ kid }) => kid);
  const before = (await service.api('GET', '/authorizationServers/orders/credentials/keys')).body;
  const page = await agent.visit(`${HOME}/orders/keys`);
  assert.match(wordsOf(page), /Next rotation \d+ \w+ \d{4}.*Signs ES256.*Announced, signs next ES256/);
  const form = await agent.visit(`${HOME}/orders/keys/rotate`);
  await agent.submit(form, 'console-form');
  const after = await agent.submit(form, 'console-form');
  assert.match(wordsOf(after), /The keys are rotated.*Retired, verifies what it signed/);
  const now = (await service.api('GET', '/authorizationServers/orders/credentials/keys')).body;
  const curve = (keys: readonly { kid: string; alg: string }[]) => keys.filter(({ alg }) => alg === 'ES256').map(({ kid }) => kid);
  assert.equal(curve(now).length, 3);
  const [active, next] = curve(before);
  assert.deepEqual([curve(now)[0], curve(now).at(-1)], [next, active]);
  for (const { kid } of now) assert.ok((await kids()).includes(kid));
  assert.equal(
    (await agent.submit({ ...form, text: form.text.replace(/name="key" value="[^"]*"/, 'name="key" value=""') }, 'console-form')).status,
    400,
  );
});

test('a read-only administrator sees all of it and no way to change it', async (t) => {
  const service = await startService(t);
  await createServer(service);
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  const policy = await partOf(service, 'policies', 'Everything');
  for (const path of [
    '',
    '/orders',
    '/orders/scopes',
    '/orders/claims',
    '/orders/policies',
    `/orders/policies/${policy.id}`,
    '/orders/keys',
    '/orders/simulator',
  ]) {
    const page = await agent.visit(`${HOME}${path}`);
    assert.equal(page.status, 200, path);
    const content = page.text.slice(page.text.indexOf('<main'));
    assert.doesNotMatch(content, /\/(new|edit|delete|rotate|deactivate|activate|move)"|method="post"/, path);
  }
  assert.match((await agent.visit('/admin')).text, /Authorization servers/);
  const { body: org } = await service.api('POST', '/account/org', { orgName: 'Acme' });
  const { agent: bound } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', org.orgId));
  assert.doesNotMatch((await bound.visit('/admin')).text, /Authorization servers/);
});
