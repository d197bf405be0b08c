/**
 * Many second steps at once, at two processes: each code and each state token counts once, a password is replaced once, and whoever is right gets in
 * (RFC 6238 section 5.2; issue 8, "sign-in storms; twenty uses of one code or sessionToken at once").
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../protocol/servers/relying-party.ts';
import { codeOf, enrolledUser, secretOn, TWO_FACTORS, wrongCode } from '../support/factors.ts';
import { type Service, startTwo } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const NEW = 'violet engines hum';

test('a storm of second steps', async (t) => {
  const [first, second] = await startTwo(t, { RATE_LIMITS: 'off' });
  const at = (n: number): Service => (n % 2 === 0 ? first : second);
  const call = async (n: number, path: string, body: object) => {
    const answer = await fetch(`${at(n).listensAt}/api/v1/authn${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the API
    return { status: answer.status, body: (await answer.json()) as any };
  };
  const client = await createClient(first);
  const session = async (n: number, sessionToken: string) => {
    const url = authorizeUrl(at(n), 'built-in', { client_id: client.clientId, prompt: 'none', sessionToken, acr_values: TWO_FACTORS });
    return answerOf(await new UserAgent(at(n).listensAt).visit(url)).code !== undefined;
  };

  await t.test('five users, six times each with one code, three with a wrong one: one sign-in a user, and one session', async () => {
    const users = await Promise.all(Array.from({ length: 5 }, () => enrolledUser(first)));
    const attempts = users.flatMap((user) =>
      Array.from({ length: 9 }, (_, turn) => ({
        user,
        right: turn < 6,
        passCode: turn < 6 ? codeOf(user.secret, 1) : wrongCode(user.secret),
      })),
    );
    const outcomes = await Promise.all(
      attempts.map(async ({ user, right, passCode }, n) => {
        const { body } = await call(n, '', { username: user.login, password: user.password });
        assert.equal(body.status, 'MFA_REQUIRED');
        const path = `/factors/${body._embedded.factors[0].id}/verify`;
        const verified = await call(n + 1, path, { stateToken: body.stateToken, passCode });
        assert.ok(verified.status === 200 ? right : verified.status === 403, `${verified.status}`);
        return { user, sessionToken: verified.body.sessionToken as string | undefined };
      }),
    );
    for (const { id } of users) {
      const tokens = outcomes.flatMap(({ user, sessionToken }) => (user.id === id && sessionToken !== undefined ? [sessionToken] : []));
      // Three wrong ones before it do not lock.
      assert.equal(tokens.length, 1);
    }
    const tokens = outcomes.flatMap(({ sessionToken }) => sessionToken ?? []);
    const uses = await Promise.all(tokens.flatMap((token) => Array.from({ length: 20 }, (_, n) => session(n, token))));
    assert.equal(uses.filter(Boolean).length, tokens.length);
  });

  await t.test('one user signs in twenty times at once with an expired password: one new password', async () => {
    const user = await enrolledUser(first);
    assert.equal((await first.api('POST', `/users/${user.id}/lifecycle/expire_password`)).status, 200);
    const { body } = await call(0, '', { username: user.login, password: user.password });
    const path = `/factors/${body._embedded.factors[0].id}/verify`;
    const verify = { stateToken: body.stateToken, passCode: codeOf(user.secret, 1) };
    const verified = await Promise.all(Array.from({ length: 20 }, (_, n) => call(n, path, verify)));
    assert.deepEqual(
      verified.flatMap(({ status, body: told }) => (status === 200 ? [told.status] : [])),
      ['PASSWORD_EXPIRED'],
    );
    const change = { stateToken: body.stateToken, oldPassword: user.password };
    const changed = await Promise.all(
      Array.from({ length: 20 }, (_, n) => call(n, '/credentials/change_password', { ...change, newPassword: `${NEW} ${n}` })),
    );
    const winners = changed.flatMap(({ status }, n) => (status === 200 ? [n] : []));
    assert.equal(winners.length, 1);
    assert.ok(changed.every(({ status }) => status === 200 || status === 401));
    assert.equal((await call(1, '', { username: user.login, password: `${NEW} ${winners[0]}` })).body.status, 'MFA_REQUIRED');
  });

  await t.test('one user sets twenty apps up at once, in twenty browsers: he has one, and ten recovery codes', async () => {
    const user = await first.createUser();
    const begun = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const browser = new UserAgent(first.baseUrl);
        const url = authorizeUrl(first, 'built-in', { client_id: client.clientId, acr_values: TWO_FACTORS });
        return { browser, page: await browser.signIn(await browser.visit(url), user) };
      }),
    );
    const ends = await Promise.all(
      begun.map(({ browser, page }) => browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) })),
    );
    assert.equal(ends.filter(({ text }) => /id="recovery-codes"/.test(text)).length, 1);
    assert.equal((await first.api('GET', `/users/${user.id}/factors`)).body.length, 1);
  });
});
