/** The service put together: every mount on one screen, in the order in which a request meets them. */
import './protocol/library/library-warnings.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import Koa from 'koa';
import { API_RESOURCES, managementApi } from './api/index.ts';
import { mayCall } from './features/administrators/administration.policy.ts';
import { authenticateApiToken } from './features/api-tokens/api-tokens.service.ts';
import { ApplicationUses, writeUses } from './features/applications/application-uses.service.ts';
import { systemClient } from './features/applications/system-applications.service.ts';
import { EVENT_HOOK } from './features/audit/audit.store.ts';
import { NOBODY } from './features/audit/audit-event.policy.ts';
import { RefusedRequests } from './features/audit/refused-requests.service.ts';
import { listAuthorizationServers } from './features/authorization-servers/authorization-servers.service.ts';
import { BUILT_IN, issuerOf } from './features/authorization-servers/server-id.policy.ts';
import { BULK_JOB } from './features/bulk/bulk-jobs.service.ts';
import { bulkJobs } from './features/bulk/bulk-runner.service.ts';
import { fullName } from './features/claims/claims.policy.ts';
import { ClientDocuments } from './features/client-documents/client-documents.service.ts';
import { noteIntroduction } from './features/client-documents/introductions.service.ts';
import { confirmDevicePage, deviceConnectedPage, drawActivate } from './features/device-requests/activate.hosted.ts';
import { eventHookDelivery } from './features/event-hooks/event-hook-delivery.service.ts';
import type { UpstreamCall } from './features/identity-providers/upstream-metadata.service.ts';
import { MAIL } from './features/mail/mail.service.ts';
import { createMailer, mailDelivery, warnOfSilentServer } from './features/mail/mail-delivery.service.ts';
import { sendOutbox } from './features/outbox/outbox.service.ts';
import { RESET_REQUEST, resetRequests } from './features/passwords/forgotten-password.service.ts';
import { ClientRegistration } from './features/registration/registration.service.ts';
import { needsSecondFactor } from './features/second-factors/second-factor-demand.service.ts';
import { endOwnSession } from './features/sessions/user-sessions.service.ts';
import { presentBrand, writeBrandStylesheet } from './features/settings/brand-stylesheet.service.ts';
import { currentSettings, currentTexts } from './features/settings/settings-cache.service.ts';
import { errorPage } from './features/sign-in/error-page.hosted.ts';
import { countWrongSecret, countWrongUserCode, networkOf, userCodesBarred } from './features/sign-in/failure-limits.service.ts';
import { explainFailures, unknownPage } from './features/sign-in/failures.hosted.ts';
import { formPostPage } from './features/sign-in/form-post-page.hosted.ts';
import { InteractionGone } from './features/sign-in/interactions.hosted.ts';
import { logoutPage } from './features/sign-in/logout-page.hosted.ts';
import { hostedPages } from './features/sign-in/routes.hosted.ts';
import { authenticatePassword, noteSignIn } from './features/sign-in/sign-in.service.ts';
import { findUser } from './features/users/users.service.ts';
import { accountPages } from './pages/account/routes.ts';
import { adminConsole } from './pages/console/console.ts';
import { createHostedDeps } from './pages/hosted/deps.ts';
import { isUnavailable } from './platform/database/database-failures.ts';
import type { Services } from './platform/database/dependencies.ts';
import { clientCertificates } from './platform/http/client-certificate.ts';
import { documentation } from './platform/http/documentation.ts';
import { health } from './platform/http/health.ts';
import { createOutbound } from './platform/http/outbound.ts';
import { clientAddress, logRefusal, observeRequests, requestId } from './platform/http/requests.ts';
import { securityHeaders } from './platform/http/security-headers.ts';
import { generatedStylesheets, publicFiles } from './platform/http/static.ts';
import { createPages, type Pages } from './platform/http/views.ts';
import { useChangedTexts } from './platform/i18n/page-language.ts';
import { playground } from './playground/playground.ts';
import { isPresent } from './playground/session.ts';
import { createBrowserSessions } from './protocol/authorize/browser-sessions.ts';
import { createInteractions } from './protocol/authorize/interactions.ts';
import { UnansweredRequests } from './protocol/authorize/unauthenticated-requests.ts';
import { WrongSecrets } from './protocol/client-authentication/wrong-secrets.ts';
import { findDeviceRequest } from './protocol/device/device-flow.ts';
import { backchannelLogout } from './protocol/logout/backchannel-logout.ts';
import { findWayBack } from './protocol/logout/client-link.ts';
import { AuthorizationServers, destinationOf } from './protocol/servers/authorization-servers.ts';
import { isVisited } from './protocol/servers/endpoints.ts';
import { sendJson } from './protocol/servers/json-response.ts';
import { ClientDirectory } from './protocol/storage/client-adapter.ts';
import { BACKCHANNEL_LOGOUT } from './protocol/storage/protocol-state.store.ts';

