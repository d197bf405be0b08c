/** The link by which a customer's administrator sets up single sign-on, with a second Gatehouse as the customer's provider; all without script. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { startDns } from '../../support/dns.ts';
import { startService } from '../../support/service.ts';
import { createOrg, verifyDomainOf } from '../../support/tenants.ts';
import { followRefresh, isAdmitted } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

async function start(t: TestContext) {
  const dns = await startDns();
  t.after(() => dns.close());
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server } });
  const orgId = await createOrg(service, 'Acme');
  const make = async (mode: string): Promise<string> => {
    const { status, body } = await service.api('POST', `/account/org/${orgId}/setup`, { mode });
    assert.equal(status, 200, JSON.stringify(body));
    return body.link;
  };
  return { dns, service, orgId, make };
}

const fieldIn = ({ text }: Page, id: string): string => new RegExp(`id="${id}">([^<]*)<`).exec(text)?.[1] ?? assert.fail(text);

test('a customer’s administrator sets up domain, provider and sign-in, without an account here', async (t) => {
  const { dns, service, orgId, make } = await start(t);
  const upper = await startService(t);
  const ada = await upper.createUser({ email: 'ada@acme.example', emailVerified: true });
  const stranger = await upper.createUser({ email: 'eve@elsewhere.example', emailVerified: true });
  const link = await make('REQUIRED');

  const agent = new UserAgent(service.baseUrl);
  const first = await agent.visit(link);
  assert.match(first.text, /Set up sign-in for Acme/);
  const typing = await agent.submit(first, 'setup-form');
  assert.match(typing.text, /Step 1 of 3/);
  const wrong = await agent.submit(typing, 'setup-form', { domain: 'co.uk' });
  assert.deepEqual([wrong.status, /Enter a domain of your own/.test(wrong.text)], [400, true]);
  const proof = await agent.submit(wrong, 'setup-form', { domain: 'Acme.example' });
  const missing = await agent.submit(proof, 'setup-form', { step: 'proof' });
  assert.match(missing.text, /The record was not found/);
  dns.records.set(fieldIn(missing, 'record-name'), [fieldIn(missing, 'record-value')]);
  const asking = await agent.submit(missing, 'setup-form', { step: 'proof' });
  assert.match(asking.text, /Step 2 of 3/);

  const redirectUri = fieldIn(asking, 'redirect-uri');
  const { clientId, clientSecret = '' } = await upper.createApp({ redirect_uris: [redirectUri] });
  const typed = { 'client-id': clientId, 'client-secret': clientSecret };
  const refused = await agent.submit(asking, 'setup-form', { issuer: 'http://not secure', ...typed });
  assert.equal(refused.status, 400);
  const ready = await agent.submit(refused, 'setup-form', { issuer: upper.issuer('default'), ...typed });
  assert.match(ready.text, /Step 3 of 3[\s\S]*can sign in only this way/);

  /** Goes through the provider. */
  const tryIt = async (page: Page, user: typeof ada): Promise<Page> => {
    const between = await agent.submit(page, 'setup-form', { step: 'test' });
    const out = (between.headers.get('refresh') ?? '').replace(/^0;url=/, '');
    const there = new UserAgent(upper.baseUrl);
    const { url } = await there.signIn(await there.visit(out), user);
    return followRefresh(agent, await agent.visit(url));
  };
  const general = await new UserAgent(service.baseUrl).visit('/signin');
  assert.doesNotMatch(general.text, /upstream\//, 'the provider is no general offer');
  const foreign = await tryIt(ready, stranger);
  assert.match(foreign.text, /not an address of acme\.example/);
  assert.deepEqual((await service.api('GET', `/account/org/${orgId}/idp`)).body[0].domains, [], 'nothing is led there yet');
  const done = await tryIt(await agent.visit('/setup'), ada);
  assert.match(done.text, /It works/);
  assert.equal((await agent.visit('/setup')).status, 410, 'the link is used up');
  assert.equal((await new UserAgent(service.baseUrl).visit(link)).status, 410);

  const [connected] = (await service.api('GET', `/account/org/${orgId}/idp`)).body;
  assert.deepEqual([connected.mode, connected.domains, connected.autoJoin], ['REQUIRED', ['acme.example'], true]);
  assert.equal((await service.api('GET', '/users/ada@acme.example')).status, 404, 'trying made no account');
  const { clientId: shop } = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const out = await browser.visit(authorizeUrl(service, 'default', { client_id: shop, login_hint: 'ada@acme.example' }));
  const there = new UserAgent(upper.baseUrl);
  const { url } = await there.signIn(await there.visit(out.url), ada);
  assert.ok(isAdmitted(await followRefresh(browser, await browser.visit(url))));
  const types = (await service.api('GET', `/logs?filter=${encodeURIComponent(`target.id eq "${orgId}"`)}`)).body.map(
    ({ eventType }: { eventType: string }) => eventType,
  );
  for (const type of ['create', 'begin', 'complete']) assert.ok(types.includes(`org.setup.${type}`), type);
});

