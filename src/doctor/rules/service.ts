/** "What the service does", "Versioning" and the URLs: a complete flow with a certified client library, at both kinds of servers. */
import * as client from 'openid-client';
import { CALLBACK, SIGNED_OUT, type TestApplication } from '../fixtures.ts';
import { jsonOf } from '../http-client.ts';
import { must, mustEqual, type Rule, section, unseen } from '../rule.ts';
import { challengeOf, type RuleContext } from '../rule-context.ts';

const ENDPOINTS = {
  authorization_endpoint: 'authorize',
  token_endpoint: 'token',
  introspection_endpoint: 'introspect',
  revocation_endpoint: 'revoke',
  end_session_endpoint: 'logout',
  userinfo_endpoint: 'userinfo',
} as const;

const metadataOf = async (visit: RuleContext, issuer = visit.issuer) =>
  jsonOf(await visit.wire.send(`${issuer}/.well-known/openid-configuration`));

export const addresses: readonly Rule<RuleContext>[] = section(
  'Identity Service: OIDC / OAuth 2.0 Endpoints and Organization Management API',
  [
    {
      id: 'service.covered',
      sentence:
        'This document covers all nine parts for the whole service: the OIDC / OAuth 2.0 endpoints (authorize, token, introspect, revoke, logout, userinfo) and the organization management API.',
      async run(visit) {
        const metadata = await metadataOf(visit);
        for (const name of Object.keys(ENDPOINTS)) must(typeof metadata[name] === 'string', `the metadata must name ${name}`);
      },
    },
    {
      id: 'service.base-url',
      sentence: '`{base_url}` = `https://<service_domain>`.',
      async run(visit) {
        const metadata = await metadataOf(visit);
        for (const value of Object.values(metadata)) {
          if (typeof value === 'string' && /^https?:/.test(value))
            mustEqual(new URL(value).origin, visit.baseUrl, 'the origin of every address');
        }
      },
    },
    {
      id: 'service.oauth-base',
      sentence:
        '`{oauth_base}` = `{base_url}/oauth/v1` (built-in authorization server, single sign-on only) or `{base_url}/oauth/v1/<authorization_server_id>` (custom authorization server). A default custom authorization server exists with the id `default`, so `{base_url}/oauth/v1/default` is valid.',
      async run(visit) {
        mustEqual((await metadataOf(visit)).issuer, visit.issuer, 'issuer');
        const issuer = `${visit.baseUrl}/oauth/v1/default`;
        mustEqual((await metadataOf(visit, issuer)).issuer, issuer, 'issuer of the server default');
      },
    },
    {
      id: 'service.oauth-endpoints',
      sentence:
        'OAuth endpoints are reached as `{oauth_base}/authorize`, `{oauth_base}/token`, `{oauth_base}/introspect`, `{oauth_base}/revoke`, `{oauth_base}/logout` and `{oauth_base}/userinfo`.',
      async run(visit) {
        const metadata = await metadataOf(visit);
        for (const [name, path] of Object.entries(ENDPOINTS)) mustEqual(metadata[name], `${visit.issuer}/${path}`, name);
      },
    },
    {
      id: 'service.organization-endpoints',
      sentence: 'Organization endpoints are reached under `{base_url}/api/v1/account/org`.',
      async run(visit) {
        mustEqual((await visit.fixtures.api.call('GET', '/account/org?limit=1', undefined, visit.wire)).status, 200, 'status');
      },
    },
  ],
);

/** A complete flow of an application with a secret, and of one without: sign-in, tokens, userinfo, refresh, introspection, revocation, logout. */
async function completeFlow(visit: RuleContext): Promise<void> {
  for (const application of [await visit.everything(), await visit.publicOne()]) await wholeWayOf(visit, application);
}

async function wholeWayOf(visit: RuleContext, { id, secret }: TestApplication): Promise<void> {
  const user = await visit.user();
  const browser = await visit.newSession();
  const authentication = secret === undefined ? client.None() : client.ClientSecretBasic(secret);
  const config = await client.discovery(new URL(visit.issuer), id, undefined, authentication, {
    execute: visit.baseUrl.startsWith('http:') ? [client.allowInsecureRequests] : [],
    [client.customFetch]: visit.fetch,
  });
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const checks = { pkceCodeVerifier, expectedState: client.randomState(), expectedNonce: client.randomNonce() };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: 'openid profile offline_access',
    code_challenge: challengeOf(pkceCodeVerifier),
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  });
  const { location } = await browser.visit(visit.wire, url);
  must(location !== undefined, 'the authorization request must return a redirect');
  const tokens = await client.authorizationCodeGrant(config, location, checks);
  mustEqual(tokens.claims()?.sub, user.id, 'sub');
  await client.fetchUserInfo(config, tokens.access_token, user.id);
  const refreshed = await client.refreshTokenGrant(config, tokens.refresh_token ?? '');
  mustEqual((await client.tokenIntrospection(config, refreshed.access_token)).active, true, 'active');
  await client.tokenRevocation(config, refreshed.access_token);
  mustEqual((await client.tokenIntrospection(config, refreshed.access_token)).active, false, 'active of the revoked token');
  const parameters = { id_token_hint: tokens.id_token ?? '', post_logout_redirect_uri: SIGNED_OUT, state: 'bye' };
  const signedOut = await browser.visit(visit.wire, client.buildEndSessionUrl(config, parameters));
  mustEqual(signedOut.location?.href, `${SIGNED_OUT}?state=bye`, 'the address after the logout');
  must(!(await visit.hasSession(browser)), 'the session must end with the logout');
}

