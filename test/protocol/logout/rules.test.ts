/** The order of logout's checks as a table: which of two mistakes counts, whose hint ends what, and where the browser goes (decisions, "Logout"). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post, SIGNED_OUT, tokensFor, userinfo } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;
const OTHERS = 'https://other.example/signed-out?tenant=1';
const NOWHERE = 'https://evil.example/';

async function world(t: TestContext, serverId: string) {
  const service = await startService(t);
  const [user, stranger] = [await service.createUser(), await service.createUser()];
  const client = await createClient(service);
  const other = await createClient(service, { post_logout_redirect_uris: [OTHERS] });
  const elsewhere = serverId === 'built-in' ? 'default' : 'built-in';
  const browser = new UserAgent(service.baseUrl);
  const tokens = (await tokensFor(service, browser, user, client, { serverId })).body;
  const foreign = (await tokensFor(service, new UserAgent(service.baseUrl), stranger, client, { serverId })).body;
  const others = (await tokensFor(service, browser, user, other, { serverId })).body;
  const away = (await tokensFor(service, browser, user, client, { serverId: elsewhere })).body;
  const url = (parameters: Record<string, string>) => `${service.issuer(serverId)}/logout?${new URLSearchParams(parameters)}`;
  const hasSession = async (agent: UserAgent, at = serverId): Promise<boolean> =>
    'code' in answerOf(await agent.visit(authorizeUrl(service, at, { client_id: client.clientId, prompt: 'none' })));
  /** The user's own browser, signed in (again). */
  const signIn = async () => {
    const agent = new UserAgent(service.baseUrl);
    await tokensFor(service, agent, user, client, { serverId });
    return agent;
  };
  const forged = tokens.id_token.replace(/.{4}$/, (end: string) => (end === 'AAAA' ? 'BBBB' : 'AAAA'));
  const hints = {
    ...{ own: tokens.id_token, stranger: foreign.id_token, others: others.id_token, elsewhere: away.id_token },
    ...{ broken: 'nonsense', forged, control: 'a\u0000b' },
  };
  return { service, user, client, other, elsewhere, browser, tokens, url, hasSession, signIn, hints };
}

/** `error`: a page with 400; `asks`: the confirmation page; else where the browser is sent by 302 at once. */
type Outcome = 'error' | 'asks' | 'signin' | typeof SIGNED_OUT | typeof OTHERS;

interface Row {
  readonly hint?: keyof Awaited<ReturnType<typeof world>>['hints'];
  readonly uri?: string;
  readonly named?: 'client' | 'other' | 'unknown' | 'control';
  /** Without and with the session of the user. */
  readonly without: Outcome;
  readonly with: Outcome;
}

const ROWS: readonly Row[] = [
  // 1. The hint comes first, session or not, whatever the address.
  { hint: 'broken', without: 'error', with: 'error' },
  { hint: 'broken', uri: SIGNED_OUT, without: 'error', with: 'error' },
  { hint: 'forged', uri: SIGNED_OUT, without: 'error', with: 'error' },
  { hint: 'control', without: 'error', with: 'error' },
  { hint: 'elsewhere', without: 'error', with: 'error' },
  { hint: 'elsewhere', uri: SIGNED_OUT, named: 'client', without: 'error', with: 'error' },
  // 2. Then the address, by the application of the hint or of client_id, without either by any.
  { uri: NOWHERE, without: 'error', with: 'error' },
  { hint: 'own', uri: NOWHERE, without: 'error', with: 'error' },
  { named: 'client', uri: NOWHERE, without: 'error', with: 'error' },
  { hint: 'own', uri: OTHERS, without: 'error', with: 'error' },
  { hint: 'stranger', uri: OTHERS, without: 'error', with: 'error' },
  { named: 'client', uri: OTHERS, without: 'error', with: 'error' },
  { uri: 'a\u0000b', without: 'error', with: 'error' },
  { named: 'unknown', without: 'error', with: 'error' },
  { named: 'control', without: 'error', with: 'error' },
  { hint: 'own', named: 'other', without: 'error', with: 'error' },
  { uri: `${SIGNED_OUT}/`, without: 'error', with: 'error' },
  { uri: `${SIGNED_OUT}?x=1`, hint: 'own', without: 'error', with: 'error' },
  // 3. and 4. Without a session on at once, as with the hint of its subject, of whichever application.
  { hint: 'own', without: 'signin', with: 'signin' },
  { hint: 'own', uri: SIGNED_OUT, without: SIGNED_OUT, with: SIGNED_OUT },
  { hint: 'own', uri: SIGNED_OUT, named: 'client', without: SIGNED_OUT, with: SIGNED_OUT },
  { hint: 'others', uri: OTHERS, without: OTHERS, with: OTHERS },
  // 5. Anything else asks where somebody is signed in.
  { without: 'signin', with: 'asks' },
  { uri: SIGNED_OUT, without: SIGNED_OUT, with: 'asks' },
  { uri: OTHERS, without: OTHERS, with: 'asks' },
  { named: 'client', without: 'signin', with: 'asks' },
  { named: 'client', uri: SIGNED_OUT, without: SIGNED_OUT, with: 'asks' },
  { hint: 'stranger', without: 'signin', with: 'asks' },
  { hint: 'stranger', uri: SIGNED_OUT, without: SIGNED_OUT, with: 'asks' },
];

