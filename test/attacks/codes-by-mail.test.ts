/**
 * Codes by e-mail for sign-up and sign-in, and ways to abuse them: in another browser, by guessing, by asking for one after the other (OWASP ASVS 5.0 V6.5.1,
 * V6.6.2 to V6.6.4; pre-hijacking: Sudhodanan and Paverd, USENIX Security 2022).
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GOOD } from '../features/users/user-holdings.ts';
import { onServer } from '../support/database.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { eventually } from '../support/process.ts';
import { type Service, startService } from '../support/service.ts';
import { type Page, UserAgent } from '../support/user-agent.ts';

const EMAIL = 'ada@example.com';

async function start(t: TestContext) {
  const server = await startMailServer(t);
  const service = await startService(t, { env: server.env, sendsOutbox: true });
  await service.api('PUT', '/settings/registration', { enabled: true });
  await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] });
  return { server, service, browser: () => new UserAgent(service.baseUrl) };
}

type Ask = (agent: UserAgent, address: string) => Promise<Page>;
/** What a code is asked for. */
const ASKS: Readonly<Record<'sign-up' | 'sign-in', Ask>> = {
  'sign-up': async (agent, email) => agent.submit(await agent.visit('/signup'), 'sign-up-form', { email, password: GOOD }),
  'sign-in': async (agent, username) => agent.submit(await agent.visit('/signin'), 'sign-in-form', { username, method: 'email' }),
};

const codeIn = async (server: MailServer, to: string, number = 1): Promise<string> =>
  /Your code is (\d{8})/.exec((await server.mail(to, number, 'Your code is')).text)?.[1] ?? assert.fail('no code');
const enter = (agent: UserAgent, page: Page, code: string): Promise<Page> => agent.submit(page, 'code-form', { code });
const wrong = (code: string): string => (code === '00000000' ? '00000001' : '00000000');
const isSignedIn = async (agent: UserAgent): Promise<boolean> => (await agent.visit('/account')).url.pathname === '/account';

/** How often networks were counted, by the kind of limit. */
const pointsOf = (service: Service, kind: string): Promise<number> =>
  onServer(service.database.url, async (sql) => {
    const { rows } = await sql.query('SELECT sum(points)::int AS points FROM failures_by_address WHERE key LIKE $1', [`${kind}:%`]);
    return rows[0].points ?? 0;
  });
const setPoints = (service: Service, kind: string, points: number) =>
  onServer(service.database.url, (sql) => sql.query('UPDATE failures_by_address SET points = $2 WHERE key LIKE $1', [`${kind}:%`, points]));

for (const [kind, ask] of Object.entries(ASKS)) {
  test(`${kind}: a code counts in the browser that asked alone, not beside it, nor with its cookie`, async (t) => {
    const { server, service, browser } = await start(t);
    if (kind === 'sign-in') await service.createUser({ login: EMAIL, email: EMAIL });
    const attacker = browser();
    await ask(attacker, EMAIL);
    const theirs = await codeIn(server, EMAIL);
    // The victim asks, too, and types the code of the other e-mail to the same address.
    const victim = browser();
    const page = await ask(victim, EMAIL);
    const own = await codeIn(server, EMAIL, 2);
    if (own !== theirs) assert.equal((await enter(victim, page, theirs)).status, 400);
    // Who has the attacker's cookie for the sign-in, but not for the browser.
    const planted = browser();
    const form = await ask(planted, 'somebody@else.example');
    planted.plant(attacker, 'gatehouse-sign-in');
    await enter(planted, form, theirs);
    assert.equal(await isSignedIn(planted), false);
    if (kind === 'sign-up') assert.equal((await service.api('GET', `/users/${EMAIL}`)).status, 404, 'no account is made');
    await enter(victim, page, own);
    assert.ok(await isSignedIn(victim));
  });

  test(`${kind}: of guesses five are heard, the pages are the same for an address with and without an account, and each counts`, async (t) => {
    const { server, service, browser } = await start(t);
    const known = 'known@example.com';
    await service.createUser({ login: known, email: known });
    // An e-mail with a code goes to one of the two alone.
    const coded = kind === 'sign-up' ? EMAIL : known;
    const shown: string[][] = [];
    for (const address of [EMAIL, known]) {
      const agent = browser();
      let page = await ask(agent, address);
      const right = address === coded ? await codeIn(server, address) : '12345678';
      const pages: string[] = [];
      for (let times = 0; times < 5; times += 1) {
        page = await enter(agent, page, wrong(right));
        pages.push(`${page.status} ${page.url.pathname} ${page.text}`);
      }
      const last = await enter(agent, page, right);
      pages.push(`${last.status} ${last.url.pathname} ${last.text}`);
      assert.match(last.text, /The code has expired or was entered incorrectly too often/);
      assert.equal(await isSignedIn(agent), false);
      shown.push(pages.map((text) => text.replaceAll(address, 'ADDRESS').replace(/value="[\w.-]+"|data-options="[^"]*"/g, '')));
    }
    assert.deepEqual(shown[0], shown[1]);
    assert.equal(await pointsOf(service, 'sign-in'), 10, 'every wrong code counts against the network');
    const agent = browser();
    const page = await ask(agent, coded);
    const right = await codeIn(server, coded, 2);
    await setPoints(service, 'sign-in', 100);
    assert.equal((await enter(agent, page, right)).status, 429, 'a network that has guessed too often is not heard');
  });

  test(`${kind}: another e-mail for the same form counts like the first, by network and by address`, async (t) => {
    const { server, service, browser } = await start(t);
    if (kind === 'sign-in') await service.createUser({ login: EMAIL, email: EMAIL });
    const [limit, event] =
      kind === 'sign-up' ? ['sign-up', 'user.registration.request'] : ['code-request', 'system.email.send_factor_verify_message'];
    const outcomes = async (): Promise<string[]> => {
      const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent(`eventType eq "${event}"`)}`);
      return body.map(({ outcome }: { outcome: { result: string; reason?: string } }) => outcome.reason ?? outcome.result);
    };
    const agent = browser();
    let page = await ask(agent, EMAIL);
    // Another e-mail replaces the one before, which is then not sent any more.
    for (let times = 1; times <= 7; times += 1) {
      await eventually(async () => (await outcomes()).length === times, `${times} are answered`);
      if (times < 7) page = await agent.submit(page, 'code-again-form');
    }
    assert.equal(await pointsOf(service, limit), 7);
    assert.equal((await outcomes()).filter((outcome) => outcome === 'TOO_MANY_REQUESTS').length, 2);
    assert.ok(server.mails.length <= 5, String(server.mails.length));
    await setPoints(service, limit, kind === 'sign-up' ? 50 : 300);
    assert.equal((await agent.submit(page, 'code-again-form')).status, 429);
  });
}
