/** The dev inbox (management-api.md, "SMTP_URL"), and the pages around mail in Chromium. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { removeExpired } from '../../../src/features/expiry/expiry.service.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { assertAccessible } from '../../support/accessibility.ts';
import { afterwards } from '../../support/afterwards.ts';
import { inBrowser } from '../../support/browser.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { openWindow } from '../../support/watched-page.ts';

const mailLinks = (text: string): string[] => [...text.matchAll(/href="(\/dev\/inbox\/[\w-]+)"/g)].map(([, href = '']) => href);

async function firstMail({ baseUrl }: Service): Promise<string> {
  let links: string[] = [];
  await eventually(async () => {
    links = mailLinks(await (await fetch(`${baseUrl}/dev/inbox`)).text());
    return links.length > 0;
  }, 'a mail is in the inbox');
  return links[0] ?? '';
}

test('without a mail server, mails are read in the dev inbox of this machine, with their links, for a day', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const browser = new UserAgent(service.baseUrl);
  assert.match((await browser.visit('/dev/inbox')).text, /No e-mails yet/);
  const user = await service.createUser({ login: '<i>ada</i>', email: 'ada@example.com' });
  await service.api('POST', `/users/${user.id}/lifecycle/reset_password`);
  const href = await firstMail(service);
  const mail = await browser.visit(href);
  assert.match(mail.text, /id="to">ada@example\.com</);
  assert.ok(mail.text.includes('&lt;i&gt;ada&lt;/i&gt;') && !mail.text.includes('<i>ada'));
  const link = /<a href="([^"]+\/choose-password\/[^"]+)">/.exec(mail.text)?.[1] ?? '';
  assert.equal((await browser.visit(link)).status, 200);

  const html = await fetch(`${service.baseUrl}${href}/html`);
  assert.match(html.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/);
  assert.ok((await html.text()).includes(link));

  const stored = await onServer(service.database.url, async (sql) => JSON.stringify((await sql.query('SELECT * FROM dev_inbox')).rows));
  assert.ok(!stored.includes('ada@example.com') && !stored.includes('choose-password'));
  await onServer(service.database.url, (sql) => sql.query("UPDATE dev_inbox SET expires_at = now() - interval '1 minute'"));
  assert.equal((await fetch(`${service.baseUrl}${href}`)).status, 404);
  const database = await openDatabase({ connection: service.database.connection, onError: () => {} });
  afterwards(t, () => database.close());
  await removeExpired(database, 100);
  assert.equal(await onServer(service.database.url, async (sql) => (await sql.query('SELECT 1 FROM dev_inbox')).rowCount), 0);
});

test('the dev inbox is not there behind a proxy, under another name (DNS rebinding), or beside a mail server', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const { id } = await service.createUser({ email: 'ada@example.com' });
  await service.api('POST', `/users/${id}/lifecycle/reset_password`);
  const href = await firstMail(service);
  const smtp = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'id@gatehouse.example' };
  const withServer = await startService(t, {
    beside: { database: service.database, secretKey: STARTED.SECRET_KEY },
    env: smtp,
  });
  const statusOf = (base: string, path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`${base}${path}`, { headers }, (res) => {
        res.resume();
        resolve(res.statusCode);
      })
        .on('error', reject)
        .end();
    });
  for (const path of ['/dev/inbox', href, `${href}/html`]) {
    assert.equal(await statusOf(service.listensAt, path, {}), 200);
    for (const headers of [
      { forwarded: 'for=192.0.2.1' },
      { via: '1.1 proxy' },
      { 'x-forwarded-for': '::1' },
      { host: 'rebound.example' },
    ]) {
      assert.equal(await statusOf(service.listensAt, path, headers), 404, JSON.stringify(headers));
    }
    assert.equal(await statusOf(withServer.listensAt, path, {}), 404);
  }
});

test('the dev inbox is not there for whoever names this machine but comes from elsewhere', async (t) => {
  const service = await startService(t, { env: { HOST: '0.0.0.0' } });
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  const statusFrom = (localAddress: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request(`${service.listensAt}/dev/inbox`, { localAddress }, (res) => {
        res.resume();
        resolve(res.statusCode);
      })
        .on('error', reject)
        .end();
    });
  assert.equal(await statusFrom('127.0.0.1'), 200);
  // A machine without a network has nobody elsewhere.
  if (outside !== undefined) assert.equal(await statusFrom(outside), 404);
});

test(
  'in Chromium: from the sign-in page to the mail and a new password; axe-core finds nothing in light and dark (WCAG 2.2 AA)',
  inBrowser(async (browser, t) => {
    const service = await startService(t, { sendsOutbox: true });
    const user = await service.createUser({ email: 'ada@example.com' });
    const window = await openWindow(browser);
    const page = await window.open();
    const look = (name: string) => assertAccessible(page, name);
    await page.goto(`${service.baseUrl}/signin`);
    await page.click('#forgot-password');
    await page.waitForSelector('#forgot-password-form');
    await look('forgotten password');
    await page.fill('#username', user.login);
    await page.click('#send-link');
    await page.waitForSelector('#told');
    await look('look into your mailbox');
    const href = await firstMail(service);
    await page.click('#dev-inbox');
    await page.waitForSelector('#mails');
    await look('dev inbox');
    await page.goto(`${service.baseUrl}${href}`);
    await look('a mail');
    await page.click('#mail a');
    await page.waitForSelector('#choose-password-form');

    await service.api('POST', `/users/${user.id}`, { profile: { email: 'ada@new.example' } });
    let verification = '';
    await eventually(async () => {
      for (const each of mailLinks(await (await fetch(`${service.baseUrl}/dev/inbox`)).text())) {
        verification ||= /<a href="([^"]+\/verify-email\/[^"]+)">/.exec(await (await fetch(`${service.baseUrl}${each}`)).text())?.[1] ?? '';
      }
      return verification !== '';
    }, 'the mail to the new address comes');
    await page.goto(verification);
    await look('is this your address');
    await page.click('#verify-email');
    await page.waitForSelector('#told');
    await look('address confirmed');
    await page.goto(verification);
    assert.equal(await page.textContent('#error-code'), 'verification_gone');
    await look('a link that was used');
  }),
);
