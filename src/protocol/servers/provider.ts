/**
 * One authorization server as an oidc-provider instance: assembles its configuration from the other files of this folder.
 * docs/explanation/library.md has the reason for every setting that differs from the library's default.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIFETIMES } from '../../../config/defaults.ts';
import { CLIENT_ASSERTION_ALGS, REQUEST_OBJECT_ALGS } from '../../features/applications/settings/algorithms.policy.ts';
import type { AuthorizationServerParts } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { issuerOf } from '../../features/authorization-servers/server-id.policy.ts';
import { openSigningKeys } from '../../features/authorization-servers/signing-keys.service.ts';
import { USER_CLAIMS } from '../../features/claims/claims.policy.ts';
import { announcedClaims } from '../../features/claims/custom-claims.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import { ACR_VALUES } from '../../features/second-factors/second-factor.policy.ts';
import type { SignInSettings } from '../../features/settings/settings.service.ts';
import { networkOf } from '../../features/sign-in/failure-limits.service.ts';
import { authenticationClaims, secondFactorCheck } from '../authorize/acr.ts';
import { checkClaims } from '../authorize/claims.ts';
import { formPostMode } from '../authorize/form-post.ts';
import { signInOrganizations } from '../authorize/organization.ts';
import { interactionAddress, promptRules } from '../authorize/prompts.ts';
import { requestChecks } from '../authorize/request-checks.ts';
import { cibaFeature, orDummyAccount } from '../ciba/sign-in-requests.ts';
import { assertionAudiences, checkAssertion, noteAssertion } from '../client-authentication/client-authentication.ts';
import { deviceFlow } from '../device/device-flow.ts';
import { DelegatedTokens } from '../exchange/delegated-tokens.ts';
import { registerExchangeGrants } from '../exchange/exchange-grants.ts';
import { mayIntrospect, replaceIntrospectionResponse } from '../introspection/introspection.ts';
import type { ShortPathParts } from '../introspection/short-path.ts';
import { type Configuration, type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { applyPatches } from '../library/patches.ts';
import { sharePrototypes } from '../library/request-prototypes.ts';
import { adapters } from '../storage/adapters.ts';
import { ClientAdapter } from '../storage/client-adapter.ts';
import { createDirectory } from '../storage/directory.ts';
import { ServerState } from '../storage/server-state.ts';
import { accessRules, clientCredentialsScope } from '../token/access.ts';
import { accessTokenFormat } from '../token/access-token-format.ts';
import { claimsByScope, findAccount } from '../token/account.ts';
import { audienceRules } from '../token/audience.ts';
import { CARRIED_DETAILS, detailRules } from '../token/authorization-details.ts';
import { lifetimes, longestSession } from '../token/lifetimes.ts';
import { PASSWORD_PARAMETERS, passwordGrant } from '../token/password-grant.ts';
import { checkProof, dpopFeature, PROOF_ALGS } from '../token/proof-of-possession.ts';
import { rotateRefreshToken } from '../token/refresh-rotation.ts';
import { serverClaims } from '../token/server-claims.ts';
import { createSubjects, type Subjects } from '../token/subjects.ts';
import { tokenHooks } from '../token/token-hooks.ts';
import { replaceUserinfoResponse } from '../userinfo/userinfo.ts';
import { clientDocumentRules } from './client-documents.ts';
import { CLIENT_SETTINGS, clientSettings } from './client-settings.ts';
import { cookies } from './cookies.ts';
import type { ProviderParts } from './dependencies.ts';
import { GRANT_TYPES, ROUTES } from './endpoints.ts';
import { showProtocolError } from './error-pages.ts';
import { checkFapi2Assertion, checkFapi2Client, codeLifetime, isFapi2 } from './fapi2.ts';
import { responseAlgs, SigningKeyInProcess, verificationKeys } from './keys.ts';
import { aliasOf, mtlsFeature, mtlsMetadata, TLS_METHODS } from './mtls.ts';
import { watchProvider } from './provider-events.ts';
import { noteRefusals } from './refusals.ts';
import { requestPipeline } from './request-pipeline.ts';

/** Values that are exchanged for tokens later; policies are evaluated then. */
const BEFORE_TOKENS: ReadonlySet<string> = new Set(['AuthorizationCode', 'DeviceCode', 'BackchannelAuthenticationRequest']);

