/** Middleware before and after oidc-provider for each request to an authorization server, in this order. */
import type { Context, Middleware } from 'koa';
import { isOriginAllowed } from '../../features/applications/application-lists.service.ts';
import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import type { SigningKey } from '../../features/authorization-servers/signing-keys.resource.ts';
import type { Scope } from '../../features/scopes/scopes.resource.ts';
import { isUnavailable } from '../../platform/database/database-failures.ts';
import { noteApplicationSignIn } from '../authorize/application-sign-in.ts';
import { repeatRequest } from '../authorize/ended-session.ts';
import { isPush, prepareAuthorization, preparePush, refusalOfPush } from '../authorize/request.ts';
import { type Merged, type RequestParameters, requestObjects } from '../authorize/request-object.ts';
import { prepareBasic } from '../client-authentication/client-authentication.ts';
import { explainFederation, prepareFederated } from '../client-authentication/federated-client.ts';
import { finishConfirmation, prepareConfirmation, setVerificationUri } from '../device/device-flow.ts';
import { completeDiscovery } from '../discovery/discovery.ts';
import { acceptedIntrospection, type IntrospectionParts, replaceIntrospectionResponse } from '../introspection/introspection.ts';
import { type AdapterPayload, errors, type KoaContextWithOIDC, type Provider } from '../library/oidc-provider.ts';
import { handleLogout } from '../logout/logout.ts';
import type { Directory } from '../storage/directory.ts';
import { SessionEnded } from '../storage/protocol-writes.store.ts';
import { beginRequest, requestStateOf, throwRecordedFailure } from '../storage/request-state.ts';
import type { ServerState } from '../storage/server-state.ts';
import type { AccessTokenFormat } from '../token/access-token-format.ts';
import { slowDownPolling } from '../token/polling.ts';
import type { Subjects } from '../token/subjects.ts';
import { replaceUserinfoResponse, type UserinfoParts, userinfoRule } from '../userinfo/userinfo.ts';
import { clientSettings } from './client-settings.ts';
import { clientInHeader, clientInQuery, passRequestBody, prepareTokenForm, prepareUserinfo } from './credentials.ts';
import type { ProviderParts } from './dependencies.ts';
import { isProgramEndpoint, ROUTES, shareWithOrigin } from './endpoints.ts';
import { showError } from './error-pages.ts';
import { TemporarilyUnavailable } from './errors.ts';
import { isFapi2 } from './fapi2.ts';
import { isPlainForm, readProtocolForm, refuseRepeated } from './form.ts';
import { removeUnpublishedKeys } from './keys.ts';
import { noteError } from './refusals.ts';
import { commitWrites, finishProgramResponse, respondWithError } from './responses.ts';
import { deviceCookie } from './session-device.ts';

export interface PipelineParts extends ProviderParts {
  readonly provider: Provider;
  readonly server: AuthorizationServer;
  readonly scopes: readonly Scope[];
  readonly detailTypes: readonly DetailType[];
  readonly keys: readonly SigningKey[];
  readonly state: ServerState;
  readonly directory: Directory;
  readonly format: AccessTokenFormat;
  readonly userinfo: UserinfoParts;
  readonly introspected: IntrospectionParts;
  readonly subjects: Subjects;
  /** The client's metadata for this server. */
  findClient(id: string, ctx: KoaContextWithOIDC): Promise<AdapterPayload | undefined>;
}

type Next = () => Promise<void>;

export function requestPipeline(parts: PipelineParts): Middleware {
  const merge = requestMerger(parts);
  const steps = { program: programEndpoint(parts, merge), browser: browserEndpoint(parts, merge) };
  return async (context, next) => {
    const ctx = context as KoaContextWithOIDC;
    beginRequest(ctx);
    ctx.state.requestId = parts.requestId(ctx.req);
    await steps[isProgramEndpoint(ctx.path) ? 'program' : 'browser'](ctx, next);
  };
}

/** Reports database outages as temporarily unavailable wherever they occur. */
const asProtocolError = (failure: unknown): unknown => (isUnavailable(failure) ? new TemporarilyUnavailable(failure) : failure);

/** Merges the parameters of a signed request over the others. */
type Merge = (ctx: Context, query: RequestParameters) => Promise<Merged>;

function requestMerger({ server, state, issuerKeys, findClient, wrongSecrets }: PipelineParts): Merge {
  const merge = requestObjects({
    issuer: state.issuer,
    issuerKeys,
    isFapi2: (client) => isFapi2(client, server),
    claim: (clientId, jti, until) => state.claim(`request object ${JSON.stringify([clientId, jti])}`, until),
  });
  return (ctx, query) =>
    merge(query, {
      findClient: (id) => findClient(id, ctx as KoaContextWithOIDC),
      before: (clientId) => wrongSecrets.refuseBlocked(ctx, clientId),
      failed: (clientId) => state.read(() => wrongSecrets.note(ctx, clientId)),
    });
}

