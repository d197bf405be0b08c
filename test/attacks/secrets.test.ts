/**
 * Secrets in the log (RFC 9700 section 4.2.4, RFC 6819 section 4.6.7, OWASP ASVS 5.0 V14.2.1, V16.2.5 and V16.5.1): a service at its most talkative is led through
 * what it does with secrets, right and wrong, with the database at times refusing what it is given; nothing of them is printed, nor told by an answer to a failure.
 */
import assert from 'node:assert/strict';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, type TestClient, tokensFor } from '../protocol/servers/relying-party.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer, startedDatabase } from '../support/database.ts';
import { codeOf, enrolledUser, wrongCode } from '../support/factors.ts';
import { startMailServer } from '../support/mail.ts';
import { eventually, type RunningService, runService } from '../support/process.ts';
import { ADMIN, API_TOKEN, STARTED } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const random = (what: string): string => `${what}-${randomBytes(18).toString('hex')}`;

test('no secret that is used is printed, at the level trace, and while the database fails (RFC 9700 section 4.2.4)', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const mail = await startMailServer(t);
  const env = { ...STARTED, ...mail.env, DATABASE_URL: database.url, LOG_LEVEL: 'trace', ALLOW_PRIVATE_NETWORK: 'true' };
  const service = await runService(t, env);
  const secrets = new Map<string, string>(
    Object.entries({ secretKey: STARTED.SECRET_KEY, adminPassword: ADMIN.password, apiToken: API_TOKEN }),
  );
  /** Keeps what must not be found. */
  const keep = (name: string, value: unknown): string => {
    assert.ok(typeof value === 'string' && value.length >= 6, `${name}: ${value}`);
    secrets.set(`${name} ${secrets.size}`, value);
    return value;
  };

  await signInsOfEveryKind(service, keep);
  await clientsOfEveryKind(service, keep);
  await secretsOverTheApi(service, keep);
  await resets(service, mail, keep);
  await failures(service, database.url, keep);
  await service.stop();

  const printed = service.output.stdout + service.output.stderr;
  assert.match(printed, /"path":"\/api\/v1\/idps"/, 'it does log');
  assert.match(printed, /violates check constraint/, 'and tells what failed');
  assert.ok(secrets.size > 50, `${secrets.size}`);
  for (const [name, value] of secrets) {
    for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString('base64'), JSON.stringify(value).slice(1, -1)]) {
      const at = printed.indexOf(form);
      assert.equal(at, -1, `${name} is in the log: ${printed.slice(Math.max(0, at - 300), at)}…`);
    }
  }
  const shapes =
    /\$argon2id\$|SSWS [\w-]{10}|Bearer [\w-]{10}|Basic [\w+/=]{10}|eyJ[\w-]{10,}\.|BEGIN (RSA |EC )?PRIVATE|gatehouse-session[=.]/;
  const at = shapes.exec(printed)?.index;
  assert.equal(at, undefined, `it looks like a secret: ${printed.slice(Math.max(0, (at ?? 0) - 300), (at ?? 0) + 60)}`);
});

type Keep = (name: string, value: unknown) => string;

