/** `/account/sessions`: the user's own browsers, and their end with all that belongs to it (OpenID Connect Back-Channel Logout 1.0 section 2.5). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Account, arriveAt, fieldsOf, postForm, wordsOf } from '../../pages/account/arrival.ts';
import { receiver, signInAt, told } from '../../protocol/logout/logout-receiver.ts';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import type { Received } from '../../support/requests.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

/** A browser that says what it is. */
class NamedAgent extends UserAgent {
  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('user-agent', FIREFOX);
    return super.send(address, { ...init, headers });
  }
}

test('the sessions of a user', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const isSignedIn = async (browser: UserAgent) => (await browser.visit('/account')).url.pathname === '/account';
  const another = async (user: Account) => (await arriveAt(service, '/account', user)).browser;

  await t.test('are told in words, with the address, since when and which one this is', async () => {
    const user = await service.createUser();
    const { browser } = await arriveAt(service, '/account', user, new NamedAgent(service.baseUrl));
    await another(user);
    const page = await browser.visit('/account/sessions');
    assert.equal(page.text.match(/<li class="panel">/g)?.length, 2);
    const words = wordsOf(page);
    assert.match(words, /Firefox, Linux This browser Signed in [^:]*\d[\s\S]*Last seen .* Network address (::ffff:)?127\.0\.0\.1/);
    assert.match(words, /Unknown browser/);
    assert.doesNotMatch(page.text, /Mozilla/);
  });

  await t.test('one is ended: its browser is signed out, its applications are told; this one goes on', async (t) => {
    const user = await service.createUser();
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const { browser: elsewhere } = await signInAt(service, user, [['default', client]]);
    const { browser, page } = await arriveAt(service, '/account/sessions', user);
    assert.match(page.text, /Test application/);
    const done = await browser.submit(page, 'end-session-1');
    assert.match(done.text, /The browser is signed out\./);
    assert.equal(await isSignedIn(elsewhere), false);
    assert.equal(await isSignedIn(browser), true);
    assert.equal((await endpoint.received(1)).length, 1);
    const again = await browser.submit(page, 'end-session-1');
    assert.match(again.text, /had already ended/);
    const filter = encodeURIComponent(`eventType eq "user.session.end" and actor.id eq "${user.id}"`);
    assert.equal((await service.api('GET', `/logs?filter=${filter}`)).body.length, 1);
  });

  await t.test('all others are ended at once', async (t) => {
    const user = await service.createUser();
    const endpoint = await receiver(t);
    const client = await told(service, endpoint.uri);
    const { browser: first } = await signInAt(service, user, [['default', client]]);
    const second = await another(user);
    const { browser, page } = await arriveAt(service, '/account/sessions', user);
    const done = await browser.submit(page, 'end-others-form');
    assert.doesNotMatch(done.text, /id="end-others-form"|id="end-session-/);
    assert.deepEqual([await isSignedIn(first), await isSignedIn(second), await isSignedIn(browser)], [false, false, true]);
    assert.equal((await endpoint.received(1)).length, 1);
  });

  await t.test('another user’s session is none of his: it goes on, and he is told no more than of one that is gone', async () => {
    const [mine, theirs] = [await service.createUser(), await service.createUser()];
    await another(theirs);
    const other = await arriveAt(service, '/account/sessions', theirs);
    const id = fieldsOf(other.page, 'end-session-1').session ?? '';
    assert.match(id, /^[\w-]{43}$/);
    await another(mine);
    const { browser, page } = await arriveAt(service, '/account/sessions', mine);
    const own = fieldsOf(page, 'end-session-1');
    const hidden = Object.fromEntries(Object.entries(own).filter(([name]) => name !== 'session'));
    for (const session of [id, 'nothing', '', 'a\u0000b']) {
      const answer = await postForm(browser, '/account/sessions/end', { ...hidden, session });
      assert.equal(answer.headers.get('location'), '/account/sessions?done=session-gone', session);
    }
    assert.match((await other.browser.visit('/account/sessions')).text, /id="end-session-1"/, 'both of them go on');
  });

  await t.test('of twenty that end the same one does', async () => {
    const user = await service.createUser();
    await another(user);
    const { browser, page } = await arriveAt(service, '/account/sessions', user);
    const pages = await Promise.all(Array.from({ length: 20 }, () => browser.window().submit(page, 'end-session-1')));
    assert.equal(pages.filter(({ url }) => url.search === '?done=session-ended').length, 1);
  });

  await t.test('a session is seen where the account is looked at, too: from where, and at most once in five minutes', async (t) => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/sessions', user);
    const seen = async () => {
      const { rows } = await onServer(service.database.url, (sql) =>
        sql.query(`SELECT payload->'device' AS device FROM oidc_payload WHERE account_id = $1 AND payload ? 'device'`, [user.id]),
      );
      assert.equal(rows.length, 1);
      return rows[0].device;
    };
    const first = await seen();
    assert.match(wordsOf(page), /Unknown browser/);
    moveClock(t, 200);
    await browser.visit('/account/profile');
    assert.deepEqual(await seen(), first);
    moveClock(t, 400);
    await browser.visit('/account/profile', { headers: { 'user-agent': FIREFOX } });
    const later = await seen();
    assert.ok(later.seen >= first.seen + 400, `${later.seen} after ${first.seen}`);
    assert.equal(later.userAgent, FIREFOX);
    assert.match(wordsOf(await browser.visit('/account/sessions')), /Firefox, Linux This browser/);
  });

  await t.test('with all others end the sign-ins that are done and wait for their browser (sessionToken)', async () => {
    const user = await service.createUser();
    const client = await createClient(service);
    const tokenOf = async () => {
      const body = JSON.stringify({ username: user.login, password: user.password });
      const answer = await fetch(`${service.baseUrl}/api/v1/authn`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      });
      return ((await answer.json()) as { sessionToken: string }).sessionToken;
    };
    const sessionToken = await tokenOf();
    await another(user);
    const { browser, page } = await arriveAt(service, '/account/sessions', user);
    await browser.submit(page, 'end-others-form');
    const request = (token: string) =>
      authorizeUrl(service, 'built-in', { client_id: client.clientId, prompt: 'none', sessionToken: token });
    const thief = new UserAgent(service.baseUrl);
    assert.equal(answerOf(await thief.visit(request(sessionToken))).error, 'login_required');
    assert.ok(answerOf(await thief.visit(request(await tokenOf()))).code, 'a later one is good');
  });
});
