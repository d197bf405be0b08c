/** The management API: every resource's endpoints under /api/v1, the processing of a call, and the only place that writes its errors. */
import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { CALLS_PER_MINUTE } from '../../config/defaults.ts';
import { userRoleEndpoints } from '../features/administrators/user-roles.api.ts';
import { apiTokens } from '../features/api-tokens/api-tokens.api.ts';
import { applicationRoleEndpoints } from '../features/application-roles/application-roles.api.ts';
import { apps } from '../features/applications/applications.api.ts';
import { assignedApps } from '../features/applications/assigned-applications.api.ts';
import { logs } from '../features/audit/logs.api.ts';
import { authorizationDetailTypes } from '../features/authorization-details/detail-types.api.ts';
import { authorizationServerKeys } from '../features/authorization-servers/authorization-server-keys.api.ts';
import { authorizationServers } from '../features/authorization-servers/authorization-servers.api.ts';
import { authorizationServerClaims } from '../features/claims/claims.api.ts';
import { userGrants } from '../features/consents/user-grants.api.ts';
import { eventHookDeliveries } from '../features/event-hooks/event-hook-deliveries.api.ts';
import { eventHooks } from '../features/event-hooks/event-hooks.api.ts';
import { groupEndpoints } from '../features/groups/groups.api.ts';
import { idps } from '../features/identity-providers/identity-providers.api.ts';
import { inlineHooks } from '../features/inline-hooks/inline-hooks.api.ts';
import { mailSettingsEndpoints } from '../features/mail/mail-settings.api.ts';
import { zoneEndpoints } from '../features/network-zones/network-zones.api.ts';
import { organizationBrandingEndpoints } from '../features/organization-branding/organization-branding.api.ts';
import { domainEndpoints } from '../features/organization-domains/organization-domains.api.ts';
import { organizationInvitationEndpoints } from '../features/organization-invitations/organization-invitations.api.ts';
import { organizationPolicyEndpoints } from '../features/organization-policy/organization-policy.api.ts';
import { organizationProviderEndpoints } from '../features/organization-providers/organization-providers.api.ts';
import { organizationRoleEndpoints } from '../features/organization-roles/organization-roles.api.ts';
import { organizationSetupEndpoints } from '../features/organization-setup/organization-setup.api.ts';
import { departmentEndpoints } from '../features/organizations/departments.api.ts';
import { memberEndpoints } from '../features/organizations/members.api.ts';
import { organizationEndpoints } from '../features/organizations/organizations.api.ts';
import { authorizationServerPolicies } from '../features/policies/policies.api.ts';
import { authorizationServerPolicyRules } from '../features/policies/policy-rules.api.ts';
import { authorizationServerSimulation } from '../features/policies/simulation.api.ts';
import { provisioningEndpoints } from '../features/provisioning/provisioning.api.ts';
import { registrationTokens } from '../features/registration/registration-tokens.api.ts';
import { authorizationServerScopes } from '../features/scopes/scopes.api.ts';
import { userFactorEndpoints } from '../features/second-factors/user-factors.api.ts';
import { browserOf, type SessionLookup } from '../features/sessions/browser.api.ts';
import { sessions as browserSession } from '../features/sessions/sessions.api.ts';
import { settingsEndpoints } from '../features/settings/settings.api.ts';
import { authn } from '../features/sign-in/authn.api.ts';
import { TooManyFailures } from '../features/sign-in/failure-limits.service.ts';
import { registrationEndpoints } from '../features/sign-up/sign-up.api.ts';
import { signalStreamEndpoints } from '../features/signals/signal-streams.api.ts';
import { telephonyEndpoints } from '../features/telephony/telephony.api.ts';
import { textEndpoints } from '../features/texts/texts.api.ts';
import { trustedBrowserEndpoints } from '../features/trusted-browsers/trusted-browsers.api.ts';
import { userSchemaEndpoints } from '../features/user-schema/user-schema.api.ts';
import { countElsewhere } from '../features/users/names-elsewhere.service.ts';
import { userDataExport } from '../features/users/user-data.api.ts';
import { userLifecycle } from '../features/users/user-lifecycle.api.ts';
import { userEndpoints } from '../features/users/users.api.ts';
import { isUnavailable } from '../platform/database/database-failures.ts';
import type { Services } from '../platform/database/dependencies.ts';
import {
  ApiError,
  errorHelp,
  errorObject,
  internal,
  methodNotAllowed,
  notFound,
  problemDetails,
  rateLimited,
  unavailable,
} from '../platform/errors/errors.ts';
import type { Pages } from '../platform/http/views.ts';
import { asVisitor, authenticateCaller, authorizeCaller, networkOfCaller } from './authentication.ts';
import { readBody } from './body.ts';
import { type ApiDescription, DOCS_PATH, docsPage } from './docs.ts';
import { type Endpoint, handle } from './endpoint.ts';
import { bodyFieldsOf, describeApi, OPENAPI_PATH } from './openapi.ts';
import { rateLimit } from './rate-limit.ts';