/** Milliseconds that mails under way are given when the process is to end. */
const DRAIN_MAIL = 5000;

export interface App {
  readonly listener: RequestListener;
  /** Begins to deliver what the outbox holds, beside the requests. */
  sendOutbox(): { stop(): Promise<void> };
  /** Begins to write when applications and secrets were last used. */
  writeUses(): { stop(): Promise<void> };
  /** From now on `/health/ready` tells load balancers to go elsewhere. */
  stopAccepting(): void;
}

const UNAVAILABLE = {
  error: 'temporarily_unavailable',
  error_description: 'the service is temporarily unavailable, try again in a moment',
};

export function createApp(services: Services): App {
  const { config, database, keyring, log, notifications } = services;
  const pages = createPages({ config, brand: async () => presentBrand(await currentSettings(services, 'branding')) });
  const observer = observeRequests(log, config, API_RESOURCES);
  let accepting = true;

  const outbound = createOutbound(config);
  /** What is known of the one who makes a request, before he has proved anything. */
  const describe = (req: IncomingMessage) => ({
    ipAddress: clientAddress(req, config.trustProxy),
    userAgent: req.headers['user-agent'] ?? '',
    requestId: requestId(req),
  });
  /** Pages that are drawn for a request have the operator's words. */
  const prepareTexts = async (req: IncomingMessage): Promise<void> => useChangedTexts(req, await currentTexts(services));
  const registration = new ClientRegistration(services);
  const documents = new ClientDocuments({ outbound, rateLimits: config.rateLimits });
  const refusedRequests = new RefusedRequests(services);
  const uses = new ApplicationUses();
  /** A page of the protocol, in the operator's texts. */
  const withTexts =
    <Facts>(draw: (of: Pages, ctx: Koa.Context, facts: Facts) => Promise<void>) =>
    async (ctx: Koa.Context, facts: Facts): Promise<void> => {
      await prepareTexts(ctx.req);
      await draw(pages, ctx, facts);
    };
  const servers = new AuthorizationServers({
    config,
    keyring,
    database,
    log,
    outbound,
    describe,
    requestId,
    clients: new ClientDirectory(database, keyring, documents),
    authenticate: (credentials, req) => authenticatePassword(services, credentials, { actor: NOBODY, ...describe(req) }),
    noteSignIn: (user, applicationId, req) =>
      database.transaction((trx) =>
        noteSignIn(trx, user, { amr: ['pwd'], purpose: { applicationId } }, { actor: NOBODY, ...describe(req) }),
      ),
    needsSecondFactor: (userId, applicationId) => needsSecondFactor(services, userId, applicationId),
    refuse: (refusal, req) => refusedRequests.note(refusal, describe(req)),
    async reject(reason, rejected, req) {
      logRefusal(req, reason);
      if (rejected === undefined) return;
      try {
        await refusedRequests.reject({ ...rejected, ...reason }, describe(req));
      } catch (error) {
        // The answer is right without it.
        log.warn({ err: error, requestId: requestId(req) }, 'a refused request could not be noted in the audit log');
      }
    },
    registration,
    async noteUse(server, { id, origin }, req) {
      if (origin === 'REGISTERED') return registration.noteUse(server, id);
      const { ipAddress } = describe(req);
      return noteIntroduction(services, await documents.find(id, { network: networkOf(ipAddress) }), describe(req));
    },
    refuseDocument: (refused, req) => refusedRequests.refuseDocument(refused, describe(req)),
    async endSession({ uid, userId }, req) {
      const login = (await findUser(database, userId))?.login ?? userId;
      await endOwnSession(services, { uid, userId, login }, { actor: NOBODY, ...describe(req) });
    },
    uses,
    certificates: clientCertificates(config, log),
    unanswered: new UnansweredRequests(config),
    userCodes: {
      barred: (req) => userCodesBarred(services, describe(req).ipAddress),
      count: (req) => countWrongUserCode(services, describe(req).ipAddress),
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
  notifications.subscribe((change) => servers.changed(change));

  const interactions = createInteractions({ servers, services, gone: (reason) => new InteractionGone(reason), describe });
  const sessions = createBrowserSessions({ servers, database, config, keyring });

  const koa = new Koa({ proxy: config.trustProxy > 0, maxIpsCount: config.trustProxy });
  // Behind a proxy that ends TLS, too: cookies that pages set by themselves are Secure.
  if (config.secure) Object.defineProperty(koa.request, 'protocol', { get: () => 'https' });
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // Anybody can send a request that Node's parser refuses: that is no failure of ours, and worth one short line.
    if (error.code?.startsWith('HPE_')) log.info({ code: error.code }, 'a request was not valid HTTP');
    else log.error({ err: error }, 'an answer could not be sent');
  });
  koa.use((ctx, next) => {
    ctx.state.requestId = requestId(ctx.req);
    return next();
  });
  koa.use(
    health({
      registry: observer.registry,
      ping: () => database.ping(),
      accepting: () => accepting,
      mayReadMetrics: async (authorization) => {
        const token = /^SSWS (\S+)$/i.exec(authorization)?.[1];
        const bearer = token === undefined ? undefined : await authenticateApiToken(services, token);
        return bearer !== undefined && mayCall(bearer.roles, 'service', 'read');
      },
    }),
  );
  koa.use(securityHeaders(config));
  koa.use(publicFiles);
  koa.use(documentation());
  koa.use(generatedStylesheets(writeBrandStylesheet));
  koa.use(managementApi(services, { pages, sessions }));
  koa.use(async (ctx, next) => {
    await prepareTexts(ctx.req);
    await next();
  });
  koa.use(explainFailures({ pages, log, wayBack: (serverId, applicationId) => findWayBack(servers, serverId, applicationId) }));
  // An authorization server that cannot be reached fails before any of its pages: whoever visits it gets this service's own.
  const failures = new WeakMap<IncomingMessage, unknown>();
  koa.use((ctx, next) => {
    if (failures.has(ctx.req)) throw failures.get(ctx.req);
    return next();
  });
  koa.use(
    playground({
      config,
      keyring,
      pages,
      log,
      client: () => systemClient(services, 'playground'),
      async servers() {
        const active = (await listAuthorizationServers(services)).filter(({ status }) => status === 'ACTIVE');
        return active.map(({ id, name }) => ({ id, name, issuer: issuerOf(config.baseUrl, id) }));
      },
    }),
  );
  koa.use(
    adminConsole({
      config,
      services,
      pages,
      log,
      sessions,
      client: () => systemClient(services, 'console'),
      playgroundPresent: (req) => isPresent(config, req.headers),
    }),
  );
  const deps = createHostedDeps({ services, sessions, pages, config, outbound: outbound as unknown as UpstreamCall });
  koa.use(hostedPages({ ...deps, interactions, findDeviceRequest: (userCode) => findDeviceRequest(database, userCode) }));
  koa.use(
    accountPages({
      ...deps,
      playgroundPresent: (req) => isPresent(config, req.headers),
      wayBack: (applicationId) => findWayBack(servers, BUILT_IN, applicationId),
    }),
  );
  koa.use(unknownPage(pages));
  const everythingElse = koa.callback();

  /** The OAuth endpoints are answered without a detour; what no endpoint answers gets the pages. */
  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    observer.begin(req, res);
    const destination = destinationOf((req.url ?? '/').split('?', 1)[0] ?? '/');
    if (destination.kind === 'endpoint') {
      try {
        if (await servers.answer(req, res, destination)) return;
      } catch (error) {
        if (!isVisited(destination.path)) throw error;
        failures.set(req, error);
      }
    }
    await everythingElse(req, res);
  }

  return {
    listener(req, res) {
      route(req, res).catch((error: unknown) => {
        log.error({ err: error, requestId: requestId(req) }, 'a request failed');
        const isAway = isUnavailable(error);
        if (res.headersSent) res.end();
        else if (isAway) sendJson(res, 503, UNAVAILABLE, { 'Retry-After': '5' });
        else sendJson(res, 500, { error: 'server_error' });
      });
    },
    sendOutbox() {
      const mailer = createMailer(services);
      const carriers = {
        [BACKCHANNEL_LOGOUT]: backchannelLogout(servers, outbound),
        [EVENT_HOOK]: eventHookDelivery(services, outbound),
        [RESET_REQUEST]: resetRequests(services),
        [MAIL]: mailDelivery(services, mailer),
        [BULK_JOB]: bulkJobs(services),
      };
      const sender = sendOutbox({ database, log, carriers, count: observer.countDelivery });
      void warnOfSilentServer(services, mailer);
      return {
        async stop() {
          // A mail server that hangs must not keep the process: what is cut off is sent by another one.
          const late = setTimeout(() => mailer.close(), DRAIN_MAIL);
          await sender.stop();
          clearTimeout(late);
          mailer.close();
        },
      };
    },
    writeUses: () => writeUses(uses, database, log),
    stopAccepting() {
      accepting = false;
    },
  };
}
