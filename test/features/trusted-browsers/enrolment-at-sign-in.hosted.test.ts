/** Trusted browsers end with a factor that is set up as a step of a sign-in: an authenticator app or a passkey that is demanded, or a passkey that is offered. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, recoveryCodesOn, secretOn } from '../../support/factors.ts';
import { startMailServer } from '../../support/mail.ts';
import { Authenticator, askedOn } from '../../support/passkeys.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const asksForFactor = (page: Page, why: string) => assert.match(page.text, /id="factor-form"|id="passkey-form"/, why);
const isDone = (page: Page, why: string) => assert.ok(answerOf(page).code, `${why}: ${page.text.slice(0, 3000)}`);

test('trust in other browsers ends with a factor that is set up at a sign-in', async (t) => {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  const set = async (changes: Record<string, unknown>) =>
    assert.equal((await service.api('PUT', '/settings/sign-in', { rememberBrowserDays: 30, ...changes })).status, 200);
  const client = await createClient(service);
  const strict = await createClient(service, { mfa_required: true });
  const urlOf = ({ clientId }: { clientId: string }) => authorizeUrl(service, 'built-in', { client_id: clientId, prompt: 'login' });
  const password = async (browser: UserAgent, user: { login: string; password: string }, of = client): Promise<Page> =>
    browser.signIn(await browser.visit(urlOf(of)), user);
  const trustsOf = async ({ id }: { id: string }): Promise<number> => {
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query('SELECT count(*)::int AS n FROM trusted_browsers WHERE user_id = $1', [id]),
    );
    return rows[0].n;
  };

  /** A user whose only factor, codes by e-mail, is no longer allowed: the next sign-in that needs a factor sets up another. */
  const withoutUsableFactor = async () => {
    await set({ messageFactors: ['email'] });
    const email = `${crypto.randomUUID()}@example.com`;
    const user = await service.createUser({ email });
    const added = await service.api('POST', `/users/${user.id}/factors?activate=true`, { factorType: 'email', provider: 'OKTA' });
    assert.equal(added.status, 200, JSON.stringify(added.body));
    const browser = new UserAgent(service.baseUrl);
    const sent = await browser.submit(await password(browser, user), 'send-email-form');
    const [code = ''] = /\d{8}/.exec((await server.mail(email, 1, 'in the browser where you are signing in')).text) ?? [];
    isDone(await browser.submit(sent, 'message-form', { passCode: code, trustBrowser: 'true' }), 'trust');
    assert.equal(await trustsOf(user), 1);
    await set({ messageFactors: [] });
    return { user, browser };
  };

  const withPasskey = (browser: UserAgent, page: Page) =>
    browser.submit(page, 'passkey-form', { credential: new Authenticator(service.baseUrl).create(askedOn(page)) });
  const withApp = (browser: UserAgent, page: Page) => browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });

  for (const [factor, setUp] of [
    ['an authenticator app', withApp],
    ['a passkey', withPasskey],
  ] as const) {
    await t.test(`${factor} that the application demands`, async () => {
      const { user, browser } = await withoutUsableFactor();
      const other = new UserAgent(service.baseUrl);
      const page = await password(other, user, strict);
      assert.equal(await trustsOf(user), 1, 'the page alone ends nothing');
      const shown = await setUp(other, page);
      assert.equal(await trustsOf(user), 0);
      assert.equal(recoveryCodesOn(shown).length, 10, 'the first factor that can be used');
      isDone(await other.submit(shown, 'enrolled-form'), 'the sign-in goes on');
      asksForFactor(await password(browser, user), 'the browser that was trusted');
    });
  }

  await t.test('a passkey that is offered after the sign-in, in the trusted browser itself', async () => {
    const { user, browser } = await withoutUsableFactor();
    await set({ passkeyOffer: true });
    const offer = await password(browser, user);
    assert.match(offer.text, /id="decline-passkey"/);
    assert.equal(await trustsOf(user), 1, 'the offer alone ends nothing');
    const shown = await withPasskey(browser, offer);
    assert.equal(await trustsOf(user), 0);
    isDone(await browser.submit(shown, 'enrolled-form'), 'the sign-in goes on');
    asksForFactor(await password(browser, user), 'the next sign-in there');
  });
});
