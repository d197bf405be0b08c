/** The authorize endpoint under attack: markup and line breaks in whatever it reflects, several mistakes at once, and requests that are far too long. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as consume } from 'node:stream/consumers';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase } from '../../support/database.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient } from '../servers/relying-party.ts';

const MARKUP = `"'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}<%= 7*7 %>`;
const LINE_BREAKS = ['\r\n', '\n', '\r', '\r\nSet-Cookie: evil=1', '\r\n\r\n<script>', '\u0085', '\0', '\u001b'];
/** Line separators of Unicode, right-to-left override, a zero-width joiner: no control characters, and yet no plain text. */
const ODD = `\u2028\u2029\u202e\u200d${MARKUP}`;
const EVERYTHING = { grant_types: ['authorization_code', 'implicit'], response_types: ['code', 'token', 'id_token token'] };

/** The markup of ours: nothing that came from outside may stand in it, or change a header. */
function isClean({ text, headers }: Pick<Page, 'text' | 'headers'>, title: string): void {
  assert.doesNotMatch(text, /<script>|<img src=x|onerror=alert\(1\)>/, title);
  assert.doesNotMatch(text, /="[^"]*"'/, `${title}: no attribute is left early`);
  assert.equal(headers.get('evil'), null, title);
  assert.ok(!headers.getSetCookie().some((line) => line.startsWith('evil')), title);
}

/** Posts on a connection of its own, which ends with the answer: the rest of the body is not waited for. */
async function postAlone(address: string, body: string, type: string) {
  const sent = request(address, { method: 'POST', headers: { 'content-type': type, connection: 'keep-alive' }, agent: false });
  sent.on('error', () => {});
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = await consume(answer);
  sent.destroy();
  return { status: answer.statusCode, location: answer.headers.location, text };
}

const visit = (service: Service, url: URL) => new UserAgent(service.baseUrl).visit(url);

/** Writes of the scopes what no administrator would, before anything has read them. */
async function serviceWithOddScopes(t: Parameters<typeof startService>[0]): Promise<Service> {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  await onServer(database.url, (client) =>
    client.query(
      `UPDATE scopes SET consent = 'REQUIRED', optional = (name = 'phone'), display_name = $1, description = $1 WHERE name <> 'openid'`,
      [`${ODD}\r\n`],
    ),
  );
  return startService(t, { beside: { database, secretKey: STARTED.SECRET_KEY } });
}

