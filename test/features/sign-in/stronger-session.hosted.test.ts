/** A session that becomes stronger, by the first factor that its user sets up on the page of his account, is the same session (OpenID Connect Core 1.0 section 2, `auth_time`). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { addPasskey } from '../../support/passkeys.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { harness, SECURITY } from '../passkeys/passkey-harness.ts';

const SESSION = 'gatehouse-session';

test('the first factor that is set up at /account/security makes the session stronger', async (t) => {
  const { service, request, newBrowser, claimsOf, outcomes } = await harness(t);
  const onSession = async (statement: string, userId: string) => {
    const { rows } = await onServer(service.database.url, (sql) => sql.query(statement, [userId]));
    return rows;
  };
  const sessionsOf = (userId: string) =>
    onSession(`SELECT uid, payload->>'idp' AS idp FROM oidc_payload WHERE account_id = $1 AND model = 1`, userId);
  const factors: Record<string, (browser: UserAgent, security: Page) => Promise<unknown>> = {
    'a passkey': (browser, security) => addPasskey(browser, security),
    'an authenticator app': async (browser, security) => {
      const page = await browser.submit(security, 'app-form');
      return browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
    },
  };
  for (const [what, setUp] of Object.entries(factors)) {
    await t.test(what, async (t) => {
      const user = await service.createUser();
      const browser = newBrowser();
      const before = await claimsOf(answerOf(await browser.signIn(await browser.visit(request()), user)).code);
      // As after a sign-in by a provider.
      await onSession(`UPDATE oidc_payload SET payload = payload || '{"idp": "0oaOne"}' WHERE account_id = $1 AND model = 1`, user.id);
      const [{ uid }] = await sessionsOf(user.id);
      const old = browser.window();
      moveClock(t, 300);
      await setUp(browser, await browser.visit(SECURITY));

      const after = await claimsOf(answerOf(await browser.visit(request({ prompt: 'none', acr_values: TWO_FACTORS }))).code);
      assert.ok(after.amr.includes('mfa'), after.amr);
      assert.equal(after.auth_time, before.auth_time);
      // As it was, and with it what applications know of it.
      assert.deepEqual(await sessionsOf(user.id), [{ uid, idp: '0oaOne' }]);
      assert.deepEqual(
        [(await outcomes('user.session.end', user.id)).length, (await outcomes('user.session.start', user.id)).length],
        [0, 1],
      );
      // Who has known the session's cookie before has nothing stronger now (session fixation).
      assert.notEqual(browser.cookie(SESSION), old.cookie(SESSION));
      assert.equal(answerOf(await old.visit(request({ prompt: 'none' }))).error, 'login_required');
    });
  }

  await t.test('one that was ended meanwhile stays ended', async () => {
    const user = await service.createUser();
    const browser = newBrowser();
    const security = await browser.signIn(await browser.visit(SECURITY), user);
    const ends = await Promise.all([
      addPasskey(browser.window(), security).catch(() => undefined),
      service.api('DELETE', `/users/${user.id}/sessions`),
    ]);
    assert.equal(ends[1].status, 204);
    assert.deepEqual(await sessionsOf(user.id), []);
  });
});