export const behaviour: readonly Rule<RuleContext>[] = section('What the service does', [
  {
    id: 'service.single-sign-on',
    sentence:
      "The service stores and manages an organization's users and lets them sign in to many applications with one account (single sign-on).",
    async run(visit) {
      const browser = (await visit.signedIn()).copy();
      const { id } = await visit.other();
      for (const at of [visit, visit.elsewhere]) {
        const { fields } = await at.authorize({ client_id: id, prompt: 'none' }, browser);
        visit.wire.exchanges.push(...at.wire.exchanges.slice(-1));
        must(fields.code !== undefined, 'a session must work for a second application');
      }
    },
  },
  { id: 'service.two-modes', sentence: 'It acts as an OIDC / OAuth 2.0 authorization server in two modes:', run: completeFlow },
  {
    id: 'service.built-in',
    sentence:
      'Built-in authorization server (single sign-on only): the service is both authorization server and resource server. Base is `{base_url}/oauth/v1`.',
    async run(visit) {
      if (!visit.isBuiltIn) return;
      const { access_token: token } = await visit.tokens();
      must(!String(token).includes('.'), 'the access token of the built-in server must be opaque');
      mustEqual((await visit.userinfo(token)).status, 200, 'status of userinfo');
    },
  },
  {
    id: 'service.custom',
    sentence:
      "Custom authorization server: the service is the central user store, authentication and authorization provider for an organization's own applications and APIs, which act as resource servers. Base is `{base_url}/oauth/v1/<authorization_server_id>`.",
    async run(visit) {
      if (visit.isBuiltIn) return;
      const keys = jsonOf(await visit.wire.send(`${visit.issuer}/keys`)).keys as { kid?: string }[];
      const { access_token: token } = await visit.tokens();
      const { kid } = JSON.parse(Buffer.from(String(token).split('.')[0] ?? '', 'base64url').toString()) as { kid?: string };
      must(kid !== undefined && keys.some((key) => key.kid === kid), 'a resource server must find the key of the access token at /keys');
    },
  },
  {
    id: 'service.own-endpoints',
    sentence: 'Tokens must be handled (introspected, revoked) at the endpoints of the same authorization server that issued them.',
    async run(visit) {
      const { access_token: token } = await visit.freshTokens();
      const { elsewhere } = visit;
      mustEqual((await elsewhere.introspect(token)).active, false, 'active at another server');
      await elsewhere.post('revoke', { token: String(token) });
      mustEqual((await visit.introspect(token)).active, true, 'active after it was to be revoked at another server');
    },
  },
  {
    id: 'service.organizations',
    sentence:
      'It exposes a management API for organizations (create, list, read, rename, read department tree), authenticated with an administrator-created API token.',
    async run(visit) {
      const reply = await visit.fixtures.api.call(
        'GET',
        '/account/org?limit=1',
        undefined,
        visit.wire,
        'an-api-token-that-nobody-has-made',
      );
      mustEqual(reply.status, 401, 'status with an unknown API token');
    },
  },
  {
    id: 'service.social',
    sentence: 'It supports social login through an external identity provider (IdP); the `display` parameter is passed to that IdP.',
    run: unseen('another identity provider would have to take part'),
  },
]);

export const versioning: readonly Rule<RuleContext>[] = section('Versioning', [
  {
    id: 'versioning.paths',
    sentence: 'The OAuth endpoints live under the path segment `/oauth/v1`; the organization API lives under `/api/v1`.',
    async run(visit) {
      must(
        new URL(String((await metadataOf(visit)).token_endpoint)).pathname.startsWith('/oauth/v1/'),
        'OAuth endpoints must be under /oauth/v1',
      );
      mustEqual((await visit.wire.send(`${visit.baseUrl}/api/v2/account/org`)).status, 404, 'status of another version');
    },
  },
]);