test('markup in a parameter is escaped on every page that shows it, and arrives unchanged where it belongs', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/authorizationServers/default', { name: 'default', profile: 'openid' });
  const { clientId } = await createClient(service, EVERYTHING);
  const reflected = ['state', 'login_hint', 'ui_locales', 'nonce', 'display', 'acr_values', 'idp', 'idp_scope', 'unheard_of'];
  for (const value of [MARKUP, ODD]) {
    for (const name of reflected) {
      for (const serverId of ['built-in', 'default']) {
        for (const response_mode of [undefined, 'form_post']) {
          const page = await visit(service, authorizeUrl(service, serverId, { client_id: clientId, response_mode, [name]: value }));
          isClean(page, `${name}, ${serverId}, ${response_mode}`);
        }
      }
    }
    // What is refused is told in our words, never in those of the request.
    for (const name of [
      'scope',
      'response_type',
      'response_mode',
      'prompt',
      'max_age',
      'claims',
      'id_token_hint',
      'request',
      'code_challenge',
    ]) {
      for (const response_mode of ['fragment', 'form_post']) {
        const request = authorizeUrl(service, 'default', { client_id: clientId, response_mode, [name]: value });
        const page = await visit(service, request);
        isClean(page, name);
        const description = answerOf(page).error_description ?? '';
        if (page.url.origin === new URL(CALLBACK).origin) assert.match(description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, name);
        assert.doesNotMatch(description, /script/, name);
      }
    }
    for (const name of ['client_id', 'redirect_uri']) {
      const page = await visit(service, authorizeUrl(service, 'default', { client_id: clientId, [name]: value }));
      assert.deepEqual([page.status, page.url.origin], [400, service.baseUrl], name);
      isClean(page, name);
    }
  }
  const state = MARKUP;
  const parameters = { client_id: clientId, state, prompt: 'none' };
  assert.equal(answerOf(await visit(service, authorizeUrl(service, 'default', parameters))).state, state);
  const posted = await visit(service, authorizeUrl(service, 'default', { ...parameters, response_mode: 'form_post' }));
  const escaped = state.replace(
    /[&<>"']/g,
    (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' })[character] ?? '',
  );
  assert.ok(posted.text.includes(`<input type="hidden" name="state" value="${escaped}">`), posted.text);
});

test('a line break or another control character in a parameter is invalid_request by redirect, on a page where it is in the address, and reaches no header', async (t) => {
  const service = await startService(t);
  await service.api('PUT', '/authorizationServers/default', { name: 'default', profile: 'openid' });
  const { clientId } = await createClient(service, EVERYTHING);
  const names = [
    'state',
    'login_hint',
    'ui_locales',
    'nonce',
    'scope',
    'response_type',
    'response_mode',
    'prompt',
    'redirect_uri',
    'client_id',
    'x',
  ];
  for (const name of names) {
    for (const lineBreak of LINE_BREAKS) {
      for (const serverId of ['built-in', 'default']) {
        const request = authorizeUrl(service, serverId, { client_id: clientId, [name]: `a${lineBreak}b` });
        const page = await visit(service, request);
        const title = `${name}: ${JSON.stringify(lineBreak)}`;
        if (name === 'redirect_uri' || name === 'client_id')
          assert.deepEqual([page.status, page.url.origin], [400, service.baseUrl], title);
        else {
          assert.equal(page.url.origin + page.url.pathname, CALLBACK, title);
          assert.deepEqual(
            [answerOf(page).error, answerOf(page).state],
            ['invalid_request', name === 'state' ? undefined : 'some-state'],
            title,
          );
        }
        isClean(page, title);
      }
    }
  }
  const response = await fetch(`${service.issuer('default')}/authorize?%0d%0aevil=1&client_id=${clientId}`, { redirect: 'manual' });
  assert.equal(response.status, 400, 'in a name as well');
});

test('an application and scopes with markup for names are shown as text', async (t) => {
  const service = await serviceWithOddScopes(t);
  const user = await service.createUser({ displayName: MARKUP });
  const { status, body } = await service.api('POST', '/apps', {
    name: 'oidc_client',
    // What rearranges text is refused where an application is named.
    label: `\u200d${MARKUP}`,
    signOnMode: 'OPENID_CONNECT',
    settings: { oauthClient: { ...EVERYTHING, redirect_uris: [CALLBACK], consent_method: 'REQUIRED' } },
  });
  assert.ok(status < 300, JSON.stringify(body));
  const parameters = { client_id: body.id, scope: 'openid profile email phone' };
  for (const serverId of ['built-in', 'default']) {
    const browser = new UserAgent(service.baseUrl);
    const signIn = await browser.visit(authorizeUrl(service, serverId, parameters));
    isClean(signIn, 'sign-in');
    assert.ok(signIn.text.includes('&lt;script&gt;'), 'the name is there');
    const dialog = await browser.signIn(signIn, user);
    assert.match(dialog.text, /id="consent"/);
    isClean(dialog, 'consent');
    assert.ok((dialog.text.match(/&lt;script&gt;/g) ?? []).length >= 4, 'the scopes, the application and the user are named');
    const formPost = await browser.submit(dialog, 'consent', { decision: 'deny' });
    assert.equal(answerOf(formPost).error, 'access_denied');
    const page = await browser.visit(authorizeUrl(service, serverId, { ...parameters, scope: 'openid', response_mode: 'form_post' }));
    assert.match(page.text, /id="form-post"/);
    isClean(page, 'form_post');
  }
});

test('several mistakes at once: one answer, with one error, in the right place', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service, EVERYTHING);
  const mistakes: Record<string, string | undefined>[] = [
    { scope: 'nonsense' },
    { state: undefined },
    { nonce: undefined },
    { prompt: 'none login' },
    { max_age: 'x' },
    { claims: '{' },
    { request: 'nonsense' },
    { code_challenge: 'x', code_challenge_method: 'plain' },
    { response_type: 'nonsense' },
    { response_mode: 'nonsense' },
    { id_token_hint: 'x' },
    { registration: '{}' },
  ];
  const known = new Set([
    ...['invalid_request', 'invalid_scope', 'unsupported_response_type', 'unsupported_response_mode', 'invalid_request_object'],
    'registration_not_supported',
  ]);
  for (const [index, first] of mistakes.entries()) {
    for (const second of mistakes.slice(index + 1)) {
      for (const response_type of ['code', 'token']) {
        const request = authorizeUrl(service, 'built-in', { client_id: clientId, response_type, ...first, ...second });
        const page = await visit(service, request);
        const title = `${response_type}: ${JSON.stringify({ ...first, ...second })}`;
        assert.equal(page.url.origin + page.url.pathname, CALLBACK, title);
        const answer = answerOf(page);
        assert.ok(known.has(answer.error ?? ''), `${title}: ${answer.error}`);
        assert.ok(!('access_token' in answer) && !('code' in answer), title);
        assert.equal(answer.state, request.searchParams.get('state') ?? undefined, title);
        const types = request.searchParams.get('response_type');
        assert.equal(page.url.search === '', types === 'token', title);
      }
    }
  }
});

test('requests that are far too long are refused, and the service goes on', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const address = (name: string, value: string) => authorizeUrl(service, 'default', { client_id: clientId, [name]: value });
  for (const name of ['state', 'login_hint', 'scope', 'redirect_uri', 'client_id', 'request', 'x']) {
    const { status } = await fetch(address(name, 'x'.repeat(100_000)), { redirect: 'manual' });
    assert.ok([400, 414, 431].includes(status), `${name}: ${status}`);
  }
  const pairs = Array.from({ length: 12_000 }, (_, index) => `a${index}=b`).join('&');
  assert.ok([400, 414, 431].includes((await fetch(`${service.issuer('default')}/authorize?${pairs}`)).status));
  const form = 'application/x-www-form-urlencoded';
  const tooLong = [
    `${address('login_hint', 'x').searchParams}${'x'.repeat(1024 * 1024)}`,
    'a&'.repeat(512 * 1024),
    '%'.repeat(1024 * 1024),
  ];
  for (const [body, type] of [
    ...tooLong.map((body) => [body, form] as const),
    ['x'.repeat(1024 * 1024), 'multipart/form-data; boundary=x'] as const,
  ]) {
    const answer = await postAlone(`${service.issuer('default')}/authorize`, body, type);
    assert.deepEqual([answer.status, answer.location], [400, undefined]);
    assert.match(answer.text, /id="error-code"/);
  }
  const page = await visit(service, address('login_hint', 'ada'));
  assert.match(page.text, /id="sign-in-form"/, 'still there');
});
