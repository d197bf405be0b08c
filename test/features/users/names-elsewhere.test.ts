/**
 * The walls between organizations at names that all of them share: user names, e-mail addresses, unique values and the domains of providers. What belongs to
 * somebody elsewhere is refused in one way, and only so often that nobody can search by it (docs/decisions/0012).
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createAdministrator, createOrganization, createToken, enter, wordsOf } from '../../pages/console/administrators.ts';
import { startDns } from '../../support/dns.ts';
import { eventually } from '../../support/process.ts';
import { scimClient, USER } from '../../support/scim.ts';
import { type Service, startService } from '../../support/service.ts';
import { connect, verifyDomainOf } from '../../support/tenants.ts';

const MOST = 20;
const NOT_AVAILABLE = 'is not available. Choose another one, or invite the user to the organization';

interface Told {
  readonly status: number;
  readonly causes: readonly string[];
}

/** An administrator of an organization, by every way in. */
async function administratorOf(service: Service, orgId: string) {
  const { agent } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', orgId));
  const { token } = await createToken(agent, 'own');
  const scim = await scimClient(service, orgId);
  const api = async (method: string, path: string, body: object): Promise<Told & { readonly id: string }> => {
    const headers = { authorization: `SSWS ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.baseUrl}/api/v1${path}`, { method, headers, body: JSON.stringify(body) });
    const { errorCauses = [], id } = (await answer.json()) as { errorCauses?: { errorSummary: string }[]; id: string };
    return { status: answer.status, id, causes: errorCauses.map(({ errorSummary }) => errorSummary) };
  };
  return {
    api,
    create: (profile: object) => api('POST', '/users', { profile, orgId }),
    async byScim(userName: string): Promise<Told> {
      const { status, body } = await scim.call('POST', '/Users', { schemas: [USER], userName });
      return { status, causes: [String(body.detail)] };
    },
    async byConsole(login: string): Promise<Told> {
      const page = await agent.submit(await agent.visit('/admin/users/new'), 'console-form', { login, way: 'later', orgId });
      return { status: page.status, causes: [wordsOf(page)] };
    },
  };
}

async function twoOrganizations(t: TestContext) {
  const dns = await startDns();
  t.after(() => dns.close());
  const service = await startService(t, { env: { DNS_SERVERS: dns.server, ALLOW_PRIVATE_NETWORK: 'true' } });
  const [own, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  return { dns, service, own, other, administrator: await administratorOf(service, own) };
}

test('wall: what belongs to somebody elsewhere is refused in one way, whatever it is and whoever has it', async (t) => {
  const { dns, service, own, other, administrator } = await twoOrganizations(t);
  const { create } = administrator;
  const badge = { type: 'string', title: 'Badge', unique: 'UNIQUE_VALIDATED' };
  const schema = await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties: { badge } } } });
  assert.equal(schema.status, 200, JSON.stringify(schema.body));
  const victim = { login: 'victim', email: 'victim@other.example', badge: 'B7' };
  assert.equal((await service.api('POST', '/users', { profile: victim, orgId: other })).status, 200);
  const settings = { issuer: { url: 'https://idp.example' }, credentials: { client: { client_id: 'gatehouse', client_secret: 'known' } } };
  const { body: idp } = await service.api('POST', '/idps', { name: 'Theirs', type: 'OIDC', protocol: settings });
  await verifyDomainOf(service, dns, other, 'connected.example');
  await connect(service, other, idp.id, { domains: ['connected.example'] });
  const colleague = await create({ login: 'colleague', email: 'colleague@own.example', badge: 'B8' });
  assert.equal(colleague.status, 200, colleague.causes.join());

  for (const [profile, field] of [
    [{ login: 'VICTIM' }, 'login'],
    [{ login: 'victim@other.example' }, 'login'],
    [{ login: 'a', email: 'victim@other.example' }, 'email'],
    [{ login: 'anybody@connected.example' }, 'login'],
    [{ login: 'b', email: 'anybody@connected.example' }, 'email'],
    [{ login: 'c', badge: 'b7' }, 'badge'],
  ] as const) {
    const { status, causes } = await create(profile);
    assert.deepEqual([status, causes], [409, [`profile.${field}: ${NOT_AVAILABLE}`]], JSON.stringify(profile));
  }
  const renamed = await administrator.api('POST', `/users/${colleague.id}`, { profile: { login: 'victim' } });
  assert.deepEqual(renamed.causes, [`profile.login: ${NOT_AVAILABLE}`]);

  const within = await create({ login: 'Colleague' });
  assert.deepEqual(within.causes, ['profile.login: another user has this user name. Choose another one'], 'of the own they know');
  const badgeWithin = await create({ login: 'e', badge: 'b8' });
  assert.deepEqual(badgeWithin.causes, ['profile.badge: another user has this value. Choose another one'], 'and of their values');
  await verifyDomainOf(service, dns, own, 'other.example');
  const ofDomain = await create({ login: 'd', email: 'victim@other.example' });
  assert.deepEqual(
    ofDomain.causes,
    ['profile.email: another user has this e-mail address. Choose another one'],
    'and of their verified domain',
  );
});

