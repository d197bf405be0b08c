/** An organization's own name, logo and colours: on the pages where somebody signs in for it, on its invitations, and nowhere else. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startMailServer } from '../../support/mail.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const LOGO = 'https://cdn.acme.example/logo.svg';
const BRANDING = { name: 'Acme at work', logoUrl: LOGO, primaryColorHex: '#7a1f5c' };

async function start(t: TestContext, env: Readonly<Record<string, string>> = {}) {
  const service = await startService(t, { env, sendsOutbox: true });
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const organization = async (name: string): Promise<string> => (await ok('POST', `/account/org?orgName=${name}`)).orgId;
  const orgId = await organization('Acme');
  await ok('PUT', `/account/org/${orgId}/branding`, BRANDING);
  return { service, ok, organization, orgId };
}

/** What of a page shows whose it is. */
const brandOn = (html: string) => ({
  name: /<header class="brand">.*?<span>([^<]*)<\/span>/.exec(html)?.[1],
  title: /<title>.* – ([^<]*)<\/title>/.exec(html)?.[1],
  logo: /class="brand-logo" src="([^"]*)"/.exec(html)?.[1],
  light: /brand\.css\?light=([0-9a-f]{6})/.exec(html)?.[1],
});
const ACME = { name: 'Acme at work', title: 'Acme at work', logo: LOGO, light: '7a1f5c' };

test('a sign-in for the organization is in its brand, by ID and by name; others are in that of the service', async (t) => {
  const { service, ok, organization, orgId } = await start(t);
  await organization('Bolt');
  const client = await createClient(service, {});
  const coloured = await createClient(service, { brand_color: '#0b3d91' });
  const page = async (parameters: Record<string, string>, used = client) =>
    new UserAgent(service.baseUrl).visit(authorizeUrl(service, 'default', { client_id: used.clientId, ...parameters }));
  const own = brandOn((await page({})).text);
  assert.deepEqual([own.logo, own.light], [undefined, undefined]);
  for (const organization of [orgId, 'Acme']) {
    assert.deepEqual(brandOn((await page({ organization })).text), ACME);
    assert.deepEqual(brandOn((await page({ organization }, coloured)).text), ACME, 'before the colour of the application');
  }
  const named = async (organization: string) => (await page({ organization })).text.replaceAll(/[\w.-]{20,}/g, '');
  assert.deepEqual(brandOn(await named('Bolt')), own);
  assert.ok((await named('Bolt')) === (await named('Nobody')), 'an organization without a brand is as if it were not there');
  const { headers } = await page({ organization: orgId });
  assert.match(headers.get('content-security-policy') ?? '', /img-src[^;]*https:\/\/cdn\.acme\.example/);

  await ok('PUT', `/account/org/${orgId}/branding`, {});
  assert.deepEqual(brandOn((await page({ organization: orgId })).text), own);
});

test('who chooses the organization sees its brand from then on', async (t) => {
  const { service, ok, organization, orgId } = await start(t);
  const other = await organization('Bolt');
  const user = await service.createUser();
  for (const id of [other, orgId]) await ok('PUT', `/account/org/${id}/member/${user.id}`, {});
  await ok('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
  await ok('POST', '/authorizationServers/default/scopes', { name: 'orders', consent: 'REQUIRED' });
  const client = await createClient(service, { organization: 'REQUIRED', consent_method: 'REQUIRED' });
  for (const chosen of [orgId, other]) {
    const browser = new UserAgent(service.baseUrl);
    const choice = await browser.signIn(
      await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, scope: 'openid orders', prompt: 'consent' })),
      user,
    );
    assert.notEqual(brandOn(choice.text).name, ACME.name);
    const consent = await browser.submit(choice, 'choose-organization', { organization: chosen });
    assert.match(consent.text, /<form id="consent/);
    assert.equal(brandOn(consent.text).logo, chosen === orgId ? LOGO : undefined);
    await browser.submit(consent, 'consent', { decision: 'allow' });
    // Once more, with the choice that the session remembers.
    const again = await browser.visit(
      authorizeUrl(service, 'default', { client_id: client.clientId, scope: 'openid orders', prompt: 'consent' }),
    );
    assert.match(again.text, /<form id="consent/);
    assert.equal(brandOn(again.text).logo, chosen === orgId ? LOGO : undefined);
  }
});

test('an invitation and its page are in the organization’s brand, in the service’s sender name', async (t) => {
  const server = await startMailServer(t);
  const { service, ok, orgId } = await start(t, server.env);
  await ok('PUT', '/settings/branding', { name: 'Gatehouse Cloud' });
  await ok('POST', `/account/org/${orgId}/invitation`, { email: 'ada@example.com' });
  const mail = await server.mail('ada@example.com');
  assert.match(mail.html, /<bdi>Acme at work<\/bdi>/);
  assert.ok(mail.html.includes(LOGO) && mail.html.includes('#7a1f5c'));
  assert.match(mail.headers.get('from') ?? '', /Gatehouse Cloud/);
  assert.deepEqual(brandOn((await new UserAgent(service.baseUrl).visit(mail.link)).text), ACME);
});

test('what could not be read, or is no picture of the web, is refused as for the service', async (t) => {
  const { service, ok, orgId } = await start(t);
  const path = `/account/org/${orgId}/branding`;
  for (const [field, value] of [
    ['primaryColorHex', '#ffff00'],
    ['primaryColorDarkHex', '#222222'],
    ['primaryColorHex', 'red;}body{display:none'],
    ['logoUrl', 'http://cdn.acme.example/logo.svg'],
    ['logoUrl', 'javascript:alert(1)'],
    ['name', ''],
    ['name', 'x'.repeat(101)],
    ['name', 'Acme\u202egro'],
    ['css', { version: 1 }],
  ] as const) {
    const { status, body } = await service.api('PUT', path, { [field]: value });
    assert.equal(status, 400, `${field} ${JSON.stringify(value)}`);
    assert.ok(JSON.stringify(body).includes(field), JSON.stringify(body));
  }
  assert.deepEqual(await ok('GET', path), { ...BRANDING, primaryColorDarkHex: null });
});
