/** Ways to abuse the trust in a browser: stolen, planted and prepared tokens, administrators, recovery codes, races (OWASP ASVS 5.0 V6.3.3; OWASP Multifactor Authentication Cheat Sheet). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../protocol/servers/relying-party.ts';
import { moveClock } from '../support/clock.ts';
import { codeOf, type Enrolled, enrolledUser } from '../support/factors.ts';
import { type Service, startService } from '../support/service.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';

const COOKIE = 'gatehouse-trusted';
const TICKED = { trustBrowser: 'true' };
const asksForFactor = (page: Page) => assert.match(page.text, /id="factor-form"/);
const isDone = (page: Page) => assert.ok(answerOf(page).code, page.text.slice(0, 3000));

async function begin(t: TestContext, service: Service) {
  await service.api('PUT', '/settings/sign-in', { rememberBrowserDays: 30 });
  const { clientId } = await createClient(service);
  const password = async (browser: UserAgent, user: { login: string; password: string }) =>
    browser.signIn(await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, prompt: 'login' })), user);
  const trust = async (browser: UserAgent, user: Enrolled) => {
    moveClock(t, 60);
    return browser.submit(await password(browser, user), 'factor-form', { passCode: codeOf(user.secret), ...TICKED });
  };
  return { password, trust };
}

test('the trust in a browser opens nothing else', async (t) => {
  const service = await startService(t);
  const { password, trust } = await begin(t, service);

  await t.test('the token is worth nothing for another user, nor one that was made up', async () => {
    const [owner, victim] = [await enrolledUser(service), await enrolledUser(service)];
    const browser = new UserAgent(service.baseUrl);
    isDone(await trust(browser, owner));
    asksForFactor(await password(browser, victim));
    const forged = new UserAgent(service.baseUrl);
    for (const value of ['A'.repeat(43), `${'A'.repeat(43)}.`.repeat(2000), '%00', "' OR true--"]) {
      const page = await forged.visit('/signin', { headers: { cookie: `${COOKIE}=${value}` } });
      assert.ok(page.status === 200 || page.status === 431, `${page.status}`);
    }
  });

  await t.test('a token that was planted before its user trusts the browser never becomes theirs', async () => {
    const [attacker, victim] = [await enrolledUser(service), await enrolledUser(service)];
    const prepared = new UserAgent(service.baseUrl);
    isDone(await trust(prepared, attacker));
    const shared = new UserAgent(service.baseUrl);
    shared.plant(prepared, COOKIE);
    isDone(await trust(shared, victim));
    assert.notEqual(shared.cookie(COOKIE), prepared.cookie(COOKIE));
    asksForFactor(await password(prepared, victim));
  });

  await t.test('a token does not replace the password', async () => {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    isDone(await trust(browser, user));
    assert.match((await password(browser, { ...user, password: 'another password entirely' })).text, /id="sign-in-form"/);
  });

  await t.test(
    'administrators are never offered it, a form of their own gives none, and what they had before the role counts no more',
    async (t) => {
      const user = await enrolledUser(service);
      const browser = new UserAgent(service.baseUrl);
      isDone(await trust(browser, user));
      assert.equal((await service.api('POST', `/users/${user.id}/roles`, { type: 'READ_ONLY_ADMIN' })).status, 201);
      const page = await password(browser, user);
      asksForFactor(page);
      assert.doesNotMatch(page.text, /trust-browser/);
      moveClock(t, 60);
      const other = new UserAgent(service.baseUrl);
      isDone(await other.submit(await password(other, user), 'factor-form', { passCode: codeOf(user.secret), ...TICKED }));
      assert.equal(other.cookie(COOKIE), undefined);
      assert.deepEqual((await service.api('GET', `/users/${user.id}/trustedBrowsers`)).body, []);
    },
  );

  await t.test('a recovery code, a wrong code and a used state token give none', async (t) => {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    isDone(await browser.submit(await password(browser, user), 'recovery-form', { recoveryCode: user.recoveryCodes[0] ?? '', ...TICKED }));
    assert.equal(browser.cookie(COOKIE), undefined);
    asksForFactor(await browser.submit(await password(browser, user), 'factor-form', { passCode: '000000', ...TICKED }));
    assert.equal(browser.cookie(COOKIE), undefined);
    moveClock(t, 60);
    const page = await password(browser, user);
    const tries = await Promise.all(
      Array.from({ length: 10 }, () => browser.window().submit(page, 'factor-form', { passCode: codeOf(user.secret), ...TICKED })),
    );
    assert.ok(tries.some((one) => answerOf(one).code !== undefined));
    assert.equal((await service.api('GET', `/users/${user.id}/trustedBrowsers`)).body.length, 1);
  });

  await t.test('nobody ends another user’s trust by its id', async () => {
    const [owner, other] = [await enrolledUser(service), await enrolledUser(service)];
    const [browser, theirs] = [new UserAgent(service.baseUrl), new UserAgent(service.baseUrl)];
    isDone(await trust(browser, owner));
    isDone(await trust(theirs, other));
    const [{ id }] = (await service.api('GET', `/users/${owner.id}/trustedBrowsers`)).body;
    assert.equal((await service.api('DELETE', `/users/${other.id}/trustedBrowsers/${id}`)).status, 404);
    await theirs.submit(await theirs.visit('/account/security'), 'end-trust-1', { browser: id });
    isDone(await password(browser, owner));
  });

  await t.test('an expired password is replaced after the second factor, in a trusted browser too', async () => {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    isDone(await trust(browser, user));
    await service.api('POST', `/users/${user.id}/lifecycle/expire_password`);
    asksForFactor(await password(browser, user));
  });
});

test('of a suspension and a sign-in by trust at once, no session is left (CWE-367)', async (t) => {
  const service = await startService(t);
  const { password, trust } = await begin(t, service);
  for (let turn = 0; turn < 5; turn += 1) {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    isDone(await trust(browser, user));
    await Promise.all([password(browser, user).catch(() => undefined), service.api('POST', `/users/${user.id}/lifecycle/suspend`)]);
    await service.api('POST', `/users/${user.id}/lifecycle/unsuspend`);
    asksForFactor(await password(browser, user));
  }
});
