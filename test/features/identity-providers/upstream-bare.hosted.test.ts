/** A bare oidc-provider with odd settings as the provider (OpenID Connect Core 1.0 sections 3.1.3.7 and 10.1.1; OAuth 2.0 Form Post Response Mode). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { type Adapter, type AdapterPayload, type Configuration, Provider } from 'oidc-provider';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { listen } from '../../support/listen.ts';
import { startService } from '../../support/service.ts';
import { withTimings } from '../../support/short-waits.ts';
import { createIdp, followRefresh, isAdmitted, problemOf } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const SECRET = 'a-secret-of-the-bare-provider-0123456789';

/** What several processes of one provider have in common. */
function sharedStorage(): new (model: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return class {
    readonly #model: string;
    constructor(model: string) {
      this.#model = model;
    }
    async upsert(id: string, payload: AdapterPayload) {
      kept.set(`${this.#model} ${id}`, payload);
    }
    async find(id: string) {
      return kept.get(`${this.#model} ${id}`);
    }
    async findByUid(uid: string) {
      return [...kept.values()].find((payload) => payload.kind === this.#model && payload.uid === uid);
    }
    async findByUserCode() {
      return undefined;
    }
    async consume(id: string) {
      const payload = kept.get(`${this.#model} ${id}`);
      if (payload !== undefined) payload.consumed = true;
    }
    async destroy(id: string) {
      kept.delete(`${this.#model} ${id}`);
    }
    async revokeByGrantId(grantId: string) {
      for (const [id, payload] of kept) if (payload.grantId === grantId) kept.delete(id);
    }
  };
}

async function signingKey(alg: 'ES256' | 'RS256', kid: string = randomUUID()): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid };
}

