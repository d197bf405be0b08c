/** The form_post response mode (OAuth 2.0 Form Post Response Mode), on a page like every other. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../servers/relying-party.ts';

test('the answer is a form that posts itself to the redirect URI, with the headers of every page', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const settings = { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'code id_token'] };
  const { clientId } = await createClient(service, settings);
  const browser = new UserAgent(service.baseUrl);
  const request = authorizeUrl(service, 'built-in', { client_id: clientId, response_type: 'code id_token', response_mode: 'form_post' });
  const page = await browser.signIn(await browser.visit(request), user);
  assert.equal(page.status, 200);
  assert.match(page.text, new RegExp(`<form id="form-post" method="post" action="${CALLBACK}">`));
  for (const name of ['code', 'id_token', 'state']) assert.match(page.text, new RegExp(`type="hidden" name="${name}" value=".+"`));
  assert.match(page.text, /<button[^>]*type="submit"/);
  assert.doesNotMatch(page.text, /<script>|style=/);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'.*form-action 'self' https:\/\/app\.example/);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');

  // The page is left by its form: no redirect, so the answer stands in the form alone.
  assert.deepEqual(answerOf({ url: new URL(page.url.pathname, page.url) }), {});
  const failed = await browser.visit(
    authorizeUrl(service, 'built-in', { client_id: clientId, response_mode: 'form_post', scope: 'nonsense' }),
  );
  assert.match(failed.text, /name="error" value="invalid_scope"/);
  assert.match(failed.text, /name="state" value="some-state"/);
});
