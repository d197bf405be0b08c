/** Interface of the authorization servers to the rest of the service: users, audit log and the pages of the protocol. */
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import type { ApplicationUses } from './features/applications/application-uses.service.ts';
import { NOBODY } from './features/audit/audit-event.policy.ts';
import type { RefusedRequests } from './features/audit/refused-requests.service.ts';
import { confirmRequestPage } from './features/backchannel-requests/confirm-request.hosted.ts';
import { fullName } from './features/claims/claims.policy.ts';
import { ClientDocuments } from './features/client-documents/client-documents.service.ts';
import { storeDocumentClient } from './features/client-documents/stored-clients.service.ts';
import { confirmDevicePage, deviceConnectedPage, drawActivate } from './features/device-requests/activate.hosted.ts';
import { runTokenHook } from './features/inline-hooks/token-hook.service.ts';
import { ClientRegistration } from './features/registration/registration.service.ts';
import { isFactorRequiredByPolicy, needsSecondFactor } from './features/second-factors/second-factor-requirement.service.ts';
import { endOwnSession } from './features/sessions/user-sessions.service.ts';
import { errorPage } from './features/sign-in/error-page.hosted.ts';
import {
  countPendingSignIns,
  countSignInRequest,
  countUserCode,
  countWrongSecret,
  forgetUserCode,
  networkOf,
} from './features/sign-in/failure-limits.service.ts';
import { formPostPage } from './features/sign-in/form-post-page.hosted.ts';
import { logoutPage } from './features/sign-in/logout-page.hosted.ts';
import { authenticatePassword, noteSignIn } from './features/sign-in/sign-in.service.ts';
import { isTrustedBrowser } from './features/trusted-browsers/trusted-browsers.service.ts';
import { findUser } from './features/users/users.service.ts';
import type { Services } from './platform/database/dependencies.ts';
import { clientCertificates } from './platform/http/client-certificate.ts';
import { trustTokensOf } from './platform/http/cookies.ts';
import type { Outbound } from './platform/http/outbound.ts';
import { clientAddress, logRefusal, requestId } from './platform/http/requests.ts';
import type { Pages } from './platform/http/views.ts';
import { UnauthenticatedRequests } from './protocol/authorize/unauthenticated-requests.ts';
import { IssuerKeys } from './protocol/client-authentication/foreign-jwt.ts';
import { WrongSecrets } from './protocol/client-authentication/wrong-secrets.ts';
import { AuthorizationServers } from './protocol/servers/authorization-servers.ts';
import { ClientDirectory } from './protocol/storage/client-adapter.ts';

export interface ProtocolHost {
  readonly services: Services;
  readonly pages: Pages;
  readonly outbound: Outbound;
  readonly uses: ApplicationUses;
  readonly refusedRequests: RefusedRequests;
  /** The sender of a request, before authentication. */
  describe(req: IncomingMessage): { readonly ipAddress: string; readonly userAgent: string; readonly requestId: string };
  /** Loads the operator's texts before a page is rendered for a request. */
  prepareTexts(req: IncomingMessage): Promise<void>;
}

/** Creates the authorization servers, connected to users, the audit log and the pages of the protocol. */
export function createAuthorizationServers({
  services,
  pages,
  outbound,
  uses,
  refusedRequests,
  describe,
  prepareTexts,
}: ProtocolHost): AuthorizationServers {
  const { config, database, keyring, log } = services;
  const registration = new ClientRegistration(services);
  const documents = new ClientDocuments({ outbound, rateLimits: config.rateLimits });
  /** Renders a page of the protocol with the operator's texts. */
  const withTexts =
    <Facts>(draw: (of: Pages, ctx: Koa.Context, facts: Facts) => Promise<void>) =>
    async (ctx: Koa.Context, facts: Facts): Promise<void> => {
      await prepareTexts(ctx.req);
      await draw(pages, ctx, facts);
    };
  return new AuthorizationServers({
    config,
    keyring,
    database,
    log,
    outbound,
    issuerKeys: new IssuerKeys(outbound),
    describe,
    requestId,
    clients: new ClientDirectory(database, keyring, documents),
    authenticate: (credentials, req) => authenticatePassword(services, credentials, { actor: NOBODY, ...describe(req) }),
    noteSignIn: (user, applicationId, req) =>
      database.transaction((trx) =>
        noteSignIn(services, trx, user, { amr: ['pwd'], purpose: { applicationId } }, { actor: NOBODY, ...describe(req) }),
      ),
    runTokenHook: (facts, req) => runTokenHook(services, facts, describe(req)),
    needsSecondFactor: (user, applicationId, req) => needsSecondFactor(services, user, applicationId, { actor: NOBODY, ...describe(req) }),
    isFactorRequiredByPolicy: (userId, applicationId) => isFactorRequiredByPolicy(services, userId, { applicationId }),
    isTrustedBrowser: (ctx, userId, demandedBy) => isTrustedBrowser(services, userId, demandedBy, trustTokensOf(ctx, config)),
    refuse: (refusal, req) => refusedRequests.note(refusal, describe(req)),
    async reject(reason, rejected, req) {
      logRefusal(req, reason);
      if (rejected === undefined) return;
      try {
        await refusedRequests.reject({ ...rejected, ...reason }, describe(req));
      } catch (error) {
        // The record is optional: the response does not depend on it.
        log.warn({ err: error, requestId: requestId(req) }, 'could not record a refused request in the audit log');
      }
    },
    registration,
    async noteUse(server, { id, origin }, req) {
      if (origin === 'REGISTERED') return registration.noteUse(server, id);
      const { ipAddress } = describe(req);
      return storeDocumentClient(services, await documents.find(id, { network: networkOf(ipAddress) }), describe(req));
    },
    refuseDocument: (refused, req) => refusedRequests.refuseDocument(refused, describe(req)),
    async endSession({ uid, userId }, req) {
      const login = (await findUser(database, userId))?.login ?? userId;
      await endOwnSession(services, { uid, userId, login }, { actor: NOBODY, ...describe(req) });
    },
    uses,
    certificates: clientCertificates(config, log),
    unanswered: new UnauthenticatedRequests({
      rateLimits: config.rateLimits,
      countShared: (network, requests) => countPendingSignIns(services, network, requests),
    }),
    countSignInRequest: (clientId, hint) => countSignInRequest(services, clientId, hint),
    userCodes: {
      count: (req) => countUserCode(services, describe(req).ipAddress),
      forget: (req) => forgetUserCode(services, describe(req).ipAddress),
    },
    wrongSecrets: new WrongSecrets({
      addressOf: (req) => networkOf(clientAddress(req, config.trustProxy)),
      count: (clientId, address) => countWrongSecret(services, clientId, address),
    }),
    pages: {
      error: withTexts(errorPage),
      formPost: withTexts(formPostPage),
      activate: withTexts(drawActivate),
      confirmDevice: withTexts(confirmDevicePage),
      confirmRequest: withTexts(confirmRequestPage),
      deviceConnected: withTexts(deviceConnectedPage),
      async logout(ctx, { action, proof, applicationLabel, accountId, redirectOrigins, uiLocales }) {
        await prepareTexts(ctx.req);
        const user = await findUser(database, accountId);
        const account = user && { login: user.login, name: fullName(user.profile) ?? '' };
        const application = applicationLabel === undefined ? undefined : { label: applicationLabel };
        await logoutPage(pages, ctx, { action, csrfField: proof, account, application, redirectOrigins, uiLocales });
      },
    },
  });
}