for (const serverId of SERVERS) {
  test(`every combination of hint, address, application and session, in the order of the checks: ${serverId} server (RP-Initiated Logout 1.0 section 2)`, async (t) => {
    const { service, client, other, url, hasSession, signIn, hints } = await world(t, serverId);
    const ids = { client: client.clientId, other: other.clientId, unknown: 'nobody', control: 'a\u0000b' };
    let signedIn = await signIn();
    for (const row of ROWS) {
      for (const state of [undefined, 'a,b.c_d-e&f=ü']) {
        const parameters = {
          ...(row.hint === undefined ? {} : { id_token_hint: hints[row.hint] }),
          ...(row.uri === undefined ? {} : { post_logout_redirect_uri: row.uri }),
          ...(row.named === undefined ? {} : { client_id: ids[row.named] }),
          ...(state === undefined ? {} : { state }),
        };
        for (const [session, expected] of [
          [false, row.without],
          [true, row.with],
        ] as const) {
          const what = `${JSON.stringify({ ...row, state })} session ${session}`;
          const response = await (session ? signedIn : new UserAgent(service.baseUrl)).send(url(parameters));
          const text = await response.text();
          const location = response.headers.get('location');
          if (expected === 'error') {
            assert.deepEqual([response.status, location], [400, null], what);
            assert.equal(
              /id="error-code"[^>]*>\s*(\w+)\s*</.exec(text)?.[1],
              row.named === 'unknown' ? 'invalid_client' : 'invalid_request',
              what,
            );
          } else if (expected === 'asks') {
            assert.deepEqual([response.status, location], [200, null], what);
            assert.match(text, /id="logout-form"/, what);
          } else {
            assert.equal(response.status, 302, what);
            const to = new URL(location ?? '');
            if (expected === 'signin') assert.equal(`${to}`, `${service.baseUrl}/signin?signed-out`, what);
            else {
              assert.equal(to.searchParams.get('state'), state ?? null, what);
              assert.equal(location?.replace(/[?&]state=.*$/, ''), expected, what);
            }
          }
          if (!session) continue;
          const ended = expected !== 'error' && expected !== 'asks';
          assert.equal(await hasSession(signedIn), !ended, what);
          if (ended) signedIn = await signIn();
        }
      }
    }
  });
}

test('whoever confirms is signed out, and sent to the registered address with its state', async (t) => {
  const { client, other, url, hasSession, signIn, hints } = await world(t, 'default');
  const ids = { client: client.clientId, other: other.clientId, unknown: 'nobody', control: 'a\u0000b' };
  for (const { hint, uri, named } of ROWS.filter((row) => row.with === 'asks')) {
    const agent = await signIn();
    const asked = await agent.visit(
      url({
        ...(hint === undefined ? {} : { id_token_hint: hints[hint] }),
        ...(uri === undefined ? {} : { post_logout_redirect_uri: uri }),
        ...(named === undefined ? {} : { client_id: ids[named] }),
        state: 'bye',
      }),
    );
    const forged = await agent.visit(asked.url, { method: 'POST', body: new URLSearchParams({ confirm: 'x'.repeat(43) }) });
    assert.match(forged.text, /id="logout-form"/, 'a form that was not shown asks again');
    assert(await hasSession(agent), 'and ends nothing');
    const { url: arrived } = await agent.submit(asked, 'logout-form');
    const what = JSON.stringify({ hint, uri, named });
    if (uri === undefined) assert.equal(arrived.pathname, '/signin', what);
    else assert.equal(arrived.href, `${uri}${uri.includes('?') ? '&' : '?'}state=bye`, what);
    assert(!(await hasSession(agent)), what);
  }
});

