/**
 * A dump of the whole database after everything that issues a value beside the code flow, which no-usable-values.test.ts watches: none of them is in
 * it, as it is or in another writing (RFC 6819 section 5.1.4.1.3).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignJWT } from 'jose';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, userinfo } from '../servers/relying-party.ts';

/** All rows of all tables as text. */
async function dump(service: Service): Promise<string> {
  return onServer(service.database.url, async (sql) => {
    const tables = await sql.query<{ name: string }>(
      "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
    );
    const rows: string[] = [];
    for (const { name } of tables.rows) {
      const { rows: found } = await sql.query<{ content: string }>(`SELECT t::text AS content FROM ${name} t`);
      rows.push(...found.map(({ content }) => content));
    }
    return rows.join('\n');
  });
}

/** How a value may be written in a column: itself, in hexadecimal as bytea is shown, in base64. */
const writings = (value: string): string[] => [
  value,
  Buffer.from(value).toString('hex'),
  Buffer.from(value).toString('base64').replace(/=+$/, ''),
  Buffer.from(value).toString('base64url'),
];

test('a dump of the database holds no password, link, session token, API token, client secret or token of any grant, right or wrong', async (t) => {
  const service = await startService(t);
  const issued = new Map<string, string>();
  const note = (what: string, value: unknown): string => {
    assert.ok(typeof value === 'string' && value.length >= 8, `${what}: ${value}`);
    issued.set(value, what);
    return value;
  };

  const user = await service.createUser();
  note('a password', user.password);
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'password', 'client_credentials'] });
  note('a client secret', client.clientSecret);
  const { body: made } = await service.api('POST', `/apps/${client.clientId}/credentials/secrets`);
  note('a second client secret', made.client_secret);
  note('an API token', (await service.api('POST', '/api-tokens', { name: 'dump' })).body.token);

  for (const serverId of ['built-in', 'default']) {
    const password = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid profile offline_access' };
    const { body } = await post(service, serverId, 'token', client, password);
    const { body: refreshed } = await post(service, serverId, 'token', client, {
      grant_type: 'refresh_token',
      refresh_token: body.refresh_token,
    });
    for (const tokens of [body, refreshed]) {
      for (const name of ['access_token', 'refresh_token', 'id_token']) note(`${name} of ${serverId}`, tokens[name]);
    }
    const own = await post(service, serverId, 'token', client, { grant_type: 'client_credentials', scope: 'profile' });
    note(`the application’s own token of ${serverId}`, own.body.access_token);
    await userinfo(service, serverId, refreshed.access_token);
    await post(service, serverId, 'revoke', client, { token: refreshed.access_token });
    await post(service, serverId, 'introspect', client, { token: note('a token that there is not', 'no-such-token-0123456789') });
  }

  const wrong = { ...client, clientSecret: note('a wrong client secret', 'wrong-secret-0123456789') };
  assert.equal((await post(service, 'default', 'token', wrong, { grant_type: 'client_credentials' })).status, 401);
  const typo = note('a wrong password', 'a-typo-in-my-password');
  await post(service, 'default', 'token', client, { grant_type: 'password', username: user.login, password: typo });

  const authn = async () => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ username: user.login, password: user.password });
    const answer = await fetch(`${service.baseUrl}/api/v1/authn`, { method: 'POST', headers, body });
    return note('a session token', ((await answer.json()) as { sessionToken: string }).sessionToken);
  };
  await authn();
  const browser = new UserAgent(service.baseUrl);
  const url = authorizeUrl(service, 'default', { client_id: client.clientId, response_type: 'code', sessionToken: await authn() });
  note('a code that nobody exchanged', answerOf(await browser.visit(url)).code);

  const requestObject = async (jti: string) => {
    const claims = {
      client_id: client.clientId,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid',
      state: 'some-state',
      nonce: 'some-nonce',
      jti,
    };
    const secret = Buffer.from(made.client_secret);
    const now = Math.floor(Date.now() / 1000);
    const signing = new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(client.clientId)
      .setAudience(service.issuer('default'));
    return signing
      .setIssuedAt(now)
      .setExpirationTime(now + 60)
      .sign(secret);
  };
  const signed = await requestObject(note('the jti of a request object', 'jti-of-a-request-object'));
  const asked = authorizeUrl(service, 'default', { client_id: client.clientId, request: note('a request object', signed), prompt: 'none' });
  note('a code by request object', answerOf(await browser.visit(asked)).code);
  assert.notEqual(answerOf(await browser.visit(asked)).error, undefined, 'its jti was kept in some way: it counts once');

  const reset = await service.api('POST', `/users/${user.id}/lifecycle/reset_password?sendEmail=false`);
  note('the token of a link', new URL(reset.body.resetPasswordUrl).pathname.split('/').at(-1));
  const staged = await service.api('POST', '/users?activate=false', { profile: { login: 'staged-user' } });
  const activated = await service.api('POST', `/users/${staged.body.id}/lifecycle/activate?sendEmail=false`);
  note('the token of an activation link', new URL(activated.body.activationUrl).pathname.split('/').at(-1));

  const content = await dump(service);
  assert.ok(content.includes(user.login) && content.includes(client.clientId), 'the dump is one');
  assert.equal(issued.size, 29, [...issued.values()].join(', '));
  for (const [value, what] of issued) {
    for (const writing of writings(value)) assert.ok(!content.includes(writing), `the database holds ${what}`);
  }
});
