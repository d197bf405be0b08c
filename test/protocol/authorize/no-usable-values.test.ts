/** The database opens no door: after whole flows no table holds a value that was issued, shown once or typed in (RFC 6819 section 5.1.4.1.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from 'otpauth';
import { onServer } from '../../support/database.ts';
import { codeOf, recoveryCodesOn, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import type { Received } from '../../support/requests.ts';
import { ADMIN, API_TOKEN, type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, SIGNED_OUT, verifier } from '../servers/relying-party.ts';

/** Values, each with what it is. */
type Seen = Map<string, string>;

/** A browser that notes the value of each cookie it is given. */
class WatchedBrowser extends UserAgent {
  constructor(
    origin: string,
    readonly seen: Seen,
  ) {
    super(origin);
  }

  override async send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const response = await super.send(address, init);
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      // Its signature comes as a cookie of its own, `<name>.sig`.
      note(this.seen, `cookie ${name}`, value);
    }
    return response;
  }
}

function note(seen: Seen, what: string, value: string | undefined): void {
  if (value !== undefined && value.length >= 8) seen.set(value, what);
}

/** Everything that a table holds, as text, by the table's name. */
async function dump(service: Service): Promise<[table: string, content: string][]> {
  return onServer(service.database.url, async (client) => {
    const tables = await client.query<{ name: string }>(
      "SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
    );
    const dumped: [string, string][] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ content: string | null }>(`SELECT string_agg(t::text, E'\\n') AS content FROM ${name} t`);
      dumped.push([name, rows[0]?.content ?? '']);
    }
    return dumped;
  });
}

async function wholeFlow(service: Service, serverId: string, seen: Seen): Promise<void> {
  const user = await service.createUser({ email: `${serverId}@example.com` });
  note(seen, 'the password', user.password);
  const client = await createClient(service);
  note(seen, 'the client secret', client.clientSecret);
  const browser = new WatchedBrowser(service.baseUrl, seen);
  const proof = verifier();
  note(seen, 'the PKCE verifier', proof);
  const request = { client_id: client.clientId, scope: 'openid profile offline_access', code_challenge: challengeOf(proof) };

  const page = await browser.visit(authorizeUrl(service, serverId, request));
  note(seen, 'the uid of the interaction, while it waits', page.url.pathname.split('/').at(-1));
  await assertNoneStored(service, seen);
  const { code = '' } = answerOf(await browser.signIn(page, user));
  note(seen, 'the code', code);
  await assertNoneStored(service, seen);

  const form = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof };
  const tokens = (await post(service, serverId, 'token', client, form)).body;
  const refreshed = (await post(service, serverId, 'token', client, { grant_type: 'refresh_token', refresh_token: tokens.refresh_token }))
    .body;
  for (const answer of [tokens, refreshed]) {
    for (const name of ['access_token', 'refresh_token', 'id_token']) {
      assert.equal(typeof answer[name], 'string', name);
      note(seen, `the ${name}`, answer[name]);
    }
  }
  await withHint(service, serverId, browser, { ...request, id_token_hint: tokens.id_token });
  await assertNoneStored(service, seen);
  await browser.visit(
    `${service.issuer(serverId)}/logout?${new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: SIGNED_OUT })}`,
  );
}

/** An interaction under way that was asked for with an ID token as hint and that carries the session's cookie. */
async function withHint(service: Service, serverId: string, browser: UserAgent, request: Record<string, string>): Promise<void> {
  const page = await browser.visit(authorizeUrl(service, serverId, { ...request, prompt: 'login' }));
  assert.match(page.text, /id="sign-in-form"/);
}

/** An authenticator app is set up and used, by page and by API. */
async function withFactor(service: Service, seen: Seen): Promise<void> {
  const user = await service.createUser();
  const client = await createClient(service);
  const browser = new WatchedBrowser(service.baseUrl, seen);
  const url = (prompt?: string) => authorizeUrl(service, 'built-in', { client_id: client.clientId, acr_values: TWO_FACTORS, prompt });
  const page = await browser.signIn(await browser.visit(url()), user);
  const secret = secretOn(page);
  note(seen, 'the secret of the app', secret);
  note(seen, 'the secret of the app in hexadecimal digits', Secret.fromBase32(secret).hex.toLowerCase());
  note(seen, 'the uid of the interaction that waits for the enrolment', page.url.pathname.split('/')[3]);
  await assertNoneStored(service, seen);
  const shown = await browser.submit(page, 'enroll-form', { passCode: codeOf(secret) });
  const codes = recoveryCodesOn(shown);
  assert.equal(codes.length, 10);
  for (const code of codes) {
    note(seen, 'a recovery code', code);
    note(seen, 'a recovery code without its dashes', code.replaceAll('-', ''));
  }
  await assertNoneStored(service, seen);
  assert.ok(answerOf(await browser.submit(shown, 'enrolled-form')).code);
  const asked = await browser.signIn(await browser.visit(url('login')), user);
  await assertNoneStored(service, seen);
  assert.ok(answerOf(await browser.submit(asked, 'recovery-form', { recoveryCode: codes[0] ?? '' })).code);
  const authn = async (path: string, body: unknown) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    return (await (await fetch(`${service.baseUrl}/api/v1/authn${path}`, init)).json()) as {
      stateToken: string;
      sessionToken: string;
      _embedded: { factors: { id: string }[] };
    };
  };
  const { stateToken, _embedded } = await authn('', { username: user.login, password: user.password });
  note(seen, 'the state token', stateToken);
  await assertNoneStored(service, seen);
  const proved = await authn(`/factors/${_embedded.factors[0]?.id}/verify`, { stateToken, passCode: codeOf(secret, 1) });
  note(seen, 'the session token', proved.sessionToken);
  assert.equal(typeof proved.sessionToken, 'string');
  await assertNoneStored(service, seen);
}

async function assertNoneStored(service: Service, seen: Seen): Promise<void> {
  for (const [table, content] of await dump(service)) {
    for (const [value, what] of seen) assert.ok(!content.includes(value), `${table} holds ${what}`);
  }
}

test('no table holds a value that was issued or typed in (RFC 6819 section 5.1.4.1.3)', async (t) => {
  const service = await startService(t);
  const seen: Seen = new Map();
  const headers = { authorization: `SSWS ${API_TOKEN}`, 'content-type': 'application/json' };
  const response = await fetch(`${service.baseUrl}/api/v1/users`, { method: 'POST', headers, body: '{}' });
  assert.equal(response.status, 400, 'the API token is the one in use: not 401');
  note(seen, 'the API token', API_TOKEN);
  note(seen, 'the administrator’s password', ADMIN.password);
  for (const serverId of ['built-in', 'default']) await wholeFlow(service, serverId, seen);
  await withFactor(service, seen);

  assert.ok(seen.size > 25, `only ${seen.size} values were seen`);
  const dumped = await dump(service);
  assert.ok(dumped.some(([table, content]) => table === 'oidc_payload' && content.length > 1000));
  await assertNoneStored(service, seen);
});
