/**
 * Changes of oidc-provider that use undocumented API. docs/explanation/library.md has the reason for each. The self-test at every start
 * (self-test.ts) fails if an upgrade breaks one.
 */
import type { IncomingMessage } from 'node:http';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Middleware } from 'koa';
import { errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import current from 'oidc-provider/lib/helpers/als.js';
import Router from 'oidc-provider/lib/helpers/router.js';
import instance from 'oidc-provider/lib/helpers/weak_cache.js';
import { randomBase62, randomToken, sameSecret } from '../../platform/crypto/secrets.ts';
import { clockTolerance, literalSecret } from '../client-authentication/client-authentication.ts';
import { federatedResult, isFederated } from '../client-authentication/federated-client.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { SESSION_DEVICE, SESSION_ORGANIZATIONS, SESSION_PROVIDER } from '../servers/session-device.ts';
import { withMinute } from '../storage/row-keys.ts';
import type { IssuedToken } from '../token/access.ts';
import { isIdToken } from '../token/access-token-format.ts';

interface Dated {
  generateTokenId(): string;
}

interface Issuable extends IssuedToken, Dated {
  save(): Promise<string>;
}

interface IssuableIdToken {
  /** Claims that are always included. */
  extra?: object;
  /** Claims that are included if scopes allow them. */
  available?: object;
  readonly ctx?: KoaContextWithOIDC;
  set(claim: string, value: unknown): void;
  payload(): Promise<object>;
  issue(options?: { readonly use?: string; readonly expiresAt?: number }): Promise<string>;
}

interface Internals
  extends Record<
    'AccessToken' | 'BackchannelAuthenticationRequest' | 'ClientCredentials' | 'DeviceCode' | 'RefreshToken',
    { readonly prototype: Issuable }
  > {
  readonly AuthorizationCode: { readonly prototype: Issuable };
  readonly PushedAuthorizationRequest: { readonly prototype: Dated };
  readonly Grant: { readonly prototype: Dated };
  readonly IdToken: {
    new (claims: object, options: { readonly ctx: KoaContextWithOIDC }): IssuableIdToken;
    readonly prototype: IssuableIdToken;
    validate(token: string, client: { readonly clientId: string; readonly idTokenSignedResponseAlg: string }): Promise<unknown>;
  };
  readonly ReplayDetection: { unique(issuer: string, id: string, expiresAt: number): Promise<boolean> };
  readonly Session: { readonly IN_PAYLOAD: readonly string[] };
  readonly OIDCContext: {
    readonly prototype: { readonly ctx: KoaContextWithOIDC; readonly route: string; urlFor(name: string, options?: object): string };
    new (ctx: object): object;
  };
  readonly Client: ClientClass;
}

interface ClientClass {
  readonly adapter: { find(id: string): Promise<object | undefined> };
  find(id: string): Promise<object | undefined>;
  readonly prototype: {
    readonly clientId: string;
    readonly tokenEndpointAuthMethod: string;
    compareClientSecret(actual: string): boolean;
    responseTypeAllowed(responseType: string): boolean;
  };
  readonly Schema: { readonly prototype: { invalidate(message: string, code?: string): void } };
}

/** Clock tolerance for DPoP proofs in seconds (RFC 9449 section 11.1). */
const PROOF_TOLERANCE = 300;

const FORGIVEN = new Set(['implicit-force-https', 'implicit-forbid-localhost']);

/** A response mode that replaces the library's. @param fields the authorization response */
export type ResponseMode = (ctx: KoaContextWithOIDC, redirectUri: string, fields: Record<string, unknown>) => Promise<void>;

export interface PatchOptions {
  /** The algorithms of the server's keys, including retired ones. */
  readonly signingAlgs: ReadonlySet<string>;
  readonly formPost: ResponseMode;
  /** Responses of the two endpoints before the library turns them into JWTs. */
  readonly responses: Readonly<Record<'introspection' | 'userinfo', (ctx: KoaContextWithOIDC) => Promise<object>>>;
  /** The URL that the client called, for the URL of its endpoint. */
  aliasOf(req: IncomingMessage, url: string): string;
  /**
   * Marks the `jti` of a client assertion or DPoP proof as used, immediately and for all processes.
   * @param until epoch seconds
   * @returns false if it was used before
   */
  claimOnce(issuer: string, id: string, until: number): Promise<boolean>;
  /** Called before a code, access token or refresh token is issued; can still change it. */
  evaluate(token: IssuedToken): Promise<void>;
  /** Called before an ID token is issued. @returns the changed claims; undefined: no change */
  changeIdToken(
    ctx: KoaContextWithOIDC,
    token: { payload(): Promise<object> },
  ): Promise<{ readonly payload?: object; readonly expiresAt?: number } | undefined>;
  /** Called before a client's secret is compared. @throws if the client is blocked */
  beforeSecret(clientId: string): void;
  /** Called with the ID of the secret that matched. */
  afterSecret(secretId: string): void;
}

interface KnownClients {
  /** The library's function. */
  readonly find: ClientClass['find'];
  readonly byMetadata: WeakMap<object, object>;
}

/** Cached clients for each provider's class. */
const knownClients = new WeakMap<ClientClass, KnownClients>();

/** Equal metadata means an equal client. The library would serialize and hash the metadata at every lookup to find that out. */
async function findByMetadata(this: ClientClass, id: string): Promise<object | undefined> {
  const metadata = typeof id === 'string' && id !== '' ? await this.adapter.find(id) : undefined;
  // Avoids a second lookup: unknown IDs must not cost twice.
  if (metadata === undefined) return undefined;
  const clients = knownClients.get(this);
  if (clients === undefined) throw new Error('oidc-provider: clients are looked up by another class');
  const known = clients.byMetadata.get(metadata);
  if (known !== undefined) return known;
  const client = await clients.find.call(this, id);
  if (client !== undefined) clients.byMetadata.set(metadata, client);
  return client;
}

/** Is this the middleware that creates the request's context, the first one of each route of the library? It is recognized by its behaviour. */
function givesContext(middleware: Middleware | undefined): boolean {
  const ctx = {};
  Promise.resolve(middleware?.(ctx as KoaContextWithOIDC, async () => {})).catch(() => {});
  return Object.hasOwn(ctx, 'oidc');
}

const ensureContext: Middleware = (ctx, next) => {
  const { OIDCContext } = ctx.app as unknown as Internals;
  Object.defineProperty(ctx, 'oidc', { value: new OIDCContext(ctx) });
  return current.run(ctx, () => next());
};

// `ctx.oidc` becomes a value. The library defines a getter on each request. V8 allocates accessors of a single object in the old
// generation, and keeps them with the whole request until the next full collection, which costs a fifth of a token request.
for (const method of ['get', 'post', 'put', 'delete', 'options'] as const) {
  const register = Router.prototype[method];
  Router.prototype[method] = function withValue(name, path, first, ...others) {
    if (!givesContext(first)) throw new Error('oidc-provider: routes no longer begin with the context of the request');
    return register.call(this, name, path, ensureContext, ...others);
  };
}

export function applyPatches(
  provider: Provider,
  { signingAlgs, formPost, responses, aliasOf, claimOnce, evaluate, changeIdToken, beforeSecret, afterSecret }: PatchOptions,
): void {
  const { ReplayDetection, OIDCContext, Client, IdToken, Session, AuthorizationCode, Grant, PushedAuthorizationRequest, ...models } =
    internalsOf(provider);

  // Additional session fields: external provider, last use, and use for organizations. The library neither saves nor reads fields that are
  // not listed.
  const fields = [...Session.IN_PAYLOAD, SESSION_PROVIDER, SESSION_DEVICE, SESSION_ORGANIZATIONS];
  Object.defineProperty(Session, 'IN_PAYLOAD', { get: () => fields });

  // The plain `token` response type of RFC 6749 section 4.2: the library's configuration refuses it, its code supports it.
  instance(provider).configuration.responseTypes.push('token');

  // RFC 7523 section 3 allows a clock tolerance. The library has one tolerance for client assertions and tokens, and tokens must expire on time.
  Object.defineProperty(instance(provider).configuration, 'clockTolerance', { get: () => clockTolerance(Provider.ctx) });

  // The form_post page in our layout, without an inline script. registerResponseMode() does not replace an existing mode.
  instance(provider).responseModes.set('form_post', formPost);
  // JARM's form_post.jwt is the same page with one field.
  instance(provider).responseModes.set('form_post.jwt', async (ctx, redirectUri, fields) => {
    const token = new IdToken({}, { ctx });
    token.extra = fields;
    await formPost(ctx, redirectUri, { response: await token.issue({ use: 'authorization' }) });
  });

  // The library looks a value up and then saves it, so a concurrent second use succeeds. It also forgets DPoP proofs from the future too
  // early: a proof dated ahead by the whole tolerance is valid for twice as long.
  ReplayDetection.unique = (issuer, id, expiresAt) => claimOnce(issuer, id, expiresAt + PROOF_TOLERANCE);

  // Every returned URL derives from the issuer, never from the Host header. Requests can also be called at MTLS_BASE_URL, and their DPoP
  // proofs contain that URL.
  OIDCContext.prototype.urlFor = function ofIssuer(name, options) {
    const url = provider.urlFor(name, options as Record<string, unknown>);
    return name === this.route ? aliasOf(this.ctx.req, url) : url;
  };

  // Redirect URIs of implicit clients were validated when the application was created.
  const { invalidate } = Client.Schema.prototype;
  Client.Schema.prototype.invalidate = function unlessForgiven(message, code) {
    if (code === undefined || !FORGIVEN.has(code)) invalidate.call(this, message, code);
  };

  // An application can have an older secret beside its newest one, for rotation without an outage.
  const { compareClientSecret } = Client.prototype;
  Client.prototype.compareClientSecret = function compareEach(actual) {
    beforeSecret(this.clientId);
    const federated = federatedResult(Provider.ctx?.req, this.clientId, actual);
    if (federated !== undefined) return federated;
    const literal = Provider.ctx === undefined ? undefined : literalSecret(Provider.ctx.req);
    const { newestSecretId, olderSecrets } = clientSettings(this);
    for (const given of literal === undefined ? [actual] : [actual, literal]) {
      const right = compareClientSecret.call(this, given) ? newestSecretId : olderSecrets.find(({ value }) => sameSecret(value, given))?.id;
      if (right === undefined) continue;
      afterSecret(right);
      return true;
    }
    return false;
  };

  // Tokens of other issuers were verified before (federated-client.ts). Their substitute is compared like a secret.
  Object.defineProperty(Client.prototype, 'clientAuthMethod', {
    get(this: ClientClass['prototype']) {
      return isFederated(Provider.ctx?.req, this.clientId) ? 'client_secret_post' : this.tokenEndpointAuthMethod;
    },
  });

  if (knownClients.has(Client)) throw new Error('a provider is touched once');
  knownClients.set(Client, { find: Client.find, byMetadata: new WeakMap() });
  Client.find = findByMetadata;

  // RFC 6749 section 4.1.2.1: a response type that the application may not use is `unauthorized_client`, not `invalid_request`.
  const { responseTypeAllowed } = Client.prototype;
  Client.prototype.responseTypeAllowed = function orRefused(responseType) {
    if (responseTypeAllowed.call(this, responseType)) return true;
    throw new errors.UnauthorizedClient('the application may not use this response_type. Add it to its response_types');
  };

  // IDs of issued values begin with their minute (storage/row-keys.ts).
  for (const { prototype } of [AuthorizationCode, Grant, ...Object.values(models)]) {
    const { generateTokenId } = prototype;
    prototype.generateTokenId = function dated() {
      return withMinute(generateTokenId.call(this));
    };
  }
  // Shorter than the library's other IDs, so there is no room for a minute.
  PushedAuthorizationRequest.prototype.generateTokenId = () => withMinute(randomToken());

  // Evaluates policies before a token is issued. The library's own hook (the lifetime) is synchronous, and groups must be read.
  const accessTokens = new WeakMap<object, string>();
  for (const { prototype } of [AuthorizationCode, ...Object.values(models)]) {
    const { save } = prototype;
    prototype.save = async function judged() {
      await evaluate(this);
      const value = await save.call(this);
      if (this.kind === 'AccessToken' && Provider.ctx !== undefined) accessTokens.set(Provider.ctx, value);
      return value;
    };
  }

  // OpenID Connect Core section 3.1.3.6: the token endpoint may bind the ID token to the access token, as the authorize endpoint must. RFC 7519
  // section 4.1.7: `jti` identifies ID tokens in logs and introspection.
  const { issue } = IdToken.prototype;
  IdToken.prototype.issue = async function bound(options) {
    const accessToken = this.ctx && accessTokens.get(this.ctx);
    const { use } = options ?? {};
    // Signed responses contain the same as unsigned ones (RFC 9701 section 5, OpenID Connect Core section 5.3.2).
    if (use === 'introspection' && this.ctx !== undefined) this.extra = { token_introspection: await responses.introspection(this.ctx) };
    if (use === 'userinfo' && this.ctx !== undefined) Object.assign(this, { available: {}, extra: await responses.userinfo(this.ctx) });
    if (options?.use === 'idtoken') this.set('jti', randomBase62(22));
    if (options?.use === 'idtoken' && accessToken !== undefined) this.set('at_hash', accessToken);
    const change = options?.use === 'idtoken' && this.ctx !== undefined ? await changeIdToken(this.ctx, this) : undefined;
    const { payload, expiresAt } = change ?? {};
    // The library reads the payload again.
    if (payload !== undefined) this.payload = async () => payload;
    return issue.call(this, expiresAt === undefined ? options : { ...options, expiresAt });
  };

  // An ID token remains valid as a hint if the server or the application has changed the algorithm since: any key of this server is
  // accepted, but no secret.
  const { validate } = IdToken;
  IdToken.validate = async function byAnyKey(token, { clientId }) {
    const { alg = '', typ } = decodeProtectedHeader(token);
    if (!isIdToken(typ, decodeJwt(token))) throw new Error('a token of another kind');
    if (!signingAlgs.has(alg)) throw new Error('signed by no key of this server');
    return validate.call(this, token, { clientId, idTokenSignedResponseAlg: alg });
  };
}

function internalsOf(provider: Provider): Internals {
  const internals = provider as unknown as Internals;
  const { ReplayDetection, OIDCContext, Client, IdToken, Session, AuthorizationCode, Grant, PushedAuthorizationRequest } = internals;
  // Getters of the prototype, which a spread would not copy.
  const { AccessToken, BackchannelAuthenticationRequest, ClientCredentials, DeviceCode, RefreshToken } = internals;
  return {
    ...{ ReplayDetection, OIDCContext, Client, IdToken, Session, AuthorizationCode, Grant, PushedAuthorizationRequest },
    ...{ AccessToken, BackchannelAuthenticationRequest, ClientCredentials, DeviceCode, RefreshToken },
  };
}