test('a set-up link: the first browser has it, the next link ends it, it expires, and it reaches one organization', async (t) => {
  const { dns, service, orgId, make } = await start(t);
  const link = await make('OFFERED');
  const status = async () => (await service.api('GET', `/account/org/${orgId}/setup`)).body.status;
  const browsers = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
  const pages = await Promise.all(browsers.map((browser) => browser.visit(link)));
  assert.equal(await status(), 'SENT', 'looking changes nothing');
  const begun = await Promise.all(browsers.map((browser, turn) => browser.submit(pages[turn] ?? assert.fail(), 'setup-form')));
  assert.deepEqual(begun.map((page) => page.status).sort(), [200, 410], 'of two at once one begins');
  assert.equal(await status(), 'BEGUN');
  assert.equal((await new UserAgent(service.baseUrl).visit(link)).status, 410);
  assert.equal((await new UserAgent(service.baseUrl).visit('/setup')).status, 410);
  const turn = begun.findIndex((page) => page.status === 200);
  const [own, page] = [browsers[turn] ?? assert.fail(), begun[turn] ?? assert.fail()];

  // A domain that another organization has is told after the proof alone.
  const other = await createOrg(service, 'Beta');
  await verifyDomainOf(service, dns, other, 'beta.example');
  const claimed = await own.submit(page, 'setup-form', { domain: 'beta.example' });
  assert.equal(claimed.status, 200);
  dns.records.set(fieldIn(claimed, 'record-name'), [fieldIn(claimed, 'record-value')]);
  const taken = await own.submit(claimed, 'setup-form', { step: 'proof' });
  assert.match(taken.text, /Another organization already uses this domain/);
  assert.match((await own.submit(taken, 'other-domain-form', { step: 'other-domain' })).text, /id="domain"/);

  const next = await make('OFFERED');
  assert.equal((await own.visit('/setup')).status, 410, 'another link was made');
  assert.equal((await service.api('DELETE', `/account/org/${orgId}/setup`)).status, 204);
  assert.equal((await own.visit(next)).status, 410, 'revoked');
  const last = await make('OFFERED');
  assert.equal((await own.visit(last)).status, 200);
  moveClock(t, 7 * 86_400 + 1);
  assert.equal((await own.visit(last)).status, 410, 'expired');
});

test('a set-up link ends with the rights of its maker, counts its steps, and changes no provider that is used otherwise', async (t) => {
  const { dns, service, orgId } = await start(t);
  const maker = await service.createUser();
  await service.api('POST', `/users/${maker.id}/roles`, { type: 'SUPER_ADMIN' });
  await service.api('POST', `/users/${maker.id}`, { credentials: { password: { value: maker.password } } });
  const console = new UserAgent(service.baseUrl);
  await console.signIn(await console.visit('/signin'), maker);
  const form = await console.visit(`/admin/organizations/${orgId}/setup-link`);
  const made = await console.submit(form, 'console-form', { mode: 'OFFERED' });
  const link = /http[^"<\s]+\/setup\/[\w-]+/.exec(made.text)?.[0] ?? assert.fail(made.text);

  const agent = new UserAgent(service.baseUrl);
  const begin = await agent.visit(link);
  await service.api('POST', `/users/${maker.id}/lifecycle/suspend`);
  assert.equal((await agent.submit(begin, 'setup-form')).status, 410, 'not while its maker is suspended');
  await service.api('POST', `/users/${maker.id}/lifecycle/unsuspend`);
  const typing = await agent.submit(await agent.visit(link), 'setup-form');
  const proof = await agent.submit(typing, 'setup-form', { domain: 'acme.example' });
  dns.records.set(fieldIn(proof, 'record-name'), [fieldIn(proof, 'record-value')]);
  const asking = await agent.submit(proof, 'setup-form', { step: 'proof' });
  const typed = { issuer: 'https://idp.acme.example', 'client-id': 'gatehouse', 'client-secret': 'known to the provider' };
  const ready = await agent.submit(asking, 'setup-form', typed);
  assert.match(ready.text, /Step 3 of 3/);

  // An administrator uses the provider for another customer, too.
  const other = await createOrg(service, 'Beta');
  const [{ idpId }] = (await service.api('GET', `/account/org/${orgId}/idp`)).body;
  await service.api('PUT', `/account/org/${other}/idp/${idpId}`, { domains: [] });
  const changed = await agent.submit(await agent.visit('/setup?change='), 'setup-form', { ...typed, issuer: 'https://evil.example' });
  assert.equal(changed.status, 400);
  assert.equal((await service.api('GET', `/idps/${idpId}`)).body.protocol.issuer.url, typed.issuer);

  let last = await agent.visit('/setup?change=');
  for (let turn = 0; turn < 60 && last.status !== 429; turn += 1)
    last = await agent.submit(await agent.visit('/setup?change='), 'setup-form', { ...typed, issuer: '' });
  assert.equal(last.status, 429);

  const [role] = (await service.api('GET', `/users/${maker.id}/roles`)).body;
  assert.equal((await service.api('DELETE', `/users/${maker.id}/roles/${role.id}`)).status, 204);
  assert.equal((await agent.visit('/setup')).status, 410, 'its maker may make none any more');
});