const BASE = '/api/v1';
/** All endpoints of the API. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...organizationEndpoints,
  ...departmentEndpoints,
  ...memberEndpoints,
  ...organizationBrandingEndpoints,
  ...organizationInvitationEndpoints,
  ...organizationPolicyEndpoints,
  ...organizationSetupEndpoints,
  ...organizationRoleEndpoints,
  ...domainEndpoints,
  ...organizationProviderEndpoints,
  ...userEndpoints,
  ...userLifecycle,
  ...userRoleEndpoints,
  ...userGrants,
  ...userSchemaEndpoints,
  ...apps,
  ...applicationRoleEndpoints,
  ...provisioningEndpoints,
  ...groupEndpoints,
  ...assignedApps,
  ...authorizationServers,
  ...authorizationServerKeys,
  ...registrationTokens,
  ...authorizationServerScopes,
  ...authorizationDetailTypes,
  ...authorizationServerClaims,
  ...authorizationServerPolicies,
  ...authorizationServerPolicyRules,
  ...authorizationServerSimulation,
  ...userFactorEndpoints,
  ...trustedBrowserEndpoints,
  ...zoneEndpoints,
  ...idps,
  ...apiTokens,
  ...logs,
  ...userDataExport,
  ...eventHooks,
  ...eventHookDeliveries,
  ...inlineHooks,
  ...signalStreamEndpoints,
  ...settingsEndpoints,
  ...mailSettingsEndpoints,
  ...telephonyEndpoints,
  ...registrationEndpoints,
  ...textEndpoints,
  ...authn,
  ...browserSession,
];

/** Names of the fields of an operation's body. */
export const bodyFields = bodyFieldsOf(ENDPOINTS);

/** First segments of the API's paths. */
export const API_RESOURCES: ReadonlySet<string> = new Set([
  ...ENDPOINTS.map(({ path }) => path.split('/')[1] ?? ''),
  ...[OPENAPI_PATH, DOCS_PATH].map((path) => path.slice(1)),
]);

let described: string | undefined;
/** Built on first use: it takes longer than the rest of the start. The same for every installation. */
function description(): string {
  described ??= JSON.stringify(describeApi(ENDPOINTS));
  return described;
}

export interface ManagementApiOptions {
  /** Renders the readable description. */
  readonly pages: Pages;
  /** Browser sessions, for operations without a token. */
  readonly sessions: SessionLookup;
  /** Limit per token, or per address for calls without a token. */
  readonly callsPerMinute?: number;
}

/** @returns a middleware that answers everything under /api/v1 and passes other requests on */
export function managementApi(
  services: Services,
  { pages, sessions, callsPerMinute = CALLS_PER_MINUTE }: ManagementApiOptions,
): Middleware {
  // Full paths: a router with a prefix compiles each path's pattern twice.
  const router = new Router({ sensitive: true, strict: true });
  const limit = rateLimit(services, callsPerMinute);
  const countCaller: Middleware = async (ctx, next) => {
    await limit.count(ctx, ctx.state.caller.countedAs);
    await next();
  };
  for (const endpoint of ENDPOINTS) {
    const body = endpoint.body ? [readBody(endpoint)] : [];
    router.register(
      `${BASE}${endpoint.path}`,
      [endpoint.method],
      [
        endpoint.access === 'anyone' ? asVisitor(services) : authenticateCaller(services),
        countCaller,
        authorizeCaller(endpoint),
        ...body,
        handle(endpoint, services),
      ],
    );
  }
  router.register(`${BASE}${OPENAPI_PATH}`, ['GET'], (ctx) => {
    ctx.body = description();
    ctx.type = 'application/json';
  });
  let docs: ReturnType<typeof docsPage> | undefined;
  router.register(`${BASE}${DOCS_PATH}`, ['GET'], (ctx) => {
    docs ??= docsPage(JSON.parse(description()) as ApiDescription, `${services.config.baseUrl}${BASE}`);
    return pages.render(ctx, 'api-docs', { ...docs, wide: true, stylesheets: ['api-docs.css'] }, { fixed: true });
  });
  // The router adds to the context what its type requires.
  const routes = router.routes() as Middleware;

  return async (ctx, next) => {
    if (ctx.path !== BASE && !ctx.path.startsWith(`${BASE}/`)) return next();
    ctx.set('Cache-Control', 'no-store');
    ctx.state.browser = browserOf(ctx, sessions, services.config.baseUrl);
    try {
      await routes(ctx, async () => {
        throw unmatched(ctx, router);
      });
      await limit.count(ctx, networkOfCaller(ctx, services));
    } catch (error) {
      const reported = await limit
        .count(ctx, networkOfCaller(ctx, services))
        .then(() => countElsewhere(services, error))
        .then(
          () => error,
          (over: unknown) => over,
        );
      respondWithApiError(ctx, toApiError(reported, ctx, services));
    }
  };
}

/** The path has no endpoint, or none with that method. */
function unmatched(ctx: Context, router: Router): ApiError {
  const allowed = router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods);
  return allowed.length > 0 ? methodNotAllowed([...new Set(allowed)]) : notFound(ctx.path, 'Resource');
}

function toApiError(error: unknown, ctx: Context, { log }: Services): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof TooManyFailures) return rateLimited(error.retryAfter);
  log.error({ err: error, requestId: ctx.state.requestId }, 'a management API request failed');
  return isUnavailable(error) ? unavailable() : internal();
}

function respondWithApiError(ctx: Context, error: ApiError): void {
  const asProblem = ctx.accepts('application/json', 'application/problem+json') === 'application/problem+json';
  // RFC 8288: link to the explanation of the code. errorLink in the body is the code itself, because Okta's clients expect that.
  ctx.set({ Link: `<${errorHelp(error.errorCode)}>; rel="help"`, ...error.headers });
  ctx.status = error.status;
  ctx.body = asProblem ? problemDetails(error, ctx.state.requestId) : errorObject(error, ctx.state.requestId);
  ctx.type = asProblem ? 'application/problem+json' : 'application/json';
}