/** Data that a server is built from. */
export interface ServerFoundation extends AuthorizationServerParts {
  readonly signIn: SignInSettings;
}

export interface BuiltServer extends ServerFoundation {
  readonly issuer: string;
  readonly provider: Provider;
  readonly state: ServerState;
  readonly subjects: Subjects;
  /** The current signing key. */
  readonly signer: SigningKeyInProcess | undefined;
  readonly callback: (req: IncomingMessage, res: ServerResponse) => Promise<void>;
  /** For responses without oidc-provider. */
  readonly shortPath: ShortPathParts;
}

/** @param findServer another active server of this installation */
export function buildServer(
  parts: ServerFoundation,
  deps: ProviderParts,
  findServer: (id: string) => Promise<BuiltServer | undefined>,
): BuiltServer {
  const { server, scopes, signIn } = parts;
  const { config, keyring, database } = deps;
  const issuer = issuerOf(config.baseUrl, server.id);
  const state = new ServerState(database.pool, server.key, issuer);
  const keys = openSigningKeys(parts.keys, server.signingAlg, keyring).map((jwk) => new SigningKeyInProcess(jwk));
  const directory = createDirectory(state, database, server.id);
  const keyOf = verificationKeys(parts.keys, directory.signingKey);
  const claims = serverClaims({
    serverId: server.id,
    claims: parts.claims,
    log: deps.log,
    readAccount: directory.user,
    readBelongings: directory.belongings,
  });
  const subjects = createSubjects(deps);
  const audiences = audienceRules(server);
  const { denied, refused } = noteRefusals(server, state, deps.refuse);
  const delegated = new DelegatedTokens();
  const details = detailRules(parts.detailTypes, (token) => delegated.detailsOf(token));
  const { groupIds, isAssigned, belongings } = directory;
  const actorOf = (token: object) => delegated.actorOf(token);
  const access = accessRules(parts.policies, server, groupIds, isAssigned, belongings, denied, actorOf, details.typesOf);
  const hooks = tokenHooks({ ...deps, server, issuer, state, access, claims, audienceOf: audiences.audienceOf, readUser: directory.user });
  const format = accessTokenFormat(server, issuer, keyOf, () => provider, audiences.audienceOf, hooks.ownClaims);
  const organizations = signInOrganizations(directory.organizations);
  const consent = promptRules(
    server,
    scopes,
    directory.rememberedScopes,
    directory.isAssigned,
    access.evaluateRequest,
    secondFactorCheck(signIn, directory.isAdministrator, organizations.policyOf, deps.isTrustedBrowser),
    deps.describe,
    refused,
    organizations,
    details.requested,
    (client, req) => deps.noteUse(server, client, req),
  );
  const announced = announcedClaims(parts.claims);
  const accounts = findAccount(directory.user, claims);
  const scopeNames: ReadonlySet<string> = new Set(scopes.map(({ name }) => name));
  const countUnanswered = (ctx: KoaContextWithOIDC) => deps.unanswered.count(networkOf(deps.describe(ctx.req).ipAddress));
  const ttl = lifetimes(server, access, signIn, countUnanswered);
  const offer = {
    signingAlgs: new Set<string>(parts.keys.flatMap(({ alg, status }) => (status === 'ACTIVE' ? [alg] : []))),
    signingAlg: server.signingAlg,
    grantTypes: GRANT_TYPES,
    serverId: server.id,
    profile: server.profile,
    clientIdMetadata: server.clientIdMetadata,
  };
  const clients = new ClientAdapter(state, deps.clients, offer, clientDocumentRules(server, deps));

  const configuration: Configuration = {
    adapter: adapters({ clients, state, keyring, longestSession: longestSession(signIn) }),
    fetch: deps.outbound as unknown as NonNullable<Configuration['fetch']>,
    jwks: { keys },
    routes: ROUTES,
    scopes: [...scopeNames],
    acrValues: [...ACR_VALUES],
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: (_ctx, userId, client) => subjects.of(client, userId),
    // Already validated when the application was saved.
    sectorIdentifierUriValidate: () => false,
    claims: claimsByScope(announced),
    responseTypes: ['code', 'id_token', 'code id_token', 'code token', 'id_token token', 'code id_token token'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'client_secret_jwt', 'private_key_jwt', ...TLS_METHODS, 'none'],
    clientDefaults: { id_token_signed_response_alg: server.signingAlg, authorization_signed_response_alg: server.signingAlg },
    extraClientMetadata: { properties: [CLIENT_SETTINGS] },
    enabledJWA: { dPoPSigningAlgValues: [...PROOF_ALGS], clientAuthSigningAlgValues: [...CLIENT_ASSERTION_ALGS], ...responseAlgs(server) },
    cookies: cookies(config, keyring),
    clockTolerance: 0,
    conformIdTokenClaims: false,
    enableHttpPostMethods: false,
    allowOmittingSingleRegisteredRedirectUri: false,
    ttl: {
      ...ttl,
      AuthorizationCode(_ctx, _code, client) {
        return codeLifetime(client, server);
      },
      Interaction(ctx, { session }) {
        if (session?.accountId !== undefined) return LIFETIMES.interaction;
        countUnanswered(ctx);
        return LIFETIMES.unansweredInteraction;
      },
      AccessToken: format.lifetime((token) => delegated.lifetimeOf(token, hooks.accessTokenSeconds(token))),
      ClientCredentials: format.lifetime(hooks.accessTokenSeconds),
    },
    formats: { customizers: { jwt: format.customizer } },
    async extraTokenClaims(ctx, token) {
      const aud = audiences.audienceOf(token);
      return {
        ...(aud !== undefined && { aud }),
        ...hooks.extraOf(token),
        ...authenticationClaims(ctx, token),
        ...delegated.claimsOf(token),
      };
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: mayIntrospect },
      revocation: {
        enabled: true,
        // Only the client's own token, and only this one; false keeps oidc-provider from revoking the whole grant.
        async allowedPolicy(ctx, client, token) {
          await checkProof(ctx, token);
          if (token.clientId === client.clientId) await token.destroy();
          return false;
        },
      },
      userinfo: { enabled: true },
      encryption: { enabled: true },
      jwtUserinfo: { enabled: true },
      jwtIntrospection: { enabled: true },
      externalSigningSupport: { enabled: true, ack: 'experimental-01' },
      rpInitiatedLogout: { enabled: true },
      // Announces the feature and adds `sid`. The outbox sends the notifications (backchannel-logout.ts), not the library.
      backchannelLogout: { enabled: true },
      claimsParameter: { enabled: true, assertClaimsParameter: (_ctx, claims) => checkClaims(claims) },
      resourceIndicators: { enabled: false },
      richAuthorizationRequests: CARRIED_DETAILS,
      jwtResponseModes: { enabled: true },
      pushedAuthorizationRequests: { enabled: true },
      mTLS: mtlsFeature(deps.certificates),
      dPoP: dpopFeature(keyring, ({ oidc }) => isFapi2(oidc.client, server)),
      deviceFlow: deviceFlow({ ...deps, server, detailTypes: parts.detailTypes }),
      ciba: cibaFeature({ ...deps, serverId: server.id }),
    },
    interactions: { policy: consent.policy, url: (ctx, interaction) => interactionAddress(server.id, interaction, ctx) },
    loadExistingGrant: consent.loadExistingGrant,
    findAccount: orDummyAccount(accounts, directory.isAssigned, subjects),
    discovery: {
      ...mtlsMetadata(issuer, config),
      request_parameter_supported: true,
      request_object_signing_alg_values_supported: [...REQUEST_OBJECT_ALGS],
    },
    extraParams: requestChecks({ parts, audiences, details, directory, state, countUnanswered, endSession: deps.endSession }),
    issueRefreshToken: async (_ctx, client, code) => client.grantTypeAllowed('refresh_token') && code.scopes.has('offline_access'),
    rotateRefreshToken: (ctx) => rotateRefreshToken(ctx, server, access),
    // Tokens outlive the session in which they were issued; logout revokes no tokens.
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    assertJwtClientAuthClaimsAndHeader: async (ctx, claims, header, client) => {
      noteAssertion(ctx);
      if (isFapi2(client, server)) checkFapi2Assertion(claims, header, issuer);
      checkAssertion(assertionAudiences(config, issuer, ctx.path), claims, header.typ);
    },
    pkce: { required: (_ctx, client) => clientSettings(client).pkceRequired || isFapi2(client, server) },
    // The response headers decide which pages can read the response (endpoints.ts). The request is executed for every sender.
    clientBasedCORS: () => true,
    renderError: (ctx, out, cause) =>
      showProtocolError(deps.pages, ctx, { status: ctx.status, code: out.error, description: out.error_description ?? '', cause }),
  };

  const provider = new Provider(issuer, configuration);
  const userinfoParts = { names: [...USER_CLAIMS, ...announced], claims, subjects };
  const introspected = { format, findUser: directory.user, claimsOf: claims.ofAccessToken, subjects };
  sharePrototypes(provider, config.secure);
  applyPatches(provider, {
    signingAlgs: new Set(parts.keys.map(({ alg }) => alg)),
    formPost: formPostMode(deps.pages),
    aliasOf: (req, url) => aliasOf(config, req, url),
    responses: {
      introspection: (ctx) => replaceIntrospectionResponse(ctx, introspected),
      userinfo: (ctx) => replaceUserinfoResponse(ctx, userinfoParts),
    },
    claimOnce: (issuerOfValue, id, until) => state.claim(`used once ${JSON.stringify([issuerOfValue, id])}`, until),
    async evaluate(token) {
      checkFapi2Client(Provider.ctx?.oidc.client, server);
      if (token.kind === 'ClientCredentials') token.scope = clientCredentialsScope(Provider.ctx?.oidc, server.id, scopes) || undefined;
      audiences.grant(token);
      details.grant(token);
      if (BEFORE_TOKENS.has(token.kind)) return;
      // Scopes that were deleted since are no longer granted.
      if (token.kind === 'AccessToken')
        token.scope =
          spaceSeparated(token.scope)
            .filter((name) => scopeNames.has(name))
            .join(' ') || undefined;
      await access.evaluateToken(token);
      if (token.kind !== 'RefreshToken') await hooks.transform(token);
    },
    changeIdToken: hooks.changeIdToken,
    beforeSecret(clientId) {
      if (Provider.ctx !== undefined) deps.wrongSecrets.refuseBlocked(Provider.ctx, clientId);
    },
    afterSecret: (secretId) => deps.uses.noteSecret(secretId),
  });
  const rules = { isAssigned: directory.isAssigned, findAccount: accounts, checkAudience: audiences.check, denied };
  const grant = passwordGrant({ provider, scopes, ...rules, ...deps });
  provider.registerGrantType('password', grant, PASSWORD_PARAMETERS);
  const own = { provider, issuer, server, state, format, subjects };
  const exchange = { own, keys, scopes, directory, delegated, denied, subjects, audiences, evaluate: access.evaluateToken };
  registerExchangeGrants({ ...exchange, findServer: async (id) => (await findServer(id))?.shortPath }, deps);
  watchProvider(provider, issuer, deps);

  const { wrongSecrets, uses } = deps;
  const pipelineParts = { ...own, scopes, detailTypes: parts.detailTypes, keys: parts.keys, directory, introspected };
  provider.use(requestPipeline({ ...pipelineParts, userinfo: userinfoParts, findClient: clients.lookUp.bind(clients), ...deps }));
  const shortPath: ShortPathParts = { ...own, userinfo: userinfoParts, introspected, wrongSecrets, uses, replica: database.replica };
  return { ...parts, issuer, provider, state, subjects, signer: keys[0], callback: provider.callback(), shortPath };
}