test('wall: who tries names learns of twenty an hour, by API, SCIM and console together, and then not even which are free', async (t) => {
  const { dns, service, own, other, administrator } = await twoOrganizations(t);
  const { create, byScim, byConsole } = administrator;
  const elsewhere = await administratorOf(service, other);
  await verifyDomainOf(service, dns, own, 'own.example');
  assert.equal((await elsewhere.create({ login: 'victim' })).status, 200);
  const colleague = await create({ login: 'colleague' });
  for (let times = 0; times < MOST; times += 1)
    assert.equal((await create({ login: 'colleague' })).status, 409, 'of the own nothing is counted');

  for (let times = 0; times < MOST; times += 1) {
    const told = await [create.bind(null, { login: 'victim' }), () => byScim('victim'), () => byConsole('victim')][times % 3]?.();
    assert.ok(told?.status === 409 || told?.status === 400, `${times}: ${told?.status}`);
    assert.match(told.causes.join(), /is not available/i);
  }
  for (const login of ['victim', 'nobody-yet']) {
    for (const told of [await create({ login }), await byScim(login), await byConsole(login)]) {
      assert.ok(told.status === 429 || told.status === 400, `${login}: ${told.status}`);
      assert.match(told.causes.join(), /too many names were not available recently/i, login);
    }
  }
  assert.equal((await administrator.api('POST', `/users/${colleague.id}`, { profile: { login: 'nobody-yet' } })).status, 429);
  assert.equal((await administrator.api('POST', `/users/${colleague.id}`, { profile: { firstName: 'Ada' } })).status, 200);
  assert.equal((await create({ login: 'new@own.example', email: 'new@own.example' })).status, 200, 'of the own domain as ever');
  assert.equal((await elsewhere.create({ login: 'colleague' })).status, 409);
  assert.equal((await elsewhere.create({ login: 'nobody-yet' })).status, 200, 'nor does it concern another organization');

  const { body: events } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "security.request.blocked"')}`);
  assert.deepEqual(
    events.map((event: { actor: object; outcome: object; target: { id: string; type: string }[] }) => [
      event.outcome,
      event.target.map(({ id, type }) => [type, id]),
    ]),
    [[{ result: 'FAILURE', reason: 'TOO_MANY_NAMES_TAKEN' }, [['Organization', own]]]],
    'recorded once',
  );
  assert.notEqual(events[0].actor.id, 'unknown', 'with who did it');
});

test('wall: a CSV file of names tells no more of them', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const [own, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  const names = Array.from({ length: 60 }, (_, n) => `victim-${n}`);
  for (const login of names) assert.equal((await service.api('POST', '/users', { profile: { login }, orgId: other })).status, 200);
  const { agent } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', own));
  const form = await agent.visit('/admin/users/import');
  const body = new FormData();
  body.set('csrf', /name="csrf" value="([^"]*)"/.exec(form.text)?.[1] ?? '');
  body.set('file', new Blob([['login,orgId', ...[...names, 'nobody-yet'].map((login) => `${login},${own}`)].join('\n')]), 'users.csv');
  const confirm = await agent.visit('/admin/users/import', { method: 'POST', body, headers: { origin: service.baseUrl } });
  const { url } = await agent.submit(confirm, 'console-form');
  await eventually(async () => !/data-running/.test((await agent.visit(url.pathname)).text) || undefined, 'the job ends');
  const reasons = (await agent.visit(`${url.pathname}/download`)).text.trim().split('\n').slice(1);
  const told = reasons.filter((line) => /is not available/.test(line)).length;
  // Rows that are under way together are all told.
  assert.ok(told >= MOST && told < MOST + 10, `${told}\n${reasons.join('\n')}`);
  assert.match(reasons.at(-1) ?? '', /^61,nobody-yet,REFUSED,.*too many names were not available/);
  assert.equal(reasons.length, names.length + 1);
});
