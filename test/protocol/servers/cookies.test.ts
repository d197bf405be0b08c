/** Cookies of the OAuth endpoints (RFC 6265bis), and whose interaction it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cookieSignatures } from '../../../src/protocol/library/cookie-signatures.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { authorizeUrl, createClient } from './relying-party.ts';

test('behind an https BASE_URL cookies are Secure and prefixed, without trust in a forwarding header', async (t) => {
  const service = await startService(t, { env: { BASE_URL: 'https://id.example' } });
  const { clientId } = await createClient(service);
  const { pathname, search } = authorizeUrl(service, 'built-in', { client_id: clientId });
  const response = await fetch(service.listensAt + pathname + search, { redirect: 'manual' });
  const cookies = response.headers.getSetCookie();
  assert.match(response.headers.get('location') ?? '', /^\/interaction\/built-in\//);
  assert.equal(cookies.length, 4, 'interaction and resume, each with its signature');
  for (const cookie of cookies) assert.match(cookie, /^__Secure-gatehouse-.*; secure; httponly/i, cookie);
});

test('an interaction belongs to the browser that began it', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service);
  const victim = new UserAgent(service.baseUrl);
  const page = await victim.visit(authorizeUrl(service, 'built-in', { client_id: clientId }));
  const stranger = new UserAgent(service.baseUrl);
  assert.equal((await stranger.visit(page.url)).status, 403);
  assert.equal((await stranger.signIn(page, user)).status, 403);
  assert.match((await victim.signIn(page, user)).url.href, /code=/, 'and the browser’s own goes on');
});

test('the session gets a new identifier at every sign-in (session fixation, RFC 9700 section 4.7)', async (t) => {
  const service = await startService(t);
  const [first, second] = [await service.createUser(), await service.createUser()];
  const { clientId } = await createClient(service);
  const browser = new UserAgent(service.baseUrl);
  const request = authorizeUrl(service, 'built-in', { client_id: clientId, prompt: 'login' });
  const seen = new Set<string | undefined>();
  for (const user of [first, first, second]) {
    const arrived = await browser.signIn(await browser.visit(request), user);
    assert.match(arrived.url.href, /code=/, arrived.text);
    seen.add(browser.cookie('gatehouse-session'));
  }
  assert.equal(seen.size, 3);
});

test('cookies are signed as they were before (keygrip), and known by each of the keys and by no other', () => {
  const { sign, index, verify } = cookieSignatures(['the newest key', 'an older key']);
  const data = 'gatehouse-session=22';
  const [newest, older] = ['OT3XBzceF9R_NP0H-33kDboX8IM', 't3eBJK8Mi1oRlEU7Mm2tDULptVw'];
  assert.equal(sign(data), newest);
  assert.deepEqual([index(data, newest), index(data, older)], [0, 1]);
  for (const forged of ['', 'OT3XBzceF9R_NP0H-33kDboX8Im', `${newest}=`, newest.slice(1), 'ü'.repeat(14)]) {
    assert.equal(index(data, forged), -1, forged);
    assert.equal(verify(data, forged), false, forged);
  }
  assert.equal(index('gatehouse-session=23', newest), -1);
  assert.throws(() => cookieSignatures([]));
});