/** token, introspect, revoke, userinfo and par: called by programs, answered in JSON. */
function programEndpoint(parts: PipelineParts, merge: Merge) {
  const { config, provider, server, scopes, state, format, userinfo, introspected, log, database, wrongSecrets, uses } = parts;
  const bearerRule = userinfoRule({ ...server, issuer: state.issuer }, (id) => provider.Client.find(id));

  async function prepare(ctx: KoaContextWithOIDC): Promise<void> {
    // Programs always get JSON; oidc-provider would render errors as pages.
    ctx.req.headers.accept = ctx.path === ROUTES.introspection ? acceptedIntrospection(ctx.req) : 'application/json';
    if (ctx.method === 'POST' && isPlainForm(ctx.req) && ctx.request.length) {
      await refuseRepeated(ctx);
      if (ctx.path !== ROUTES.userinfo) await prepareFederated(ctx, parts);
    }
    if (ctx.path !== ROUTES.userinfo) prepareBasic(ctx);
    if (ctx.path === ROUTES.userinfo) {
      Object.assign(requestStateOf(ctx) ?? {}, { bearerRule });
      await prepareUserinfo(ctx, format);
    }
    // oidc-provider would read it in chunks, which costs more.
    else if (ctx.path === ROUTES.token && isPlainForm(ctx.req) && ctx.request.length) passRequestBody(ctx, await readProtocolForm(ctx));
    else if (isPush(ctx)) await preparePush(ctx, scopes, (query) => merge(ctx, query));
    else if (ctx.path !== ROUTES.token && ctx.method === 'POST') {
      await prepareTokenForm(ctx, format, ctx.path === ROUTES.introspection ? clientInQuery(ctx) : clientInHeader(ctx));
    }
  }

  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    try {
      await prepare(ctx);
      throwRecordedFailure(ctx.req);
      await next();
      explainFederation(ctx);
      const wrong = ctx.path === ROUTES.userinfo ? undefined : wrongSecrets.checkResult(ctx);
      if (wrong !== undefined) await state.read(() => wrong);
      // Reported after client authentication, before the library validates the rest of the request.
      const refusal = isPush(ctx) && [200, 201, 400].includes(ctx.status) ? refusalOfPush(ctx) : undefined;
      if (refusal !== undefined) throw refusal;
      if (ctx.path === ROUTES.token && ctx.status === 400) await slowDownPolling(ctx, state);
      if (ctx.path === ROUTES.device_authorization && ctx.status === 200) setVerificationUri(ctx, config.baseUrl);
      // The JWT was created from the same response.
      if (ctx.status === 200 && typeof ctx.body === 'object') {
        if (ctx.path === ROUTES.introspection && ctx.method === 'POST') ctx.body = await replaceIntrospectionResponse(ctx, introspected);
        if (ctx.path === ROUTES.userinfo) ctx.body = await replaceUserinfoResponse(ctx, userinfo);
      }
      await commitWrites(ctx, state);
      const client = ctx.status < 400 ? ctx.oidc?.client : undefined;
      if (client !== undefined) uses.note(client.clientId);
      const { newestSecretId } = client?.tokenEndpointAuthMethod === 'client_secret_jwt' ? clientSettings(client) : {};
      if (newestSecretId !== undefined) uses.noteSecret(newestSecretId);
    } catch (failure) {
      const error = asProtocolError(failure);
      if (!(error instanceof errors.OIDCProviderError)) log.error({ err: error, requestId: ctx.state.requestId }, 'server_error');
      respondWithError(ctx, error);
    }
    finishProgramResponse(ctx);
    if (ctx.status >= 400) await noteError(parts, ctx, ctx.body as { readonly error: string; readonly error_description?: string });
    await shareWithOrigin(ctx, (origin) => isOriginAllowed(database, origin));
  };
}

/** authorize, logout, discovery and keys. */
function browserEndpoint(parts: PipelineParts, merge: Merge) {
  const { server, scopes, keys, state, log, pages, config, uses } = parts;
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    try {
      const giveDevice = deviceCookie(ctx, config);
      if (ctx.path === ROUTES.authorization) await prepareAuthorization(ctx, scopes, (query) => merge(ctx, query));
      if (ctx.path === ROUTES.code_verification && !(await prepareConfirmation(ctx, parts))) return;
      if (ctx.path === ROUTES.end_session) await handleLogout(ctx, parts);
      else await next();
      if (ctx.path === ROUTES.code_verification) await finishConfirmation(ctx, parts);
      giveDevice();
      completeDiscovery(ctx, parts, config);
      if (ctx.path === ROUTES.jwks && ctx.status === 200) removeUnpublishedKeys(ctx, keys);
      if (ctx.oidc !== undefined) noteApplicationSignIn(ctx, server, parts);
      await commitWrites(ctx, state);
      const client = ctx.oidc?.client;
      if (client !== undefined && requestStateOf(ctx)?.writes.bySession) uses.note(client.clientId);
      await noteError(parts, ctx);
    } catch (failure) {
      const error = asProtocolError(failure);
      // No redirect or cookie must be sent if the commit failed.
      ctx.remove('Location');
      ctx.remove('Set-Cookie');
      if (error instanceof SessionEnded) {
        repeatRequest(ctx);
        return;
      }
      if (error instanceof errors.OIDCProviderError && error.expose) {
        const { statusCode: status, error: code, error_description: description = '' } = error;
        await noteError(parts, ctx, error);
        await showError(pages, ctx, { status, code, description, cause: error });
        return;
      }
      log.error({ err: error, requestId: ctx.state.requestId }, 'server_error');
      await showError(pages, ctx, { status: 500, code: 'server_error', description: '', cause: error });
    }
  };
}
