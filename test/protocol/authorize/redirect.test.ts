/** Where an authorization response may go: to a registered address, compared exactly (RFC 9700 section 2.1), except for a loopback port (RFC 8252 section 7.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient } from '../servers/relying-party.ts';

/** The check is the same at every server, so each takes its turn. */
const SERVERS = ['built-in', 'default'];
const serverOf = (turn: number): string => SERVERS[turn % SERVERS.length] ?? '';
const TOLD_EARLIER = ['unsupported_response_type', 'unsupported_response_mode', 'unauthorized_client'];
const EVIL = 'https://evil.example/callback';

const errorCode = (page: Page): string | undefined => /id="error-code"[^>]*>\s*([a-z_]+)\s*</.exec(page.text)?.[1];

/** One request, without following anywhere. */
async function ask(service: Service, serverId: string, parameters: Record<string, string | undefined>): Promise<Page> {
  const url = authorizeUrl(service, serverId, { prompt: 'none', ...parameters });
  const response = await new UserAgent(service.baseUrl).send(url);
  return { url, status: response.status, headers: response.headers, text: await response.text() };
}

function isErrorPage(page: Page, title: string, codes: readonly string[]): void {
  assert.equal(page.status, 400, title);
  assert.equal(page.headers.get('location'), null, title);
  assert.ok(codes.includes(errorCode(page) ?? ''), `${title}: ${errorCode(page)}`);
  // The language links repeat the query of this very page; nothing else leads anywhere.
  assert.doesNotMatch(page.text, /(href|action|src)="(?!\?)[^"]*evil/, title);
  assert.doesNotMatch(page.text, /http-equiv="refresh"|id="form-post"/i, title);
}

/** Every way to take one value from each list. */
const combinations = <T extends Record<string, unknown>>(choices: readonly (readonly T[])[]): T[] =>
  choices.reduce<T[]>((found, list) => found.flatMap((one) => list.map((next) => ({ ...one, ...next }))), [{} as T]);

test('an unknown client or an unregistered redirect_uri is an error page, whatever else is wrong or right', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const unusable: [parameters: Record<string, string | undefined>, codes: string[]][] = [
    [{ client_id: 'nobody' }, ['invalid_client']],
    [{ client_id: undefined }, ['invalid_request']],
    [{ client_id: '' }, ['invalid_request']],
    [{ client_id: 'nobody', redirect_uri: EVIL }, ['invalid_client']],
    [{ client_id: clientId, redirect_uri: EVIL }, ['invalid_redirect_uri']],
    // What is missing may be told before what is wrong; the page is the same.
    [{ client_id: clientId, redirect_uri: undefined }, ['invalid_request', ...TOLD_EARLIER]],
    [{ client_id: clientId, redirect_uri: '' }, ['invalid_request', ...TOLD_EARLIER]],
  ];
  const others = combinations<Record<string, string | undefined>>([
    [{}, { response_type: undefined }, { response_type: 'nonsense' }, { response_type: 'code id_token token' }],
    [{}, { response_mode: 'nonsense' }, { response_mode: 'form_post' }],
    [{}, { scope: 'nonsense' }],
    [{}, { state: undefined }],
    [{}, { request: 'nonsense' }, { code_challenge: 'x', code_challenge_method: 'plain', prompt: 'none login' }],
  ]);
  for (const [turn, other] of others.entries()) {
    for (const [number, [parameters, codes]] of unusable.entries()) {
      const serverId = serverOf(turn + number);
      const page = await ask(service, serverId, { ...other, ...parameters });
      isErrorPage(page, `${serverId} ${JSON.stringify({ ...other, ...parameters })}`, codes);
    }
  }
});

