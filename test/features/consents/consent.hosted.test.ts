import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ALICE, CONSENT, cookieOf, type House, LOGIN, openHouse } from '../sign-in/deps.ts';

const PATH = '/interaction/default/uid-2';
const COOKIE = cookieOf('uid-2');

let deps: House;
describe('the consent dialog', () => {
  before(async () => {
    deps = await openHouse();
    deps.interactions.set('uid-2', CONSENT);
  });
  after(() => deps.close());

  test('the dialog names the application, the account, and what the application really gets (decisions, consent dialog)', async () => {
    const answer = await deps.get(PATH, COOKIE);
    const html = await answer.text();
    assert.equal(answer.status, 200);
    assert.match(html, /<h1>Allow Fern &amp; Sons to use your account\?<\/h1>/);
    assert.ok(html.includes(`You are signed in as Alice Liddell (${ALICE.login})`));
    assert.match(html, /<form id="consent" method="post" action="\/interaction\/default\/uid-2\/consent">/);
    assert.match(html, /<button [^>]*name="decision" value="allow">Allow<\/button>/);
    assert.match(html, /<button [^>]*name="decision" value="deny">Deny<\/button>/);
    assert.match(html, /<strong>Read your orders<\/strong>/);
    assert.match(html, /read your name, nickname/);
    assert.match(html, /You will be redirected to https:\/\/fern\.example</);
    assert.match(answer.headers.get('content-security-policy') ?? '', /form-action 'self' https:\/\/fern\.example;/);
  });

  test('only optional scopes are check boxes, none of them ticked, and a scope without a title shows its name', async () => {
    const html = await (await deps.get(PATH, COOKIE)).text();
    const boxes = html.match(/<input [^>]*type="checkbox"[^>]*>/g) ?? [];
    assert.deepEqual(
      boxes.map((box) => /value="([^"]*)"/.exec(box)?.[1]),
      ['orders:write', 'mail'],
    );
    assert.ok(boxes.every((box) => !box.includes('checked')));
    assert.match(html, /<label for="scope-1">mail<\/label>/);
  });

  test('links lead to the policies of the application, never to a script', async () => {
    const application = { ...CONSENT.application, policyUri: 'https://fern.example/privacy', tosUri: 'javascript:alert(1)' };
    deps.interactions.set('links', { ...CONSENT, uid: 'links', application });
    const html = await (await deps.get('/interaction/default/links', cookieOf('links'))).text();
    assert.match(html, /<a href="https:\/\/fern\.example\/privacy"[^>]*rel="noopener noreferrer">Privacy policy<\/a>/);
    assert.doesNotMatch(html, /javascript:|Terms of service/);
  });

  for (const [ticked, granted] of [
    [[], ['profile', 'orders:read']],
    [['mail'], ['profile', 'orders:read', 'mail']],
    [
      ['orders:write', 'mail'],
      ['profile', 'orders:read', 'orders:write', 'mail'],
    ],
    [
      ['admin', 'openid'],
      ['profile', 'orders:read'],
    ],
  ] as const) {
    test(`Allow with [${ticked}] ticked grants [${granted}]: what is required, and what was offered and ticked`, async () => {
      const form = new URLSearchParams({ decision: 'allow' });
      for (const scope of ticked) form.append('scope', scope);
      const answer = await deps.post(`${PATH}/consent`, form, COOKIE);
      assert.equal(answer.status, 303);
      assert.equal(answer.headers.get('location'), '/oauth/v1/default/authorize/uid-2');
      assert.deepEqual(deps.results.at(-1), { uid: 'uid-2', result: { consent: { scopes: granted } } });
    });
  }

  for (const decision of ['deny', 'ALLOW', '']) {
    test(`the decision "${decision}" denies with access_denied (OpenID Connect Core 3.1.2.6)`, async () => {
      await deps.post(`${PATH}/consent`, { decision, scope: 'mail' }, COOKIE);
      assert.deepEqual(deps.results.at(-1)?.result, {
        error: 'access_denied',
        error_description: 'The user did not allow the access',
      });
    });
  }

  test('consent cannot be given while the interaction asks to sign in', async () => {
    deps.interactions.set('uid-1', LOGIN);
    const count = deps.results.length;
    const answer = await deps.post('/interaction/default/uid-1/consent', { decision: 'allow' }, cookieOf('uid-1'));
    assert.match(await answer.text(), /id="sign-in-form"/);
    assert.equal(deps.results.length, count);
  });

  test('a dialog posted by another site is refused', async () => {
    const count = deps.results.length;
    const answer = await deps.post(`${PATH}/consent`, { decision: 'allow' }, { ...COOKIE, origin: 'null' });
    assert.equal(answer.status, 403);
    assert.equal(deps.results.length, count);
  });
});
