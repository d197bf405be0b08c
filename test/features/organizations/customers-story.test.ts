/**
 * A product that is sold to companies, as its first customers see it: one with passwords, a brand and a stricter policy; one whose domain requires their own
 * provider; and one provider for two organizations, with a user in both.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, userinfo } from '../../protocol/servers/relying-party.ts';
import { startDns } from '../../support/dns.ts';
import { codeOf, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { connect, createOrg, verifyDomainOf } from '../../support/tenants.ts';
import { createIdp, idpBody, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { LINKING } from '../organization-providers/customers.ts';

const PASSWORD = 'a password that nobody guesses';
const BRAND = { name: 'Pine at work', primaryColorHex: '#7a1f5c' };

test('three customers, three ways to sign in, one application', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const mail = await startMailServer(t);
  const env = { ...mail.env, ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server };
  const service = await startService(t, { env, sendsOutbox: true });
  const upstream = await startUpstream(t);
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  // The vendor's side.
  await ok('PUT', '/settings/sign-in', { identifierFirst: true });
  const shop = await createClient(service, { organization: 'REQUIRED' });
  const pine = await createOrg(service, 'Pine');
  await ok('PUT', `/account/org/${pine}/branding`, BRAND);
  await ok('PUT', `/account/org/${pine}/policy`, { mfa: 'REQUIRED', sessionLifetimeHours: 8 });
  await ok('POST', `/account/org/${pine}/role`, { name: 'billing', permissions: [] });
  const acme = await createOrg(service, 'Acme');
  await verifyDomainOf(service, dns, acme, 'acme.example');
  const acmeLogin = await createIdp(service, { ...idpBody(upstream, LINKING), name: 'Acme Login' });
  const { depId } = await ok('POST', `/account/org/${acme}/department`, { name: 'New people' });
  await connect(service, acme, acmeLogin, { domains: ['acme.example'], mode: 'REQUIRED', defaultDepId: depId });
  const [beta, labs] = [await createOrg(service, 'Beta'), await createOrg(service, 'Beta Labs')];
  const betaLogin = await createIdp(service, { ...idpBody(upstream, LINKING), name: 'Beta Login' });
  for (const [orgId, domain] of [
    [beta, 'beta.example'],
    [labs, 'labs.example'],
  ] as const) {
    await verifyDomainOf(service, dns, orgId, domain);
    await connect(service, orgId, betaLogin, { domains: [domain], mode: 'REQUIRED' });
  }

  const request = (more: Record<string, string> = {}) =>
    authorizeUrl(service, 'default', { client_id: shop.clientId, scope: 'openid email offline_access organization', ...more });
  const begin = async (agent: UserAgent, username: string, more?: Record<string, string>) =>
    agent.submit(await agent.visit(request(more)), 'sign-in-form', { username });
  const atProvider = (agent: UserAgent, page: Page, subject: string, email: string) => {
    assert.ok(page.url.href.startsWith(upstream.issuer), page.text.slice(0, 300));
    upstream.behaviour.subject = subject;
    upstream.behaviour.claims = { email, email_verified: true };
    return throughUpstream(agent, page.url);
  };
  const tokensOn = async (page: Page) => {
    const { code = '' } = answerOf(page);
    const { body } = await post(service, 'default', 'token', shop, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    assert.ok(body.access_token, `${JSON.stringify(body)} ${page.text.slice(0, 500)}`);
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    return { access: body.access_token as string, refresh: body.refresh_token as string, claims };
  };
  const refresh = async (token: string) =>
    (await post(service, 'default', 'token', shop, { grant_type: 'refresh_token', refresh_token: token })).body;

  // Pine: an invitation with a role, a password, the brand, and the second factor that the policy requires.
  await ok('POST', `/account/org/${pine}/invitation`, { email: 'ada@pine.example', role: 'billing' });
  const invited = new UserAgent(service.baseUrl);
  const joining = await invited.visit((await mail.mail('ada@pine.example')).link);
  assert.ok(joining.text.includes(BRAND.name), 'the invitation is in the brand');
  assert.equal((await invited.submit(joining, 'create-form', { password: PASSWORD })).status, 200);
  const ada = new UserAgent(service.baseUrl);
  const named = await begin(ada, 'ada@pine.example', { organization: 'Pine' });
  assert.ok(named.text.includes(BRAND.name) && named.text.includes('7a1f5c'), 'and so is the sign-in');
  const factor = await ada.submit(named, 'sign-in-form', { username: 'ada@pine.example', password: PASSWORD });
  assert.match(factor.text, /Your organization requires two-step verification/);
  const codes = await ada.submit(factor, 'enroll-form', { passCode: codeOf(secretOn(factor)) });
  const atPine = await tokensOn(await ada.submit(codes, 'enrolled-form'));
  assert.deepEqual(
    [atPine.claims.org_id, atPine.claims.org_name, atPine.claims.org_roles, atPine.claims.acr],
    [pine, 'Pine', ['member', 'billing'], TWO_FACTORS],
  );

  // Acme: the domain leads to the provider, and its user is a member from the first sign-in on.
  const mia = new UserAgent(service.baseUrl);
  const atAcme = await tokensOn(await atProvider(mia, await begin(mia, 'mia@acme.example'), 'mia', 'mia@acme.example'));
  assert.deepEqual([atAcme.claims.org_id, atAcme.claims.org_roles, atAcme.claims.dep_id], [acme, ['member'], depId]);
  const miaId = atAcme.claims.sub as string;

  // Beta and Beta Labs: one provider, two domains, each to its organization; and a user of both, who chooses.
  const lea = new UserAgent(service.baseUrl);
  const atLabs = await tokensOn(await atProvider(lea, await begin(lea, 'lea@labs.example'), 'lea', 'lea@labs.example'));
  assert.equal(atLabs.claims.org_id, labs);
  const bob = new UserAgent(service.baseUrl);
  const first = await tokensOn(await atProvider(bob, await begin(bob, 'bob@beta.example'), 'bob', 'bob@beta.example'));
  assert.equal(first.claims.org_id, beta);
  await ok('PUT', `/account/org/${labs}/member/${first.claims.sub}`, {});
  const again = new UserAgent(service.baseUrl);
  const choice = await atProvider(again, await begin(again, 'bob@beta.example'), 'bob', 'bob@beta.example');
  assert.match(choice.text, /id="choose-organization"[\s\S]*Beta Labs/);
  assert.doesNotMatch(choice.text, /Acme|Pine/);
  const bobAtLabs = await tokensOn(await again.submit(choice, 'choose-organization', { organization: labs }));
  assert.deepEqual([bobAtLabs.claims.sub, bobAtLabs.claims.org_id, bobAtLabs.claims.org_name], [first.claims.sub, labs, 'Beta Labs']);

  // Who leaves a customer is out at once; nobody else notices.
  await ok('DELETE', `/account/org/${acme}/member/${miaId}`);
  assert.equal((await refresh(atAcme.refresh)).error, 'invalid_grant');
  assert.equal((await userinfo(service, 'default', atAcme.access)).status, 401);
  assert.equal((await post(service, 'default', 'introspect', shop, { token: atAcme.access })).body.active, false);
  assert.equal(answerOf(await mia.visit(request({ prompt: 'none' }))).error, 'access_denied');
  for (const { refresh: token } of [atPine, atLabs, bobAtLabs]) assert.ok((await refresh(token)).access_token);
});