test('redirect_uri is compared character by character', async (t) => {
  const service = await startService(t);
  const registered = ['https://app.example/callback', 'https://app.example:8443/a/b?x=1&y=%C3%A4', 'http://localhost:4000/cb'];
  const { clientId } = await createClient(service, { redirect_uris: registered });
  for (const [serverId, redirect_uri] of SERVERS.flatMap((server) => registered.map((address) => [server, address] as const))) {
    const page = await ask(service, serverId, { client_id: clientId, redirect_uri });
    const location = page.headers.get('location') ?? '';
    assert.ok(location.startsWith(redirect_uri), location);
    assert.equal(answerOf({ url: new URL(location) }).error, 'login_required');
    const kept = new URL(redirect_uri).searchParams;
    for (const [name, value] of kept) assert.equal(new URL(location).searchParams.get(name), value, 'its own query stays');
  }
  const mutations = [
    // user information, and hosts that only look like the right one
    'https://user@app.example/callback',
    'https://user:password@app.example/callback',
    'https://app.example@evil.example/callback',
    'https://app.example:443@evil.example/callback',
    'https://evil.example\\@app.example/callback',
    'https://evil.example/https://app.example/callback',
    'https://evil.example?https://app.example/callback',
    'https://evil.example#https://app.example/callback',
    'https://app.example.evil.example/callback',
    'https://evilapp.example/callback',
    'https://sub.app.example/callback',
    'https://app.example./callback',
    'https://app。example/callback',
    'https://ａpp.example/callback',
    'https://аpp.example/callback',
    'https://xn--pp-6kc.example/callback',
    'https://app%2Eexample/callback',
    'https://app.example%00.evil.example/callback',
    'https://app.example%23.evil.example/callback',
    'https://[::1]/callback',
    '//app.example/callback',
    'app.example/callback',
    '/callback',
    'callback',
    // scheme and port
    'http://app.example/callback',
    'HTTPS://app.example/callback',
    'https:app.example/callback',
    'https:/app.example/callback',
    'https:\\\\app.example\\callback',
    'https://app.example:443/callback',
    'https://app.example:8443/callback',
    'https://app.example:/callback',
    'https://app.example:80/callback',
    'javascript:alert(1)',
    'javascript://app.example/callback%0aalert(1)',
    'data:text/html,x',
    'com.app.example:/callback',
    // letters and encodings
    'https://APP.example/callback',
    'https://app.example/Callback',
    'https://app.example/%63allback',
    'https://app.example/callback%20',
    'https://app.example/callback%2F',
    'https%3A%2F%2Fapp.example%2Fcallback',
    'https://app.example/c%61llback',
    // paths
    'https://app.example/callback/',
    'https://app.example//callback',
    'https://app.example/./callback',
    'https://app.example/x/../callback',
    'https://app.example/callback/..',
    'https://app.example/callback/../../evil',
    'https://app.example/callback/%2e%2e/evil',
    'https://app.example/callback;x',
    'https://app.example\\callback',
    'https://app.example/callback\\',
    'https://app.example',
    'https://app.example/',
    // query and fragment
    'https://app.example/callback?',
    'https://app.example/callback?x=1',
    'https://app.example/callback#',
    'https://app.example/callback#x',
    'https://app.example/callback%23x',
    'https://app.example:8443/a/b?y=%C3%A4&x=1',
    'https://app.example:8443/a/b?x=1&y=ä',
    'https://app.example:8443/a/b?x=1&y=%c3%a4',
    'https://app.example:8443/a/b?x=1&y=%C3%A4&z',
    'https://app.example:8443/a/b',
    // whitespace
    ' https://app.example/callback',
    'https://app.example/callback ',
    'https://app.example /callback',
    'https://app.example/call back',
    'https://app.example/callback\u00a0',
    'https://app.example/callback\u200b',
    '\ufeffhttps://app.example/callback',
    'https://app.example/callback\u2028',
    // an https or localhost address of a web application has no free port
    'http://localhost/cb',
    'http://localhost:4001/cb',
    'http://127.0.0.1:4000/cb',
    // several
    'https://app.example/callback https://evil.example/callback',
    'https://app.example/callback,https://evil.example/callback',
    'https://evil.example/callback',
    'x'.repeat(3000),
  ];
  for (const [turn, redirect_uri] of mutations.entries()) {
    const page = await ask(service, serverOf(turn), { client_id: clientId, redirect_uri });
    isErrorPage(page, redirect_uri, ['invalid_redirect_uri']);
    const posted = await ask(service, serverOf(turn + 1), { client_id: clientId, redirect_uri, response_mode: 'form_post' });
    isErrorPage(posted, `${redirect_uri}, form_post`, ['invalid_redirect_uri']);
  }
  for (const control of ['\t', '\n', '\r\n', '\0', '\u007f', '\u0085', '\r\nLocation: https://evil.example']) {
    for (const redirect_uri of [`https://app.example/callback${control}`, `${control}https://app.example/callback`]) {
      isErrorPage(await ask(service, 'default', { client_id: clientId, redirect_uri }), JSON.stringify(redirect_uri), ['invalid_request']);
    }
  }
});

test("a native application's loopback address has any port, and nothing else is free (RFC 8252 section 7.3)", async (t) => {
  const service = await startService(t);
  const addresses = [
    'http://127.0.0.1/cb',
    'http://[::1]:8000/cb?x=1',
    'http://localhost/cb',
    'com.example.app:/cb',
    'https://claimed.example/cb',
  ];
  const native = await createClient(service, { application_type: 'native', redirect_uris: addresses });
  const challenge = { code_challenge: 'a'.repeat(43) };
  const redirected = async (redirect_uri: string, serverId: string) => {
    const page = await ask(service, serverId, { client_id: native.clientId, redirect_uri, ...challenge });
    const location = page.headers.get('location');
    if (location !== null) assert.ok(location.startsWith(`${redirect_uri}${redirect_uri.includes('?') ? '&' : '?'}`), location);
    else isErrorPage(page, redirect_uri, ['invalid_redirect_uri']);
    return location !== null;
  };
  const good = [
    ...addresses,
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:51234/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb?x=1',
    'http://[::1]:51234/cb?x=1',
    'http://localhost:51234/cb',
  ];
  for (const serverId of SERVERS) for (const address of good) assert.equal(await redirected(address, serverId), true, address);
  const bad = [
    'http://127.0.0.1:51234/cb/',
    'http://127.0.0.1:51234/other',
    'http://127.0.0.1:51234/cb?x=1',
    'http://127.0.0.1:51234/cb#x',
    'http://127.0.0.1:99999/cb',
    'http://127.0.0.1:51234x/cb',
    'http://127.0.0.2:51234/cb',
    'http://127.1:51234/cb',
    'http://2130706433:51234/cb',
    'http://0x7f000001/cb',
    'http://0.0.0.0:51234/cb',
    'http://[::1]:51234/cb',
    'http://[::ffff:127.0.0.1]:51234/cb',
    'http://[0:0:0:0:0:0:0:1]:51234/cb?x=1',
    'https://127.0.0.1:51234/cb',
    'HTTP://127.0.0.1:51234/cb',
    'http://user@127.0.0.1:51234/cb',
    'http://127.0.0.1:51234@evil.example/cb',
    'http://localhost.evil.example:51234/cb',
    'http://LOCALHOST:51234/cb',
    'com.example.app:1234/cb',
    'com.example.app://x/cb',
    'https://claimed.example:8443/cb',
  ];
  for (const [turn, address] of bad.entries()) assert.equal(await redirected(address, serverOf(turn)), false, address);
});
