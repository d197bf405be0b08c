import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Received } from '../../support/requests.ts';
import { ALICE, cookieOf, type House, LOGIN, openHouse } from './deps.ts';

let deps: House;
describe('pages of failures', () => {
  before(async () => {
    deps = await openHouse();
    deps.interactions.set('uid-1', LOGIN);
  });
  after(() => deps.close());

  async function assertErrorPage(answer: Received, status: number, code: string): Promise<string> {
    const html = await answer.text();
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(html, /<title>Error: /);
    assert.ok(html.includes(`id="error-code">${code}<`), html);
    assert.match(html, /id="error-description"[^>]*>[^<]+</);
    assert.match(html, /id="request-id">req-0815</);
    return html;
  }

  test('an interaction that is over says how to go on', async () => {
    const html = await assertErrorPage(await deps.get('/interaction/default/gone', cookieOf('gone')), 410, 'interaction_expired');
    assert.match(html, /Go back to the application/);
  });

  test('an interaction is refused in a browser that did not begin it', async () => {
    for (const cookie of [{}, cookieOf('uid-1')]) {
      await assertErrorPage(await deps.get('/interaction/default/uid-9', cookie), 403, 'interaction_elsewhere');
    }
    const form = { username: ALICE.login, password: ALICE.password };
    await assertErrorPage(await deps.post('/interaction/default/uid-9/login', form, cookieOf('uid-1')), 403, 'interaction_elsewhere');
    await assertErrorPage(await deps.get('/interaction/other/uid-1', cookieOf('uid-1')), 403, 'interaction_elsewhere');
    assert.equal(deps.results.length, 0);
  });

  test('an interaction whose session changed meanwhile says so', async () => {
    await assertErrorPage(await deps.get('/interaction/default/changed', cookieOf('changed')), 409, 'session_changed');
  });

  test('an unknown page is a page, with a way home', async () => {
    const html = await assertErrorPage(await deps.get('/nowhere'), 404, 'not_found');
    assert.match(html, /href="\/"/);
  });

  test('what the authorization endpoint may not redirect is shown, with a way back to the application (RFC 6749 section 4.1.2.1)', async () => {
    const html = await assertErrorPage(await deps.get('/oauth/v1/authorize'), 400, 'invalid_redirect_uri');
    assert.match(html, /id="error-description"[^>]*>redirect_uri is not registered</);
    assert.match(html, /<a class="button main" href="https:\/\/fern\.example\/">Return to Fern &amp; Sons<\/a>/);
  });

  test('a form above 64 KiB is refused in plain words', async () => {
    const answer = await deps.post('/interaction/default/uid-1/login', { username: 'x'.repeat(70_000) }, cookieOf('uid-1'));
    await assertErrorPage(answer, 413, 'bad_request');
  });

  test('a failure of the service itself tells the visitor nothing of its cause', async () => {
    const broken = { ...LOGIN, uid: 'broken' };
    Object.defineProperty(broken, 'redirectOrigins', {
      get() {
        throw new Error('the cause');
      },
    });
    deps.interactions.set('broken', broken);
    const html = await assertErrorPage(await deps.get('/interaction/default/broken', cookieOf('broken')), 500, 'server_error');
    assert.doesNotMatch(html, /the cause/);
  });

  test('a lost database is told as such, and to come back later (RFC 9110 section 15.6.4)', async () => {
    const answer = await deps.get('/interaction/default/unreachable', cookieOf('uid-1'));
    assert.equal(answer.headers.get('retry-after'), '10');
    await assertErrorPage(answer, 503, 'temporarily_unavailable');
  });
});