/** A program's call of the API without a token. */
const send = async (service: RunningService, path: string, body: unknown) => {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${service.baseUrl}/api/v1${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return (await response.json()) as Record<string, string>;
};

async function signInsOfEveryKind(service: RunningService, keep: Keep): Promise<void> {
  const client = await createClient(service, {
    grant_types: ['authorization_code', 'refresh_token', 'password', 'implicit'],
    response_types: ['code', 'code id_token token'],
  });
  keep('client secret', client.clientSecret);
  const user = await service.createUser();
  keep('password', user.password);
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit(
    authorizeUrl(service, 'default', {
      client_id: client.clientId,
      state: keep('state', random('state')),
      nonce: keep('nonce', random('nonce')),
    }),
  );
  keep('sign-in under way', page.url.pathname.split('/').at(-1));
  await browser.signIn(page, { ...user, password: keep('wrong password', random('wrong')) });
  await browser.signIn(page, { login: keep('a password in the place of the name', random('as-a-name')), password: 'x' });
  // A right password goes on below the authorize endpoint, at an address with the same id.
  await browser.signIn(page, user);
  const { body } = await tokensFor(service, browser, user, client, { serverId: 'default' });
  for (const name of ['access_token', 'refresh_token', 'id_token']) keep(name, body[name]);
  for (const name of ['gatehouse-session', 'gatehouse-session.sig', 'gatehouse-device']) keep(name, browser.cookie(name));
  const hybrid = authorizeUrl(service, 'default', { client_id: client.clientId, response_type: 'code id_token token', prompt: 'none' });
  for (const name of ['code', 'access_token', 'id_token']) keep(`${name} of a hybrid answer`, answerOf(await browser.visit(hybrid))[name]);
  const posted = await browser.visit(
    authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none', response_mode: 'form_post' }),
  );
  keep('code by form_post', /name="code" value="([^"]*)"/.exec(posted.text)?.[1]);
  const used = answerOf(await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none' }))).code;
  for (let turn = 0; turn < 2; turn += 1)
    await post(service, 'default', 'token', client, {
      grant_type: 'authorization_code',
      code: keep('code', used),
      redirect_uri: CALLBACK,
      code_verifier: keep('verifier', random('verifier-of-forty-three-characters')),
    });
  const token = keep(
    'access token by password',
    (await post(service, 'default', 'token', client, { grant_type: 'password', username: user.login, password: user.password })).body
      .access_token,
  );
  await post(service, 'default', 'token', client, {
    grant_type: 'password',
    username: user.login,
    password: keep('wrong at the grant', random('wrong')),
  });
  for (const endpoint of ['introspect', 'revoke']) await post(service, 'default', endpoint, client, { token });
  await fetch(`${service.issuer('default')}/userinfo?access_token=${keep('token in a query', random('in-a-query'))}`);
  await fetch(`${service.issuer('default')}/userinfo`, {
    headers: { authorization: `Bearer ${keep('a wrong bearer', random('bearer'))}` },
  });
  await browser.visit(`${service.issuer('default')}/logout?id_token_hint=${body.id_token}x`);

  const session = await send(service, '/authn', { username: user.login, password: user.password });
  const sessionToken = keep('session token', session.sessionToken);
  for (let turn = 0; turn < 2; turn += 1)
    await new UserAgent(service.baseUrl).visit(
      authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none', sessionToken }),
    );
  await send(service, '/authn', { username: user.login, password: keep('wrong at authn', random('wrong')) });
  await send(service, '/authn', `{"username": "x", "password": "${keep('in a body that is no JSON', random('broken'))}`);

  const enrolled = await enrolledUser(service);
  keep('totp secret', enrolled.secret);
  for (const code of enrolled.recoveryCodes) keep('recovery code', code);
  const second = new UserAgent(service.baseUrl);
  const asked = await second.signIn(await second.visit('/signin'), enrolled);
  keep('state token', second.cookie('gatehouse-sign-in'));
  const again = await second.submit(asked, 'factor-form', { passCode: wrongCode(enrolled.secret) });
  await second.submit(again, 'factor-form', { passCode: codeOf(enrolled.secret, 1) });
  await second.visit('/account/password', {
    method: 'POST',
    headers: { origin: service.baseUrl },
    body: new URLSearchParams({ current: keep('in a forged form', random('forged')), password: 'x' }),
  });
}

async function clientsOfEveryKind(service: RunningService, keep: Keep): Promise<void> {
  const grant_types = ['client_credentials'];
  const settings = { application_type: 'service', grant_types, redirect_uris: [] };
  const call = (body: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${service.issuer('default')}/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ grant_type: 'client_credentials', ...body }),
    });
  const assertion = ({ clientId }: TestClient) => ({
    iss: clientId,
    sub: clientId,
    aud: service.issuer('default'),
    jti: randomUUID(),
    exp: Math.floor(Date.now() / 1000) + 60,
  });
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

  const bySecret = await service.createApp(settings);
  const secret = keep('client secret', bySecret.clientSecret);
  for (const tried of [secret, keep('wrong client secret', random('wrong'))]) {
    await call({ client_id: bySecret.clientId, client_secret: tried });
    await call({}, { authorization: `Basic ${Buffer.from(`${bySecret.clientId}:${tried}`).toString('base64')}` });
    await call({ client_secret: tried }, { authorization: `Basic ${tried}` });
  }
  const byHmac = await service.createApp(settings, { token_endpoint_auth_method: 'client_secret_jwt' });
  const key = new TextEncoder().encode(keep('client secret of HMAC', byHmac.clientSecret));
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const byKey = await service.createApp(
    { ...settings, jwks: { keys: [await exportJWK(publicKey)] } },
    { token_endpoint_auth_method: 'private_key_jwt' },
  );
  keep('private key', (await exportJWK(privateKey)).d);
  const right = [
    [byHmac, await new SignJWT(assertion(byHmac)).setProtectedHeader({ alg: 'HS256' }).sign(key)],
    [byKey, await new SignJWT(assertion(byKey)).setProtectedHeader({ alg: 'RS256' }).sign(privateKey)],
    [byKey, `${await new SignJWT(assertion(byKey)).setProtectedHeader({ alg: 'RS256' }).sign(privateKey)}x`],
  ] as const;
  for (const [client, jwt] of right) {
    for (let turn = 0; turn < 2; turn += 1)
      await call({ client_id: client.clientId, client_assertion_type, client_assertion: keep('assertion', jwt) });
  }
}

