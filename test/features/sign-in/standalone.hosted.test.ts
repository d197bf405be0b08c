import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ALICE, type House, openHouse } from './deps.ts';

let deps: House;
describe('the sign-in page by itself', () => {
  before(async () => {
    deps = await openHouse();
  });
  after(() => deps.close());

  /** Opens the page as a fresh browser: its cookie, and the token in the form. */
  async function open(path = '/signin'): Promise<{ html: string; cookie: string; csrf: string }> {
    const answer = await deps.get(path);
    const html = await answer.text();
    const csrf = /name="csrf" value="([\w-]+)"/.exec(html)?.[1] ?? '';
    return { html, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '', csrf };
  }

  test('GET /signin stands by itself: no application, nothing to return to (decisions, the sign-in page)', async () => {
    const { html } = await open();
    assert.match(html, /<form id="sign-in-form" method="post" action="\/signin">/);
    assert.doesNotMatch(html, /id="cancel"|to continue to|role="status"/);
  });

  test('after a logout the page says so', async () => {
    assert.match((await open('/signin?signed-out')).html, /<p class="notice" role="status">You are signed out\.<\/p>/);
  });

  test('signing in begins a session and leads to the user’s own pages, whatever address the query names', async () => {
    const { cookie, csrf } = await open('/signin?next=https://evil.example');
    const form = { username: ALICE.login.toUpperCase(), password: ALICE.password, csrf };
    const answer = await deps.post('/signin?next=https://evil.example', form, { cookie });
    assert.equal(answer.status, 303);
    assert.equal(answer.headers.get('location'), '/account');
    assert.ok(answer.headers.getSetCookie().some((set) => set.startsWith(`session=${deps.aliceId};`)));
  });

  test('an administrator is led to the console, from the form and from the page, and finds it on his own pages (decisions, the sign-in page)', async () => {
    const admin = { login: 'root@example.com', password: 'correct horse battery' };
    const id = await deps.createAdministrator(admin);
    const { cookie, csrf } = await open('/signin?next=https://evil.example');
    const answer = await deps.post('/signin', { username: admin.login, password: admin.password, csrf }, { cookie });
    assert.equal(answer.headers.get('location'), '/admin');
    assert.equal((await deps.get('/signin', { cookie: `session=${id}` })).headers.get('location'), '/admin');
    assert.match(await (await deps.get('/account', { cookie: `session=${id}` })).text(), /href="\/admin">Open the admin console</);
    assert.doesNotMatch(await (await deps.get('/account', { cookie: `session=${deps.aliceId}` })).text(), /href="\/admin"/);
  });

  test('a form without this browser’s token is refused: nobody is signed in to an account that is not theirs (RFC 9700 section 4.7)', async () => {
    const mine = await open();
    const theirs = await open();
    for (const [cookie, csrf] of [
      [mine.cookie, theirs.csrf],
      ['', mine.csrf],
    ] as const) {
      const answer = await deps.post('/signin', { username: ALICE.login, password: ALICE.password, csrf }, { cookie });
      assert.equal(answer.status, 403);
      assert.ok(!answer.headers.getSetCookie().some((set) => set.startsWith('session=')));
      assert.match(await answer.text(), /Open the page again and resubmit the form/);
    }
  });

  test('a wrong password shows the form again, with a token that works', async () => {
    const { cookie, csrf } = await open();
    const wrong = await deps.post('/signin', { username: ALICE.login, password: 'wrong', csrf }, { cookie });
    assert.equal(wrong.status, 400);
    const again = /name="csrf" value="([\w-]+)"/.exec(await wrong.text())?.[1] ?? '';
    assert.equal((await deps.post('/signin', { username: ALICE.login, password: ALICE.password, csrf: again }, { cookie })).status, 303);
  });

  test('the first of the user’s own pages tells who is signed in, and leads to the playground and to the logout', async () => {
    const answer = await deps.get('/account', { cookie: `session=${deps.aliceId}` });
    const html = await answer.text();
    assert.equal(answer.status, 200);
    assert.ok(html.includes(`as Alice Liddell (${ALICE.login})`));
    assert.match(html, /href="\/playground"/);
    assert.match(html, /href="\/oauth\/v1\/logout"/);
  });

  test('without a session the start page leads to sign-in, with one it and sign-in lead to the user’s own pages', async () => {
    assert.equal((await deps.get('/')).headers.get('location'), '/signin');
    for (const path of ['/', '/signin'])
      assert.equal((await deps.get(path, { cookie: `session=${deps.aliceId}` })).headers.get('location'), '/account');
  });

  test('logout asks first, with the published hooks (OpenID Connect RP-Initiated Logout 1.0 section 2)', async () => {
    const answer = await deps.get('/oauth/v1/logout');
    const html = await answer.text();
    assert.match(html, /<form id="logout-form" method="post" action="\/oauth\/v1\/logout">/);
    assert.match(html, /<input type="hidden" name="csrf" value="[\w-]{43}">/);
    assert.match(html, /<button class="main" id="logout-confirm" type="submit">Sign out<\/button>/);
    assert.match(html, /Fern &amp; Sons wants to sign you out/);
    assert.match(answer.headers.get('content-security-policy') ?? '', /form-action 'self' https:\/\/fern\.example;/);
  });
});
