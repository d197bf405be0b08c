/** Who goes from a sign-in to look for his password comes back to it, and to the application, once he has chosen one (features/passwords/forgotten-password.service.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { startMailServer } from '../../support/mail.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from './application.ts';

const PASSWORD = 'a password of my own';

test(
  'from an application to the forgotten password, to the mail, and back to the application',
  inBrowser(async (browser, t) => {
    for (const javaScriptEnabled of [true, false]) {
      const server = await startMailServer(t);
      const service = await startService(t, { env: server.env, sendsOutbox: true });
      const user = await service.createUser({ email: 'ada@example.com' });
      const application = await runApplication(t, service);
      const window = await openWindow(browser, { javaScriptEnabled });
      const page = await window.open();
      await page.goto(application.start());
      await page.click('#forgot-password');
      await page.fill('#username', user.login);
      await page.click('#send-link');
      await page.waitForSelector('#told');
      const { link } = await server.mail('ada@example.com');
      assert.match(link, /\/choose-password\/[\w-]+$/, 'the link says nothing of the application');
      // Mail programs open a tab of their own.
      const tab = await window.open();
      await tab.goto(link);
      await tab.fill('#password', PASSWORD);
      await tab.click('#save-password');
      await tab.waitForURL(`${application.origin}/callback?*`);
      assert.deepEqual(await outcomeOf(tab), { sub: user.id, scope: 'openid' });
      window.assertQuiet();
    }
  }),
);

/** A browser on the sign-in page of an application, and the link to choose a password. */
async function left(service: Service): Promise<{ browser: UserAgent; interaction: string; link: string }> {
  const user = await service.createUser();
  const redirectUri = 'https://app.example/callback';
  const { clientId } = await service.createApp({ redirect_uris: [redirectUri] });
  const query = new URLSearchParams({ client_id: clientId, response_type: 'code', scope: 'openid', redirect_uri: redirectUri, state: 's' });
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(`${service.issuer('built-in')}/authorize?${query}`);
  const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  return { browser, interaction: page.url.pathname, link: body.resetPasswordUrl };
}

test('it goes on only where it waits, in the browser that left it, and never to an address out of the cookie', async (t) => {
  const service = await startService(t);
  const choose = async (browser: UserAgent, link: string, cookie?: string) => {
    const page = await browser.visit(link);
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, password: PASSWORD });
    const forged = cookie === undefined ? {} : { cookie: `gatehouse-form=${browser.cookie('gatehouse-form')}; gatehouse-left=${cookie}` };
    const init = { method: 'POST', body, headers: { origin: service.baseUrl, ...forged } };
    const answer = await (cookie === undefined ? browser.send(link, init) : fetch(link, { ...init, redirect: 'manual' }));
    assert.equal(answer.status, 303);
    return new URL(answer.headers.get('location') ?? '', service.baseUrl);
  };

  const own = await left(service);
  const back = await choose(own.browser, own.link);
  assert.deepEqual([back.origin, back.pathname], [service.baseUrl, own.interaction]);
  assert.equal(own.browser.cookie('gatehouse-left') ?? '', '', 'once');
  const on = await own.browser.send(back);
  assert.equal(on.status, 303);
  assert.match(on.headers.get('location') ?? '', /\/oauth\/v1\/authorize\//, 'signed in: back to the authorization request');

  const elsewhere = await left(service);
  assert.equal((await choose(new UserAgent(service.baseUrl), elsewhere.link)).pathname, '/signin');

  const over = await left(service);
  const signInPage = await over.browser.visit(over.interaction);
  const cancel = /action="([^"]+\/cancel[^"]*)"/.exec(signInPage.text)?.[1] ?? '';
  await over.browser.visit(cancel.replaceAll('&amp;', '&'), { method: 'POST', headers: { origin: service.baseUrl } });
  assert.equal((await choose(over.browser, over.link)).pathname, '/signin');

  for (const cookie of [
    '//evil.example/x',
    'evil.example',
    '../admin',
    'default/never-made',
    `none/${own.interaction.split('/')[3]}`,
    '%2F%2Fevil/x',
  ]) {
    const { browser, link } = await left(service);
    assert.equal((await choose(browser, link, cookie)).href, `${service.baseUrl}/signin`, cookie);
  }
  // Another browser's: its own cookie of the interaction decides.
  const victim = await left(service);
  const thief = await left(service);
  const led = await choose(thief.browser, thief.link, victim.interaction.split('/').slice(2).join('/'));
  assert.equal(led.pathname, victim.interaction);
  assert.equal((await thief.browser.visit(led)).status, 403);
});