async function secretsOverTheApi(service: RunningService, keep: Keep): Promise<void> {
  const { body: token } = await service.api('POST', '/api-tokens', { name: 'x' });
  keep('API token', token.token);
  await fetch(`${service.baseUrl}/api/v1/users`, { headers: { authorization: `SSWS ${token.token}` } });
  await fetch(`${service.baseUrl}/api/v1/users`, { headers: { authorization: `SSWS ${keep('unknown API token', random('unknown'))}` } });
  await fetch(`${service.baseUrl}/api/v1/users`, {
    headers: { authorization: `Basic ${Buffer.from(keep('basic', random('basic'))).toString('base64')}` },
  });
  const { body: app } = await service.api('POST', '/apps', { label: 'x', settings: { oauthClient: { application_type: 'service' } } });
  keep('client secret of the API', app.credentials.oauthClient.client_secret);
  const { body: second } = await service.api('POST', `/apps/${app.id}/credentials/secrets`, {});
  keep('second client secret', second.client_secret);
  const client_secret = keep('secret of an identity provider', random('idp'));
  const idp = {
    name: 'x',
    type: 'OIDC',
    protocol: { issuer: { url: 'http://127.0.0.1:1' }, credentials: { client: { client_id: 'gatehouse', client_secret } } },
  };
  const { body: created } = await service.api('POST', '/idps', idp);
  await new UserAgent(service.baseUrl).visit(`/signin/upstream/${created.id}`);
  await service.api('POST', '/idps', { ...idp, name: '' });
  const hook = { name: 'x', events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create'] } };
  const config = {
    uri: 'http://127.0.0.1:1/',
    headers: [{ key: 'X-Key', value: keep('header of a hook', random('header')) }],
    authScheme: { type: 'HEADER', key: 'Authorization', value: keep('authorization of a hook', random('hook')) },
  };
  const { body: hooked } = await service.api('POST', '/eventHooks', { ...hook, channel: { type: 'HTTP', version: '1.0.0', config } });
  keep('signing secret of a hook', hooked.signingSecret);
  await service.api('POST', `/eventHooks/${hooked.id}/lifecycle/verify`);
  const login = random('user');
  await service.api('POST', '/users', {
    profile: { login },
    credentials: { password: { value: keep('password over the API', random('given')) } },
  });
  await service.api('POST', '/users', {
    profile: { login },
    credentials: { password: { value: keep('password of a conflict', random('conflict')) } },
  });
  await service.api('POST', '/users', {
    profile: { login: 5 },
    credentials: {
      password: { value: keep('password of a wrong body', random('wrong')), nonsense: keep('a field there is not', random('nonsense')) },
    },
  });
  const hash = {
    algorithm: 'SHA-256',
    salt: Buffer.from('salt').toString('base64'),
    saltOrder: 'PREFIX',
    value: createHmac('sha256', 'x').update('x').digest('base64'),
  };
  keep('imported hash', hash.value);
  await service.api('POST', '/users', { profile: { login: random('user') }, credentials: { password: { hash } } });
}

async function resets(service: RunningService, mail: Awaited<ReturnType<typeof startMailServer>>, keep: Keep): Promise<void> {
  const email = `${random('mail')}@example.com`;
  const user = await service.createUser({ email });
  const browser = new UserAgent(service.baseUrl);
  await browser.submit(await browser.visit('/forgot-password'), 'forgot-password-form', { username: email });
  await browser.submit(await browser.visit('/forgot-password'), 'forgot-password-form', {
    username: keep('a password in the place of an address', random('typed')),
  });
  const link = new URL((await mail.mail(email)).link);
  keep('reset link', link.pathname.split('/').at(-1));
  const password = keep('chosen password', random('chosen'));
  for (let turn = 0; turn < 2; turn += 1) {
    const page = await browser.visit(link.pathname);
    const form = /<form[^>]*id="([^"]+)"/.exec(page.text)?.[1];
    if (form !== undefined && turn === 0) await browser.submit(page, form, { password, repeated: password });
  }
  const { body } = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  const token = keep('reset link of the API', body.resetPasswordUrl.split('/').at(-1));
  for (const path of [
    `/choose-password/${token}/`,
    `/choose-password//${token}`,
    `/CHOOSE-PASSWORD/${token}`,
    `/choose-password/${token}%00`,
  ])
    await browser.visit(path);
}

