/**
 * Runs at every start and checks that each undocumented change of oidc-provider still works. Fails loudly, so that an incompatible upgrade
 * is noticed before users are affected.
 */
import { strict as assert } from 'node:assert';
import { createLocalJWKSet, decodeJwt, SignJWT } from 'jose';
import { type Client, errors, Provider } from 'oidc-provider';
import instance from 'oidc-provider/lib/helpers/weak_cache.js';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { CLIENT_SETTINGS, type ClientSettings } from '../servers/client-settings.ts';
import { rowKey } from '../storage/row-keys.ts';
import { accessTokenFormat, looksLikeJwt } from '../token/access-token-format.ts';
import { applyPatches } from './patches.ts';

const ISSUER = 'https://self-test.example/oauth/v1';

/** Accepts writes and stores nothing. */
class NoStorage {
  async upsert(): Promise<void> {}
  async find(): Promise<object> {
    return FOUND;
  }
}

/** A client's metadata, the same object at each look-up. */
const FOUND = { client_id: 'found', client_secret: 'secret', redirect_uris: ['https://self-test.example/callback'] };

const SERVER = { accessTokenFormat: 'jwt', audience: 'self-test', signingAlg: 'ES256' } as AuthorizationServer;

/** @throws {assert.AssertionError} with the name of the change that no longer works */
export async function selfTest(): Promise<void> {
  const calls: string[] = [];
  const idTokenEnd = epochSeconds() + 77;
  const format = accessTokenFormat(
    SERVER,
    ISSUER,
    createLocalJWKSet({ keys: [] }),
    () => provider,
    () => SERVER.audience,
    async () => ({}),
  );
  const provider: Provider = new Provider(ISSUER, {
    adapter: NoStorage as never,
    // All listed, because the library warns about missing ones at every start.
    ttl: {
      Grant: 60,
      AuthorizationCode: 60,
      AccessToken: 60,
      RefreshToken: 60,
      PushedAuthorizationRequest: 60,
      ClientCredentials: format.lifetime(() => {
        calls.push('lifetime');
        return 60;
      }),
    },
    formats: { customizers: { jwt: format.customizer } },
    jwks: { keys: [SELF_TEST_KEY] },
    cookies: { keys: ['self-test'] },
    extraClientMetadata: { properties: [CLIENT_SETTINGS] },
    // Needed only so that an implicit client can register.
    responseTypes: ['code', 'id_token'],
    clientDefaults: { id_token_signed_response_alg: 'ES256', authorization_signed_response_alg: 'ES256' },
    features: { devInteractions: { enabled: false }, clientCredentials: { enabled: true }, jwtResponseModes: { enabled: true } },
  });
  assert.ok(instance(provider).responseModes.has('form_post'), 'oidc-provider: the form_post response mode is not where it was');
  assert.ok(instance(provider).responseModes.has('form_post.jwt'), 'oidc-provider: the form_post.jwt response mode is not where it was');
  applyPatches(provider, {
    signingAlgs: new Set([SELF_TEST_KEY.alg]),
    formPost: async () => {},
    responses: { introspection: async () => ({}), userinfo: async () => ({}) },
    aliasOf: (_req, url) => url,
    claimOnce: async (...claimed) => calls.push(claimed.join(' ')) > 0,
    evaluate: async () => void calls.push('judgement'),
    changeIdToken: async (_ctx, token) => ({ payload: { ...(await token.payload()), changed: true }, expiresAt: idTokenEnd }),
    beforeSecret: () => {},
    afterSecret: () => {},
  });

  const settings: Partial<ClientSettings> = { newestSecretId: 'newest', olderSecrets: [{ id: 'older', value: 'older' }] };
  const ClientModel = provider.Client as unknown as new (
    metadata: object,
  ) => { compareClientSecret(secret: string): boolean; responseTypeAllowed(responseType: string): boolean };
  const client = new ClientModel({
    client_id: 'self-test',
    client_secret: 'newest',
    redirect_uris: ['http://localhost/callback'],
    response_types: ['token'],
    grant_types: ['implicit'],
    [CLIENT_SETTINGS]: settings,
  });
  assert.ok(
    instance(provider).configuration.responseTypes.includes('token'),
    'oidc-provider: the plain token response type cannot be enabled',
  );
  assert.deepEqual(
    ['newest', 'older', 'wrong'].map((secret) => client.compareClientSecret(secret)),
    [true, true, false],
    'oidc-provider: two client secrets cannot be valid at once',
  );

  assert.throws(() => client.responseTypeAllowed('code'), errors.UnauthorizedClient, 'oidc-provider: response types are judged elsewhere');

  const found = await provider.Client.find('found');
  Object.assign(FOUND, { client_name: 'the object decides, not what is in it' });
  assert.ok(found !== undefined && (await provider.Client.find('found')) === found, 'oidc-provider: clients are looked up elsewhere');

  const Context = (provider as unknown as { OIDCContext: new (ctx: object) => { urlFor(name: string): string } }).OIDCContext;
  const spoofed = {
    req: { headers: { host: 'evil.example' }, originalUrl: '/token' },
    request: { url: '/token' },
    href: 'https://evil.example/token',
  };
  assert.equal(new Context(spoofed).urlFor('token'), `${ISSUER}/token`, 'oidc-provider: URLs follow the Host header');

  for (const [method, path] of [
    ['GET', '/.well-known/openid-configuration'],
    ['POST', '/token'],
  ] as const) {
    const visited = { app: provider };
    // The result without a request does not matter.
    await instance(provider)
      .router.match(method, path)
      ?.route.run(visited, async () => {})
      .catch(() => {});
    const { value } = Object.getOwnPropertyDescriptor(visited, 'oidc') ?? {};
    assert.ok(value instanceof Context, 'oidc-provider: the context of a request is made elsewhere');
  }

  // The library reads the lifetime before it chooses the format: that makes a custom server's token a JWT.
  const token = new provider.ClientCredentials({ client: client as unknown as Client });
  assert.ok(looksLikeJwt(await token.save()), 'oidc-provider: access tokens cannot be made JWTs by their lifetime');
  assert.deepEqual(calls, ['judgement', 'lifetime'], 'oidc-provider: the lifetime of a token is asked for before it is judged');

  calls.length = 0;
  const { ReplayDetection } = provider as unknown as { ReplayDetection: { unique(...claimed: unknown[]): Promise<boolean> } };
  assert.ok(await ReplayDetection.unique('issuer', 'jti', 100), 'oidc-provider: what may be used once is remembered elsewhere');
  assert.deepEqual(calls, ['issuer jti 400'], 'oidc-provider: what may be used once is remembered elsewhere');

  type Model = new (properties: object) => { readonly jti: string; save(): Promise<string> };
  const { Grant, AuthorizationCode, AccessToken, RefreshToken, PushedAuthorizationRequest } = provider as unknown as Record<string, Model>;
  const issued = [Grant, AuthorizationCode, AccessToken, RefreshToken, PushedAuthorizationRequest].flatMap((Issued) =>
    Issued === undefined ? [] : new Issued({ client }),
  );
  for (const each of issued) await each.save();
  const ids = [token, ...issued].map(({ jti }) => jti);
  assert.ok(ids.length === 6 && ids.every((id) => rowKey(id).startsWith(id.slice(0, 7))), 'oidc-provider: ids are made elsewhere');

  const { IdToken: Issued } = provider as unknown as {
    IdToken: new (available: object, parts: object) => { scope: string; issue(options: object): Promise<string> };
  };
  const changing = new Issued({ sub: 'user' }, { ctx: {}, client });
  changing.scope = 'openid';
  const { changed, exp = 0 } = decodeJwt(await changing.issue({ use: 'idtoken' }));
  // The library computes the expiry again. Without the change it would be an hour away.
  assert.ok(changed === true && Math.abs(exp - idTokenEnd) < 60, 'oidc-provider: what an ID token says is made elsewhere');

  const hint = () => new SignJWT({ iss: ISSUER, aud: 'self-test', sub: 'user', jti: 'hint' }).setIssuedAt();
  const { IdToken } = provider as unknown as { IdToken: { validate(token: string, client: object): Promise<unknown> } };
  const before = { clientId: 'self-test', idTokenSignedResponseAlg: 'RS256' };
  const signed = await hint().setProtectedHeader({ alg: 'ES256', kid: SELF_TEST_KEY.kid }).sign(SELF_TEST_KEY);
  await IdToken.validate(signed, before).catch(() => assert.fail('oidc-provider: hints of another algorithm are refused'));
  const bySecret = await hint().setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from('newest'));
  await assert.rejects(IdToken.validate(bySecret, before), 'oidc-provider: a hint that is signed by a secret is accepted');
}

/** A temporary key: nothing signed with it is published. */
const SELF_TEST_KEY = {
  kty: 'EC',
  crv: 'P-256',
  use: 'sig',
  alg: 'ES256',
  kid: 'self-test',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
};