test('a bare oidc-provider', async (t) => {
  const service = await startService(t, { env });
  const first = await signingKey('ES256');
  const adapter = sharedStorage();
  let handle: ReturnType<Provider['callback']> | undefined;
  let provider: Provider | undefined;
  /** Paths that are answered late … */
  const slow = new Set<string>();
  /** … and those that are not answered. */
  const silent = new Set<string>();
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    const { pathname } = new URL(req.url ?? '', origin);
    const uid = /^\/there\/(.+)$/.exec(pathname)?.[1];
    if (uid === undefined || provider === undefined)
      return silent.has(pathname) ? undefined : void wait(slow.has(pathname) ? 300 : 0).then(() => handle?.(req, res));
    // Signs whoever comes in at once, and consents for him.
    const bare = provider;
    (async () => {
      const { params, prompt } = await bare.interactionDetails(req, res);
      if (prompt.name === 'login') return bare.interactionFinished(req, res, { login: { accountId: 'bare-subject', amr: ['pwd', 'mfa'] } });
      const grant = new bare.Grant({ accountId: 'bare-subject', clientId: String(params.client_id) });
      grant.addOIDCScope(String(params.scope));
      return bare.interactionFinished(req, res, { consent: { grantId: await grant.save() } });
    })().catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  const body = (issuer = origin, more: Record<string, unknown> = {}) => ({
    name: 'Bare',
    type: 'OIDC',
    protocol: {
      issuer: { url: issuer },
      settings: { authorizationParameters: { audience: 'none' } },
      credentials: { client: { client_id: 'us', client_secret: SECRET, token_endpoint_auth_method: 'client_secret_post' } },
    },
    policy: { provisioning: { action: 'AUTO' }, maxClockSkew: 0, ...more },
  });
  const idp = await createIdp(service, body());
  const redirectUri: string = (await service.api('GET', `/idps/${idp}`)).body._links.clientRedirectUri.href;

  /** Another provider at the same address; what was begun at the one goes on at the other, as with two processes of one. */
  function become(keys: readonly JWK[], more: Configuration = {}, alg: 'ES256' | 'RS256' = 'ES256', issuer = origin): void {
    const configuration: Configuration = {
      clients: [
        {
          client_id: 'us',
          client_secret: SECRET,
          redirect_uris: [redirectUri],
          response_types: ['code'],
          token_endpoint_auth_method: 'client_secret_post',
          id_token_signed_response_alg: alg,
          default_max_age: 600,
        },
      ],
      adapter,
      jwks: { keys: keys as never },
      cookies: { keys: ['one-key-for-all'] },
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      conformIdTokenClaims: false,
      features: { devInteractions: { enabled: false }, userinfo: { enabled: false } },
      interactions: { url: (_ctx, { uid }) => `/there/${uid}` },
      findAccount: async (_ctx, id) => ({
        accountId: id,
        claims: async () => ({ sub: id, email: 'bare@example.com', email_verified: true, name: 'Bare' }),
      }),
      ...more,
    };
    provider = new Provider(issuer, configuration);
    handle = provider.callback();
  }

  const client = await createClient(service);
  const outOf = async (here: UserAgent) => (await here.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp }))).url;
  /** Signs in there. @param between once it is done there, before the answer is brought here */
  async function come(between: () => void | Promise<void> = () => {}): Promise<Page> {
    const here = new UserAgent(service.baseUrl);
    const back = await new UserAgent(origin).visit(await outOf(here));
    assert.equal(back.url.origin, service.baseUrl, back.text);
    await between();
    return followRefresh(here, await here.visit(back.url));
  }
  const admitted = (page: Page) => assert.ok(isAdmitted(page), page.text);

  await t.test('form_post, ES256, no userinfo, client_secret_post', async () => {
    become([first]);
    const here = new UserAgent(service.baseUrl);
    const out = await outOf(here);
    assert.equal(out.searchParams.get('audience'), 'none');
    out.searchParams.set('response_mode', 'form_post');
    const posted = await new UserAgent(origin).visit(out);
    const [, action = ''] = /action="([^"]*)"/.exec(posted.text) ?? [];
    assert.equal(action, redirectUri, posted.text);
    const fields = [...posted.text.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [
      name,
      value,
    ]);
    const sent = { method: 'POST', body: new URLSearchParams(fields), headers: { origin, 'sec-fetch-site': 'cross-site' } };
    const answered = await fetch(action, { ...sent, redirect: 'manual' });
    assert.equal(answered.status, 200);
    const page: Page = { url: new URL(action), status: 200, headers: answered.headers, text: await answered.text() };
    assert.match(page.text, /id="continue"/, 'a link, where the browser does not go on by itself');
    admitted(await followRefresh(here, page));
    const user = (await service.api('GET', '/users/bare@example.com')).body;
    assert.equal(user.profile.displayName, 'Bare');
  });

  await t.test('its keys are rotated under way: the new one signs, the old one is still told, or not any more', async () => {
    const [second, third] = [await signingKey('ES256'), await signingKey('ES256')];
    become([first]);
    admitted(await come(() => become([second, first])));
    become([second, first]);
    admitted(await come(() => become([third])));
    // One of its processes signs by a key that another one does not tell yet: refused in plain words, and the next sign-in works.
    const behind = handle;
    const early = await come(() => {
      become([first]);
      const ahead = handle;
      handle = async (req, res) => (req.url === '/jwks' ? behind : ahead)?.(req, res);
    });
    assert.equal(problemOf(early), 'upstream_untrusted', early.text);
    become([first]);
    admitted(await come());
  });

  await t.test('it goes over to another algorithm: what was read of it is read anew as soon as an answer does not fit', async () => {
    become([await signingKey('RS256')], {}, 'RS256');
    const early = await come();
    assert.equal(problemOf(early), 'upstream_untrusted', early.text);
    admitted(await come());
    become([first]);
    await come();
    admitted(await come());
  });

  await t.test('an ID token that is expired when it comes', async () => {
    become([first], { ttl: { IdToken: 1 } });
    // Its clock is behind: what it calls a second from now is long ago here.
    const RealNow = Date.now;
    const page = await come(() => {
      const kept = handle;
      handle = async (req, res) => {
        if (req.url !== '/token') return kept?.(req, res);
        Date.now = () => RealNow() - 30_000;
        res.once('finish', () => {
          Date.now = RealNow;
        });
        return kept?.(req, res);
      };
    });
    Date.now = RealNow;
    assert.equal(problemOf(page), 'upstream_untrusted', page.text);
    become([first]);
    admitted(await come());
  });

  await t.test('slow: what takes too long is given up and told; what takes less is waited for', async (t) => {
    become([first]);
    for (const path of ['/token', '/jwks']) slow.add(path);
    admitted(await come());
    slow.clear();
    withTimings(t, { outbound: 300 });
    for (const path of ['/token', '/jwks']) {
      silent.add(path);
      assert.equal(problemOf(await come()), 'upstream_unreachable', path);
      silent.clear();
    }
  });

  await t.test('another issuer than the one that was set: in the document, and after the document was read', async () => {
    // The same server under another name of this machine.
    const elsewhere = origin.replace('127.0.0.1', 'localhost');
    become([first]);
    const other = await createIdp(service, { ...body(elsewhere), name: 'By another name' });
    const here = new UserAgent(service.baseUrl);
    const refused = await here.visit(authorizeUrl(service, 'default', { client_id: client.clientId, idp: other }));
    assert.equal(problemOf(refused), 'upstream_untrusted', refused.text);
    await service.api('DELETE', `/idps/${other}`);
    // `iss` of the answer (RFC 9207) is not the one of the document any more.
    become([first], {}, 'ES256', elsewhere);
    const page = await come();
    assert.equal(problemOf(page), 'upstream_untrusted', page.text);
    become([first]);
    admitted(await come());
  });
});