/** The database refuses every change: each flow once more, and what it tells of what it was given stays within. */
async function failures(service: RunningService, url: string, keep: Keep): Promise<void> {
  const client = await createClient(service, { grant_types: ['authorization_code', 'password', 'refresh_token'] });
  const user = await service.createUser();
  const { body: before } = await service.api('POST', '/api-tokens', { name: 'y' });
  keep('API token of before', before.token);
  const { rows } = await onServer(url, (sql) =>
    sql.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'knex%'"),
  );
  await onServer(url, async (sql) => {
    for (const { tablename } of rows) await sql.query(`ALTER TABLE ${tablename} ADD CONSTRAINT refused CHECK (false) NOT VALID`);
  });
  const told: string[] = [];
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.visit('/signin');
  told.push((await browser.signIn(page, user)).text);
  told.push(JSON.stringify(await send(service, '/authn', { username: user.login, password: user.password })));
  told.push(
    JSON.stringify(
      (
        await post(service, 'default', 'token', client, {
          grant_type: 'password',
          username: user.login,
          password: user.password,
          scope: 'openid offline_access',
        })
      ).body,
    ),
  );
  for (const [path, body] of [
    [
      '/users',
      { profile: { login: random('user') }, credentials: { password: { value: keep('password of a failure', random('failing')) } } },
    ],
    [`/users/${user.id}`, { credentials: { password: { value: keep('changed password of a failure', random('failing')) } } }],
    ['/api-tokens', { name: 'z' }],
    [
      '/apps',
      {
        label: 'y',
        settings: { oauthClient: { application_type: 'service' } },
        credentials: { oauthClient: { client_secret: keep('client secret of a failure', random('failing-secret-of-a-client')) } },
      },
    ],
    [
      '/idps',
      {
        name: 'y',
        type: 'OIDC',
        protocol: {
          issuer: { url: 'https://idp.example' },
          credentials: { client: { client_id: 'g', client_secret: keep('idp secret of a failure', random('failing')) } },
        },
      },
    ],
  ] as const) {
    const answer = await service.api('POST', path, body);
    assert.equal(answer.status, 500, `${path} ${JSON.stringify(answer.body)}`);
    told.push(JSON.stringify(answer.body));
  }
  await onServer(url, async (sql) => {
    for (const { tablename } of rows) await sql.query(`ALTER TABLE ${tablename} DROP CONSTRAINT refused`);
  });
  await eventually(async () => (await service.api('POST', '/api-tokens', { name: 'w' })).status === 200, 'it works again');
  for (const text of told) assert.doesNotMatch(text, /constraint|refused|relation|INSERT|UPDATE|\$argon2|node_modules|\bat .+:\d+:\d+/i);
}
