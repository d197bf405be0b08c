/** Userinfo: every claim of the user by GET and POST, and the exact refusals (OpenID Connect Core section 5.3, RFC 6750 section 3). */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, post, tokensFor, userinfo } from '../servers/relying-party.ts';

const SERVERS = ['built-in', 'default'] as const;

async function signedIn(t: TestContext, serverId: string) {
  const service = await startService(t);
  const [user, client] = [await service.createUser({ firstName: 'Ada', email: 'ada@example.com' }), await createClient(service)];
  const browser = new UserAgent(service.baseUrl);
  const tokens = async (scope: string) => (await tokensFor(service, browser, user, client, { serverId, scope })).body;
  const ask = async (init: RequestInit, query = '') => {
    const response = await fetch(`${service.issuer(serverId)}/userinfo${query}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return { service, user, client, tokens, ask };
}

type Answered = Awaited<ReturnType<Awaited<ReturnType<typeof signedIn>>['ask']>>;

/** A refusal with its challenge: the error first, no realm, and the same in the body. */
function assertRefused({ status, headers, body }: Answered, expected: [status: number, error: string], what: string): void {
  assert.deepEqual([status, body?.error], expected, `${what}: ${JSON.stringify(body)}`);
  assert.equal(headers.get('www-authenticate'), `Bearer error="${body.error}", error_description="${body.error_description}"`, what);
  assert.ok(body.error_description.length > 0, what);
  assert.equal(headers.get('expires'), status === 403 ? '0' : null, what);
  assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8', what);
  assert.equal(headers.get('cache-control'), 'no-store', what);
}

for (const serverId of SERVERS) {
  test(`GET and POST, by header and by form, tell the same: ${serverId} server (OpenID Connect Core section 5.3.1)`, async (t) => {
    const { user, tokens, ask } = await signedIn(t, serverId);
    const { access_token: token } = await tokens('openid profile');
    const authorization = `Bearer ${token}`;
    const form = new URLSearchParams({ access_token: token });
    const answers = [
      await ask({ headers: { authorization } }),
      await ask({ headers: { authorization: `bearer ${token}` } }),
      await ask({ method: 'POST', headers: { authorization } }),
      await ask({ method: 'POST', body: form }),
      await ask({ headers: { authorization, accept: 'text/html' } }),
    ];
    for (const { status, headers, body } of answers) {
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(headers.get('content-type'), 'application/json;charset=UTF-8');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('www-authenticate'), null);
      assert.deepEqual(body, answers[0]?.body);
    }
    assert.deepEqual([answers[0]?.body.sub, answers[0]?.body.email], [user.id, 'ada@example.com'], 'all claims, whichever scope');

    assertRefused(await ask({ method: 'POST', headers: { authorization }, body: form }), [400, 'invalid_request'], 'header and form');
    assertRefused(await ask({}, `?access_token=${token}`), [400, 'invalid_request'], 'never in the query (RFC 9700 section 4.3.2)');
  });

  test(`401 with error=invalid_token for every token that opens nothing, and for none: ${serverId} server (RFC 6750 section 3.1)`, async (t) => {
    const { service, client, tokens, ask } = await signedIn(t, serverId);
    const all = await tokens('openid profile offline_access');
    const bearer = (token: string) => ask({ headers: { authorization: `Bearer ${token}` } });
    const INVALID: [number, string] = [401, 'invalid_token'];
    assertRefused(await ask({}), INVALID, 'no token');
    assertRefused(await ask({ method: 'POST' }), INVALID, 'no token, posted');
    const other = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
    for (const authorization of [other, 'Bearer', 'Bearer ', all.access_token]) {
      assertRefused(await ask({ headers: { authorization } }), INVALID, `no token in ${authorization}`);
    }
    assertRefused(await ask({ headers: { authorization: `Bearer ${all.access_token} x` } }), [400, 'invalid_request'], 'two words');
    for (const [what, token] of [
      ['nonsense', 'nonsense'],
      ['nothing of a JWT', 'a.b.c'],
      ['five parts', 'eyJhbGciOiJub25lIn0.a.b.c.d'],
      ['a refresh token', all.refresh_token],
      ['an ID token', all.id_token],
      ['one that was changed', `${all.access_token.slice(0, 30)}${all.access_token[30] === 'A' ? 'B' : 'A'}${all.access_token.slice(31)}`],
      ['one with a quote', 'a"b'],
      ['a very long one', 'x'.repeat(4000)],
    ] as const) {
      assertRefused(await bearer(token), INVALID, what);
    }
    const elsewhere = serverId === 'built-in' ? 'default' : 'built-in';
    assertRefused(await userinfo(service, elsewhere, all.access_token), INVALID, 'another server’s');
    await post(service, serverId, 'revoke', client, { token: all.access_token });
    assertRefused(await bearer(all.access_token), INVALID, 'a revoked one');
    const { access_token: old } = await tokens('profile');
    assert.equal((await bearer(old)).status, 200);
    moveClock(t, 3600);
    assertRefused(await bearer(old), INVALID, 'an expired one');
  });

  test(`403 with error=insufficient_scope and Expires: 0 unless profile, email, address or phone was granted: ${serverId} server (RFC 6750 section 3.1)`, async (t) => {
    const { service, tokens, ask } = await signedIn(t, serverId);
    const status = async (scope: string) => {
      const { access_token: token } = await tokens(scope);
      return ask({ headers: { authorization: `Bearer ${token}` } });
    };
    for (const scope of ['openid', 'openid groups', 'openid offline_access groups', 'groups']) {
      const answer = await status(scope);
      assertRefused(answer, [403, 'insufficient_scope'], scope);
      assert.match(answer.body.error_description, /one of the scopes profile, email, address or phone$/, scope);
    }
    const { access_token: token } = await tokens('openid');
    const posted = await ask({ method: 'POST', body: new URLSearchParams({ access_token: token }) });
    assertRefused(posted, [403, 'insufficient_scope'], 'posted');
    let first: unknown;
    for (const scope of ['profile', 'email', 'address', 'phone', 'openid email', 'openid phone groups']) {
      const { status: answered, body } = await status(scope);
      assert.equal(answered, 200, scope);
      first ??= body;
      assert.deepEqual(body, first, `${scope}: always all claims`);
    }
    const machine = await service.createApp({ application_type: 'service' });
    for (const asked of [{ scope: 'profile' }, {}]) {
      const { body } = await post(service, serverId, 'token', machine, { grant_type: 'client_credentials', ...asked });
      const bearer = `Bearer ${body.access_token}`;
      const nobodys = await ask({ headers: { authorization: bearer } });
      assertRefused(nobodys, [403, 'insufficient_scope'], 'a token that has no user');
      assert.match(nobodys.body.error_description, /does not belong to a user.*profile, email, address or phone/);
      assertRefused(
        await ask({ method: 'POST', body: new URLSearchParams({ access_token: body.access_token }) }),
        [403, 'insufficient_scope'],
        'posted',
      );
      await post(service, serverId, 'revoke', machine, { token: body.access_token });
      assertRefused(await ask({ headers: { authorization: bearer } }), [401, 'invalid_token'], 'revoked');
    }
  });
}
