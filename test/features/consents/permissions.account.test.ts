/** `/account/permissions`: what applications may do in the user's name, and its end (RFC 6749 section 10.3; RFC 7009). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt, fieldsOf, postForm, wordsOf } from '../../pages/account/arrival.ts';
import { answerOf, authorizeUrl, createClient, post, tokensFor, userinfo } from '../../protocol/servers/relying-party.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('the permissions of applications', async (t) => {
  const service = await serviceWithConsents(t);

  await t.test('a trusted application that holds tokens is told of, with all that it reads; its end ends them', async () => {
    const user = await service.createUser();
    const client = await createClient(service, { consent_method: 'TRUSTED' });
    const browser = new UserAgent(service.baseUrl);
    const { body: tokens } = await tokensFor(service, browser, user, client);
    const page = await browser.visit('/account/permissions');
    const words = wordsOf(page);
    assert.match(words, /Test application Trusted by your administrator/);
    assert.match(words, /read your name, nickname/);
    assert.match(words, /Stay connected/);
    const done = await browser.submit(page, 'end-permission-0');
    assert.match(wordsOf(done), /no longer has access\. No application has access to your account\./);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    assert.equal((await post(service, 'built-in', 'token', client, refresh)).body.error, 'invalid_grant');
    assert.equal((await userinfo(service, 'built-in', tokens.access_token)).status, 401);
    const again = await browser.submit(page, 'end-permission-0');
    assert.match(again.text, /already had no access/);
  });

  await t.test('a consent is told of with its day, and the next request asks again', async () => {
    const user = await service.createUser();
    const client = await createClient(service, { consent_method: 'REQUIRED' });
    const browser = new UserAgent(service.baseUrl);
    const request = authorizeUrl(service, 'default', { client_id: client.clientId, scope: 'openid email' });
    const dialog = await browser.signIn(await browser.visit(request), user);
    const allowed = await browser.submit(dialog, 'consent', { decision: 'allow' });
    assert.ok(answerOf(allowed).code, allowed.text);
    const page = await browser.visit('/account/permissions');
    assert.match(wordsOf(page), /Test application Allowed on .* Your e-mail address/);
    await browser.submit(page, 'end-permission-0');
    assert.match((await browser.visit(request)).text, /id="consent"/);
    const filter = encodeURIComponent(`eventType eq "app.oauth2.as.consent.revoke" and actor.id eq "${user.id}"`);
    assert.equal((await service.api('GET', `/logs?filter=${filter}`)).body.length, 1);
  });

  await t.test('another user’s permissions stay, whatever the form names', async () => {
    const [mine, theirs] = [await service.createUser(), await service.createUser()];
    const client = await createClient(service, { consent_method: 'TRUSTED' });
    const other = new UserAgent(service.baseUrl);
    const { body: tokens } = await tokensFor(service, other, theirs, client);
    const which = fieldsOf(await other.visit('/account/permissions'), 'end-permission-0');
    const { browser, page } = await arriveAt(service, '/account/data', mine);
    const answer = await postForm(browser, '/account/permissions/end', { ...which, ...fieldsOf(page, 'data-form') });
    assert.equal(answer.headers.get('location'), '/account/permissions?done=permission-gone');
    assert.equal((await userinfo(service, 'built-in', tokens.access_token)).status, 200);
  });
});
