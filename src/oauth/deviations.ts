/**
 * Every setting of oidc-provider that is unlike its default, and every touch of it that is not documented: what, why, and the test that would
 * notice if it were lost. Read before an upgrade of the library. `test/oauth/deviations.test.ts` checks that the tests named here exist.
 */
export interface Deviation {
  readonly setting: string;
  readonly default: string;
  readonly ours: string;
  readonly why: string;
  /** A test file, or `self-test` for what each start checks. */
  readonly test: string;
}

export const DEVIATIONS: readonly Deviation[] = [
  {
    setting: 'responseTypes (undocumented: pushed into the built configuration)',
    default: 'plain token is refused',
    ours: 'token is a response type',
    why: 'all seven combinations of code, token and id_token are promised',
    test: 'self-test',
  },
  {
    setting: 'the form_post response mode (undocumented: replaced in the built state)',
    default: 'a page of the library with an inline script',
    ours: 'a page in our layout, with a button',
    why: 'a strict content security policy, and the same headers as every page',
    test: 'oauth/form-post.test.ts',
  },
  {
    setting: 'OIDCContext.prototype.urlFor (undocumented)',
    default: 'URLs follow the Host header',
    ours: 'URLs follow the issuer',
    why: 'a spoofed Host header must not appear in discovery or redirects',
    test: 'self-test',
  },
  {
    setting: 'Client.Schema.prototype.invalidate (undocumented)',
    default: 'implicit clients may not register http or localhost',
    ours: 'accepted',
    why: 'the management API decides what may be registered; local development needs localhost',
    test: 'self-test',
  },
  {
    setting: 'Client.prototype.compareClientSecret (undocumented)',
    default: 'one secret',
    ours: 'the newest and older ones',
    why: 'secrets are rotated without an outage',
    test: 'self-test',
  },
  {
    setting: 'Client.prototype.responseTypeAllowed (undocumented)',
    default: 'a response type that the application may not use is invalid_request',
    ours: 'unauthorized_client',
    why: 'RFC 6749 section 4.1.2.1 has this code for it',
    test: 'self-test',
  },
  {
    setting: 'fetch',
    default: 'guards against private addresses only',
    ours: 'the one guarded client of the service',
    why: 'no redirects, bounded in size, and lifted by ALLOW_PRIVATE_NETWORK alone',
    test: 'oauth/request-object.test.ts',
  },
  {
    setting: 'the request parameter is verified and merged before the library sees it',
    default: 'features.requestObjects: what stands beside the JWT in the query is dropped',
    ours: "the JWT's values win, the query's others count; a jti is claimed by one insert",
    why: 'the specification merges (OpenID Connect Core section 6), and replay must be refused atomically',
    test: 'oauth/request-object.test.ts',
  },
  {
    setting: 'ttl.AccessToken and ttl.ClientCredentials choose the format (undocumented order)',
    default: 'the format is chosen by resource indicators',
    ours: 'custom servers issue JWTs, stored under a handle',
    why: 'a JWT access token is introspected, revoked and used at userinfo like an opaque one',
    test: 'self-test',
  },
  {
    setting: 'provider.request.protocol (Koa extension point)',
    default: 'from the socket or X-Forwarded-Proto',
    ours: 'https when BASE_URL is https',
    why: 'Secure cookies behind a proxy, without trusting a header',
    test: 'oauth/cookies.test.ts',
  },
  {
    setting: 'ctx.req.body as text (undocumented)',
    default: 'the library reads the body',
    ours: 'introspection, revocation and a posted userinfo request are read before it',
    why: 'a JWT access token is exchanged for its handle, which the library would refuse to look at',
    test: 'oauth/flow.test.ts',
  },
  {
    setting: 'routes',
    default: '/auth, /token/introspection, /token/revocation, /me, /session/end, /jwks',
    ours: '/authorize, /introspect, /revoke, /userinfo, /logout, /keys',
    why: 'the names that applications rely on',
    test: 'oauth/discovery.test.ts',
  },
  {
    setting: 'clockTolerance',
    default: '15 seconds',
    ours: '0',
    why: 'userinfo accepted tokens that introspection called expired',
    test: 'oauth/single-use.test.ts',
  },
  {
    setting: 'conformIdTokenClaims',
    default: 'true',
    ours: 'false',
    why: 'an ID token holds the subset of claims that the application chose, whether or not an access token comes with it',
    test: 'oauth/claims.test.ts',
  },
  {
    setting: 'claims',
    default: 'one claim set per scope',
    ours: 'every scope maps to every claim',
    why: 'userinfo always returns all of the user’s claims',
    test: 'oauth/claims.test.ts',
  },
  {
    setting: 'expiresWithSession',
    default: 'true without offline_access',
    ours: 'false',
    why: 'a logout ends the browser session and no token',
    test: 'oauth/flow.test.ts',
  },
  {
    setting: 'issueRefreshToken',
    default: 'also for native clients without offline_access',
    ours: 'only when offline_access was granted',
    why: 'a refresh token is obtained only by asking for offline_access',
    test: 'oauth/claims.test.ts',
  },
  {
    setting: 'rotateRefreshToken, and its leeway in the adapter',
    default: 'rotates by the kind of client',
    ours: 'rotates by the setting of the application; within the leeway a used token yields another successor',
    why: 'an answer lost on the way can be asked for again',
    test: 'oauth/single-use.test.ts',
  },
  {
    setting: 'features.revocation.allowedPolicy',
    default: 'ends every token of the grant',
    ours: 'ends the token that was named, and never another client’s',
    why: 'only the token given is revoked',
    test: 'oauth/flow.test.ts',
  },
  {
    setting: 'features.introspection',
    default: 'off',
    ours: 'on; any token of the server for confidential clients, own tokens for public ones',
    why: 'resource servers need it',
    test: 'oauth/flow.test.ts',
  },
  {
    setting: 'features.resourceIndicators, dPoP, pushedAuthorizationRequests, backchannelLogout, devInteractions',
    default: 'some are on',
    ours: 'off',
    why: 'not promised, or not carried out yet: what is announced must work',
    test: 'oauth/discovery.test.ts',
  },
  {
    setting: 'interactions.policy',
    default: 'consent by missing scopes and for every native client',
    ours: 'consent by policy/consent.ts; a vanished account signs in again',
    why: 'consent depends on the application’s and the scope’s settings',
    test: 'oauth/consent.test.ts',
  },
  {
    setting: 'loadExistingGrant and the Grant adapter',
    default: 'grants are stored and looked up',
    ours: 'a grant is made for each authorization and derived from its token afterwards',
    why: 'consents live in a table of their own, and a request saves one read and one write',
    test: 'oauth/adapter.test.ts',
  },
  {
    setting: 'extraParams with validators for standard parameters',
    default: 'state optional, nonce for ID tokens, unknown scopes dropped, offline_access only with prompt=consent',
    ours: 'state required, nonce in implicit and hybrid flows, unknown scopes an error, offline_access as any scope',
    why: 'the specification’s rules',
    test: 'oauth/authorize.test.ts',
  },
  {
    setting: 'enableHttpPostMethods',
    default: 'false',
    ours: 'false; a posted authorization request is turned into a GET before the library',
    why: 'OpenID Connect Core section 3.1.2.1 wants both methods, the library’s way would tie cookies to SameSite=None',
    test: 'oauth/authorize.test.ts',
  },
  {
    setting: 'allowOmittingSingleRegisteredRedirectUri',
    default: 'true',
    ours: 'false',
    why: 'a request without redirect_uri is answered on the error page',
    test: 'oauth/authorize.test.ts',
  },
  {
    setting: 'ReplayDetection adapter',
    default: 'looked up, then saved',
    ours: 'saved by one conditional insert; the look-up finds nothing',
    why: 'of many uses of one client assertion at once exactly one is accepted',
    test: 'oauth/adapter.test.ts',
  },
  {
    setting: 'interactions.url',
    default: '/interaction/<uid>',
    ours: '/interaction/<server>/<uid>, with the application in the query',
    why: 'the pages serve all servers, and an expired sign-in still leads back to its application',
    test: 'interaction/dead-ends.test.ts',
  },
  {
    setting: 'renderError',
    default: 'a page of the library',
    ours: 'the error page of the service; a sign-in that is over says so',
    why: 'plain words, a request id and a way back, with the headers of every page',
    test: 'interaction/dead-ends.test.ts',
  },
];