test('a hint that expired long ago ends the session of its subject, and asks in another’s (RP-Initiated Logout 1.0 section 2)', async (t) => {
  const { url, hasSession, signIn, hints } = await world(t, 'default');
  moveClock(t, 2 * 86_400);
  const agent = await signIn();
  const asked = await agent.send(url({ id_token_hint: hints.stranger, post_logout_redirect_uri: SIGNED_OUT }));
  assert.match(await asked.text(), /id="logout-form"/);
  assert(await hasSession(agent));
  const done = await agent.send(url({ id_token_hint: hints.own, post_logout_redirect_uri: SIGNED_OUT, state: 'x' }));
  assert.deepEqual([done.status, done.headers.get('location')], [302, `${SIGNED_OUT}?state=x`]);
  assert(!(await hasSession(agent)));
});

test('a session that expired is none: no confirmation, no effect', async (t) => {
  const { url, browser } = await world(t, 'built-in');
  moveClock(t, 31 * 86_400);
  const response = await browser.send(url({ post_logout_redirect_uri: SIGNED_OUT }));
  assert.deepEqual([response.status, response.headers.get('location')], [302, SIGNED_OUT]);
  assert.match((await browser.send(url({}))).headers.get('location') ?? '', /\/signin/);
});

test('the session ends on all servers and no token does', async (t) => {
  const { service, client, elsewhere, browser, tokens, url, hasSession, hints } = await world(t, 'built-in');
  assert(await hasSession(browser, elsewhere));
  await browser.send(url({ id_token_hint: hints.own }));
  assert.deepEqual([await hasSession(browser), await hasSession(browser, elsewhere)], [false, false]);
  for (const token of [tokens.access_token, tokens.refresh_token, tokens.id_token]) {
    assert.equal((await post(service, 'built-in', 'introspect', client, { token })).body.active, true);
  }
  assert.equal((await userinfo(service, 'built-in', tokens.access_token)).status, 200);
  const refreshed = await post(service, 'built-in', 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token });
  assert.equal(refreshed.status, 200);
});

test('a posted logout means what the same one by GET means (RP-Initiated Logout 1.0 section 2)', async (t) => {
  const { service, browser, hasSession, hints } = await world(t, 'default');
  const send = (form: Record<string, string>) =>
    browser.send(`${service.issuer('default')}/logout`, { method: 'POST', body: new URLSearchParams(form) });
  assert.equal((await send({ id_token_hint: hints.broken })).status, 400);
  assert.equal((await send({ id_token_hint: hints.own, post_logout_redirect_uri: NOWHERE })).status, 400);
  assert.match(await (await send({ post_logout_redirect_uri: SIGNED_OUT })).text(), /id="logout-form"/);
  assert(await hasSession(browser));
  const done = await send({ id_token_hint: hints.own, post_logout_redirect_uri: SIGNED_OUT, state: 'x' });
  assert.deepEqual([done.status, done.headers.get('location')], [302, `${SIGNED_OUT}?state=x`]);
  assert(!(await hasSession(browser)));
});

test('a parameter twice, and a control character in one, is an error page, and nothing ends', async (t) => {
  const { browser, url, hasSession, hints } = await world(t, 'built-in');
  const address = url({ id_token_hint: hints.own, post_logout_redirect_uri: SIGNED_OUT });
  for (const twice of [`id_token_hint=${hints.own}`, `post_logout_redirect_uri=${encodeURIComponent(SIGNED_OUT)}`]) {
    assert.equal((await browser.send(`${address}&${twice}`)).status, 400);
  }
  for (const more of ['state=a&state=b', 'state=a%00b', 'ui_locales=a%00b']) {
    assert.equal((await browser.send(`${address}&${more}`)).status, 400, more);
  }
  assert(await hasSession(browser));
});
