/**
 * Ways around what is asked of who signs in (OWASP ASVS 5.0 V6.3.1, V6.3.4, V6.4.3 and V6.5; RFC 6819 section 4.4.3.6; CVE-2023-47111, CVE-2024-32868,
 * CVE-2025-64102, CVE-2025-64103, CVE-2026-9798): every door asks the same, and counts together.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post, type TestClient } from '../protocol/servers/relying-party.ts';
import { codeOf, type Enrolled, enrolledUser, TWO_FACTORS, wrongCode } from '../support/factors.ts';
import { type Service, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const WRONG = 'a password that is nobody’s';

/** A request of a program without a token. */
async function send(service: Service, path: string, body: unknown): Promise<{ status: number; body: Record<string, string> }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${service.baseUrl}/api/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

interface Doors {
  readonly service: Service;
  readonly client: TestClient;
}

async function doors(t: TestContext): Promise<Doors> {
  const service = await startService(t);
  return { service, client: await createClient(service, { grant_types: ['authorization_code', 'password'] }) };
}

/** Each door that takes a password. @returns whether somebody came in, or further, by it */
const byPassword: Readonly<Record<string, (doors: Doors, username: string, password: string) => Promise<boolean>>> = {
  'the page of an application': async ({ service, client }, login, password) => {
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId }));
    return !/id="sign-in-form"/.test((await browser.signIn(page, { login, password })).text);
  },
  'the page that stands by itself': async ({ service }, login, password) => {
    const browser = new UserAgent(service.baseUrl);
    return !/id="sign-in-form"/.test((await browser.signIn(await browser.visit('/signin'), { login, password })).text);
  },
  'the API': async ({ service }, username, password) => (await send(service, '/authn', { username, password })).status === 200,
  'the password grant': async ({ service, client }, username, password) =>
    (await post(service, 'default', 'token', client, { grant_type: 'password', username, password })).status === 200,
};

test('a lock by one door is a lock at every door, and its key does not matter (CVE-2026-9798)', async (t) => {
  const all = await doors(t);
  for (const [name, tries] of Object.entries(byPassword)) {
    const user = await all.service.createUser();
    assert.deepEqual(await Promise.all(Array.from({ length: 10 }, () => tries(all, user.login, WRONG))), Array(10).fill(false), name);
    for (const [other, enters] of Object.entries(byPassword)) {
      assert.equal(await enters(all, user.login, user.password), false, `locked by ${name}, open at ${other}`);
    }
  }
  const user = await all.service.createUser();
  const names = Object.keys(byPassword);
  for (let turn = 0; turn < 10; turn += 1) await byPassword[names[turn % names.length] ?? '']?.(all, user.login, WRONG);
  for (const [name, enters] of Object.entries(byPassword))
    assert.equal(await enters(all, user.login, user.password), false, `by turns, ${name}`);
});

