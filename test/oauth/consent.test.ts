/** Consent at the authorize endpoint (OpenID Connect Core section 3.1.2.4), by the settings of application and scope. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { serviceWithConsents } from '../support/consents.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from './relying-party.ts';

const isDialog = (page: Page): boolean => page.text.includes('id="consent"');
const arrived = (page: Page): boolean => page.url.href.startsWith(CALLBACK);

test('the dialog by consent method, scope and prompt', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const trusted = await createClient(service, { consent_method: 'TRUSTED' });
  const asking = await createClient(service, { consent_method: 'REQUIRED' });
  const rows: [string, string, string, string | undefined, boolean][] = [
    ['trusted, required scope', trusted.clientId, 'openid email', undefined, false],
    ['trusted, required scope, prompt=consent', trusted.clientId, 'openid email', 'consent', true],
    ['trusted, flexible scope, prompt=consent', trusted.clientId, 'openid phone', 'consent', true],
    ['trusted, implicit scope, prompt=consent', trusted.clientId, 'openid profile', 'consent', false],
    ['asking, implicit scope', asking.clientId, 'openid profile', undefined, false],
    ['asking, required scope', asking.clientId, 'openid email', undefined, true],
    ['asking, flexible scope', asking.clientId, 'openid phone', undefined, true],
  ];
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: trusted.clientId })), user);
  for (const [title, clientId, scope, prompt, dialog] of rows) {
    const page = await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, scope, prompt }));
    assert.equal(isDialog(page), dialog, title);
    assert.equal(arrived(page), !dialog, title);
  }
});

test('what was allowed is remembered per server; prompt=consent asks again; none cannot ask', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const request = (serverId: string, prompt?: string) =>
    authorizeUrl(service, serverId, { client_id: clientId, scope: 'openid email', prompt });

  const dialog = await browser.signIn(await browser.visit(request('default')), user);
  assert(isDialog(dialog), dialog.text);
  assert.equal(answerOf(await browser.visit(request('default', 'none'))).error, 'consent_required');
  assert(arrived(await browser.submit(dialog, 'consent', { decision: 'allow' })));
  assert(arrived(await browser.visit(request('default'))), 'remembered');
  assert('code' in answerOf(await browser.visit(request('default', 'none'))));
  assert(isDialog(await browser.visit(request('default', 'consent'))), 'asked again when the request says so');
  assert(isDialog(await browser.visit(request('built-in'))), 'another server, another consent');

  const again = new UserAgent(service.baseUrl);
  assert(arrived(await again.signIn(await again.visit(request('default')), user)), 'it outlives the session');
});

test('deny gives access_denied, and an optional scope may be left out (RFC 6749 section 3.3)', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service, {
    consent_method: 'REQUIRED',
    grant_types: ['implicit'],
    response_types: ['id_token token'],
  });
  const browser = new UserAgent(service.baseUrl);
  const request = authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid email phone', response_type: 'id_token token' });
  const dialog = await browser.signIn(await browser.visit(request), user);
  const denied = answerOf(await browser.submit(dialog, 'consent', { decision: 'deny' }));
  assert.equal(denied.error, 'access_denied');
  assert.equal(denied.state, 'some-state');

  const allowed = answerOf(await browser.submit(await browser.visit(request), 'consent', { decision: 'allow' }));
  assert.equal(allowed.scope, 'openid email', 'phone was not ticked');
  assert.equal(decodeJwt(allowed.access_token ?? '').scope, 'openid email');
});