test('who knows the password alone', async (t) => {
  const all = await doors(t);
  const { service, client } = all;
  const user = await enrolledUser(service);
  const request = authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'login' });

  await t.test('comes no further by the steps behind the second factor, at whichever place (CVE-2025-64103)', async () => {
    for (const start of ['/signin', request]) {
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.signIn(await browser.visit(start), user);
      assert.match(page.text, /id="factor-form"/);
      const csrf = /name="csrf" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
      const home = page.url.pathname.replace(/\/(login|factor)$/, '');
      const forms: [step: string, form: Record<string, string>][] = [
        ['enrolled', {}],
        ['enroll', { passCode: '000000' }],
        ['enroll-passkey', { credential: '{}' }],
        ['password', { password: 'another good password', repeated: 'another good password' }],
        ['passkey', { credential: '{}' }],
        ['consent', { decision: 'allow' }],
        ['factor', { passCode: '' }],
        ['factor', { recoveryCode: ' ' }],
        ['factor', {}],
      ];
      for (const [step, form] of forms) {
        const headers = { origin: service.baseUrl };
        const sent = await browser.visit(`${home}/${step}`, { method: 'POST', body: new URLSearchParams({ csrf, ...form }), headers });
        assert.equal(sent.url.origin, service.baseUrl, `${home} ${step}`);
        assert.equal((await browser.visit('/account')).url.pathname, '/signin', `${home} ${step}: nobody is signed in`);
      }
      if (start === '/signin') continue;
      // And that the sign-in was done is believed of its answer, not of whoever goes on.
      const resumed = await browser.visit(`${service.issuer('default')}/authorize/${home.split('/').at(-1)}`);
      assert.equal(answerOf(resumed).code, undefined);
      assert.match(resumed.text, /id="sign-in-form"/);
    }
  });

  await t.test('gets nothing that opens a session or gives a token', async () => {
    const asked = await send(service, '/authn', { username: user.login, password: user.password });
    assert.deepEqual([asked.body.status, asked.body.sessionToken], ['MFA_REQUIRED', undefined]);
    const stateToken = asked.body.stateToken ?? '';
    const silent = authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none', sessionToken: stateToken });
    assert.equal(answerOf(await new UserAgent(service.baseUrl).visit(silent)).error, 'login_required', 'a state token is no session token');
    const changed = await send(service, '/authn/credentials/change_password', {
      ...{ stateToken, oldPassword: user.password, newPassword: 'another good password' },
    });
    assert.ok(changed.status >= 400 && changed.body.sessionToken === undefined, JSON.stringify(changed.body));
    assert.equal(await byPassword['the password grant']?.(all, user.login, user.password), false);
  });

  await t.test('is asked for it as well after a new password by a link (OWASP ASVS 5.0 V6.4.3)', async () => {
    const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
    const browser = new UserAgent(service.baseUrl);
    const password = 'chosen by whoever has the link';
    const form = await browser.visit(new URL(body.resetPasswordUrl).pathname);
    const chosen = await browser.submit(form, /<form[^>]*id="([^"]+)"/.exec(form.text)?.[1] ?? '', { password, repeated: password });
    assert.match(chosen.text, /id="factor-form"/);
    assert.equal((await browser.visit('/account')).url.pathname, '/signin', 'nobody is signed in yet');
    const elsewhere = new UserAgent(service.baseUrl);
    const signedIn = await elsewhere.signIn(await elsewhere.visit('/signin'), { login: user.login, password });
    assert.match(signedIn.text, /id="factor-form"/);
  });

  await t.test('is not spared it by what the request asks for', async () => {
    const demanding = await createClient(service, { mfa_required: true });
    const plain = await service.createUser();
    for (const more of [
      { acr_values: 'urn:okta:loa:1fa:any' },
      { acr_values: '0' },
      { claims: '{"id_token":{"acr":{"essential":true,"value":"urn:okta:loa:1fa:any"}}}' },
    ]) {
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.visit(authorizeUrl(service, 'default', { client_id: demanding.clientId, ...more }));
      assert.equal(
        answerOf(page.url.origin === service.baseUrl ? await browser.signIn(page, plain) : page).code,
        undefined,
        JSON.stringify(more),
      );
    }
  });
});

test('guesses at the second factor', async (t) => {
  const { service, client } = await doors(t);
  const begin = async (user: Enrolled) => {
    const { body } = await send(service, '/authn', { username: user.login, password: user.password });
    const [factor] = (body._embedded as unknown as { factors: { id: string }[] }).factors;
    return (passCode: string, factorId = factor?.id) =>
      send(service, `/authn/factors/${factorId}/verify`, { stateToken: body.stateToken, passCode });
  };

  await t.test(
    'count together at the pages and the API, codes and recovery codes alike, in parallel too (CVE-2024-32868, CVE-2025-64102)',
    async () => {
      const user = await enrolledUser(service);
      const browser = new UserAgent(service.baseUrl);
      let page = await browser.signIn(await browser.visit('/signin'), user);
      for (let turn = 0; turn < 2; turn += 1) page = await browser.submit(page, 'factor-form', { passCode: wrongCode(user.secret) });
      for (let turn = 0; turn < 2; turn += 1) page = await browser.submit(page, 'recovery-form', { recoveryCode: 'aaaa-bbbb-cccc-dddd' });
      const guessers = await Promise.all(Array.from({ length: 3 }, () => begin(user)));
      await Promise.all(guessers.flatMap((guess) => [0, 1].map(() => guess(wrongCode(user.secret)))));
      const after = await begin(user);
      assert.notEqual((await after(codeOf(user.secret, 1))).status, 200, 'the right one does not count any more');
    },
  );

  await t.test('are for one user: neither his neighbour’s factor, code, recovery code nor state opens his account', async () => {
    const [mine, his] = [await enrolledUser(service), await enrolledUser(service)];
    const guess = await begin(his);
    const { body: hisFactors } = await service.api('GET', `/users/${his.id}/factors`);
    const { body: myFactors } = await service.api('GET', `/users/${mine.id}/factors`);
    assert.notEqual((await guess(codeOf(mine.secret, 1), myFactors[0].id)).status, 200);
    assert.notEqual((await guess(codeOf(mine.secret, 1), hisFactors[0].id)).status, 200);
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit('/signin'), his);
    const shown = await browser.submit(page, 'recovery-form', { recoveryCode: mine.recoveryCodes[0] ?? '' });
    assert.match(shown.text, /id="factor-form"/);
    // His own cookie at another place: a state belongs to where it began.
    const elsewhere = await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, acr_values: TWO_FACTORS }));
    assert.match(elsewhere.text, /id="sign-in-form"/);
  });
});
