/** The assembled service: every mount on one screen, in the order in which a request meets them. */
import './protocol/library/library-warnings.ts';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import Koa from 'koa';
import type { Registry } from 'prom-client';
import { API_RESOURCES, bodyFields, managementApi } from './api/index.ts';
import { mayCall } from './features/administrators/administration.policy.ts';
import { authenticateApiToken } from './features/api-tokens/api-tokens.service.ts';
import { ApplicationUses, writeUses } from './features/applications/application-uses.service.ts';
import { systemClient } from './features/applications/system-applications.service.ts';
import { EVENT_HOOK } from './features/audit/audit.store.ts';
import { RefusedRequests, writeFurtherRefusals } from './features/audit/refused-requests.service.ts';
import { listAuthorizationServers } from './features/authorization-servers/authorization-servers.service.ts';
import { BUILT_IN, issuerOf } from './features/authorization-servers/server-id.policy.ts';
import { BACKCHANNEL_PING } from './features/backchannel-requests/ping.policy.ts';
import { SIGN_IN_REQUEST, signInRequestMails } from './features/backchannel-requests/request-mails.service.ts';
import { BULK_JOB } from './features/bulk/bulk-jobs.service.ts';
import { bulkJobs } from './features/bulk/bulk-runner.service.ts';
import { EMAIL_CODE, emailCodes } from './features/email-codes/email-codes.service.ts';
import { mailSignInCode } from './features/email-codes/email-sign-in.service.ts';
import { eventHookDelivery } from './features/event-hooks/event-hook-delivery.service.ts';
import type { UpstreamCall } from './features/identity-providers/upstream-metadata.service.ts';
import { MAIL } from './features/mail/mail.service.ts';
import { createMailer, mailDelivery, warnOfSilentServer } from './features/mail/mail-delivery.service.ts';
import { brandedFor } from './features/organization-branding/organization-branding.resource.ts';
import { sendOutbox } from './features/outbox/outbox.service.ts';
import { countBreachLookups } from './features/passwords/breached-passwords.service.ts';
import { RESET_REQUEST, resetRequests } from './features/passwords/forgotten-password.service.ts';
import { provisioningDelivery } from './features/provisioning/provisioning-delivery.service.ts';
import { PROVISIONING } from './features/provisioning/provisioning-queue.store.ts';
import { scimServer } from './features/scim/scim.api.ts';
import { presentBrand, writeBrandStylesheet } from './features/settings/brand-stylesheet.service.ts';
import { currentSettings, currentTexts } from './features/settings/settings-cache.service.ts';
import { explainFailures, unknownPage } from './features/sign-in/failures.hosted.ts';
import { InteractionEnded } from './features/sign-in/interactions.hosted.ts';
import { hostedPages } from './features/sign-in/routes.hosted.ts';
import { mailSignUp } from './features/sign-up/sign-up.service.ts';
import { signalDelivery } from './features/signals/signal-delivery.service.ts';
import { SIGNAL } from './features/signals/signal-sets.store.ts';
import { signalTransmitter } from './features/signals/transmitter.api.ts';
import { accountPages } from './pages/account/routes.ts';
import { adminConsole } from './pages/console/console.ts';
import { createHostedDeps } from './pages/hosted/deps.ts';
import { isUnavailable } from './platform/database/database-failures.ts';
import type { Services } from './platform/database/dependencies.ts';
import { replicaLag, replicaReads } from './platform/database/read-replica.ts';
import { documentation } from './platform/http/documentation.ts';
import { health } from './platform/http/health.ts';
import { createOutbound } from './platform/http/outbound.ts';
import { clientAddress, observeRequests, requestId } from './platform/http/requests.ts';
import { securityHeaders } from './platform/http/security-headers.ts';
import { generatedStylesheets, publicFiles } from './platform/http/static.ts';
import { createPages } from './platform/http/views.ts';
import { useChangedTexts } from './platform/i18n/page-language.ts';
import { playground } from './playground/playground.ts';
import { isPresent } from './playground/session.ts';
import { createBrowserSessions } from './protocol/authorize/browser-sessions.ts';
import { createInteractions } from './protocol/authorize/interactions.ts';
import { backchannelPings } from './protocol/ciba/ping.ts';
import { findDeviceRequest } from './protocol/device/device-flow.ts';
import { backchannelLogout } from './protocol/logout/backchannel-logout.ts';
import { findClientLink } from './protocol/logout/client-link.ts';
import { destinationOf, refuseSlash } from './protocol/servers/authorization-servers.ts';
import { isVisited } from './protocol/servers/endpoints.ts';
import { sendJson } from './protocol/servers/responses.ts';
import { signalReceivers, signalSubjects, signSecurityEvents } from './protocol/signals/signal-receivers.ts';
import { BACKCHANNEL_LOGOUT } from './protocol/storage/protocol-state.store.ts';
import { createAuthorizationServers } from './protocol-host.ts';

/** Milliseconds that pending e-mails get at shutdown. */
const DRAIN_MAIL = 5000;

export interface App {
  readonly listener: RequestListener;
  /** Metrics of this process. */
  readonly registry: Registry;
  /** Starts the delivery of the outbox in the background. */
  sendOutbox(): { stop(): Promise<void> };
  /** Starts the recording of what requests only count: when applications and secrets were last used, and refusals beyond the limit. */
  writeCounted(): { stop(): Promise<void> };
  /** Makes `/health/ready` fail, so that load balancers use other processes. */
  stopAccepting(): void;
}

const UNAVAILABLE = {
  error: 'temporarily_unavailable',
  error_description: 'the service is temporarily unavailable. Try again in a moment',
};

export function createApp(services: Services): App {
  const { config, database, keyring, log, notifications } = services;
  const pages = createPages({
    config,
    brand: async ({ organizationDesign }) => presentBrand(brandedFor(await currentSettings(services, 'branding'), organizationDesign)),
  });
  const observer = observeRequests(log, config, API_RESOURCES);
  countBreachLookups(services, observer.countBreachLookup);
  if (database.replica !== undefined) for (const metric of [replicaReads, replicaLag]) observer.registry.registerMetric(metric);
  let accepting = true;

  const outbound = createOutbound(config);
  /** The sender of a request, before authentication. */
  const describe = (req: IncomingMessage) => ({
    ipAddress: clientAddress(req, config.trustProxy),
    userAgent: req.headers['user-agent'] ?? '',
    requestId: requestId(req),
  });
  /** Loads the operator's texts before a page is rendered for a request. */
  const prepareTexts = async (req: IncomingMessage): Promise<void> => useChangedTexts(req, await currentTexts(services));
  const uses = new ApplicationUses();
  const refusedRequests = new RefusedRequests(services);
  const servers = createAuthorizationServers({ services, pages, outbound, uses, refusedRequests, describe, prepareTexts });
  notifications.subscribe((change) => servers.changed(change));

  const interactions = createInteractions({ servers, services, gone: (reason) => new InteractionEnded(reason), describe });
  const sessions = createBrowserSessions({ servers, database, config, keyring });

  const koa = new Koa({ proxy: config.trustProxy > 0, maxIpsCount: config.trustProxy });
  // Also behind a proxy that terminates TLS: cookies that pages set must be Secure.
  if (config.secure) Object.defineProperty(koa.request, 'protocol', { get: () => 'https' });
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // Anyone can send a request that Node's parser rejects. It is not a failure of the service and gets one short line.
    if (error.code?.startsWith('HPE_')) log.info({ code: error.code }, 'a request was not valid HTTP');
    else log.error({ err: error }, 'could not send a response');
  });
  koa.use((ctx, next) => {
    ctx.state.requestId = requestId(ctx.req);
    return next();
  });
  koa.use(
    health({
      registry: observer.registry,
      hasExemplars: config.telemetry?.traces !== undefined,
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
  koa.use(scimServer(services));
  const sign = signSecurityEvents(servers);
  koa.use(
    signalTransmitter(services, {
      sign,
      findReceiver: signalReceivers(servers),
      findUser: signalSubjects(servers),
      isEnding: () => !accepting,
    }),
  );
  koa.use(async (ctx, next) => {
    await prepareTexts(ctx.req);
    await next();
  });
  koa.use(explainFailures({ pages, log, wayBack: (serverId, applicationId) => findClientLink(servers, serverId, applicationId) }));
  // An authorization server that is unavailable fails before any of its pages. The browser gets a page of this service.
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
      apiFields: bodyFields,
    }),
  );
  const deps = createHostedDeps({ services, sessions, pages, config, outbound: outbound as unknown as UpstreamCall });
  koa.use(hostedPages({ ...deps, interactions, findDeviceRequest: (userCode) => findDeviceRequest(services, userCode) }));
  koa.use(
    accountPages({
      ...deps,
      playgroundPresent: (req) => isPresent(config, req.headers),
      wayBack: (applicationId) => findClientLink(servers, BUILT_IN, applicationId),
    }),
  );
  koa.use(unknownPage(pages));
  const everythingElse = koa.callback();

  /** OAuth endpoints come first. Requests that no endpoint answers get the pages. */
  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const path = (req.url ?? '/').split('?', 1)[0] ?? '/';
    const destination = destinationOf(path);
    if (refuseSlash(res, path)) return;
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
    registry: observer.registry,
    listener(req, res) {
      const refuse = (error: unknown): void => {
        log.error({ err: error, requestId: requestId(req) }, 'a request failed');
        const isAway = isUnavailable(error);
        if (res.headersSent) res.end();
        else if (isAway) sendJson(res, 503, UNAVAILABLE, { 'Retry-After': '5' });
        else sendJson(res, 500, { error: 'server_error' });
      };
      void observer.observe(req, res, () => route(req, res).catch(refuse));
    },
    sendOutbox() {
      const mailer = createMailer(services);
      const carriers = {
        [BACKCHANNEL_LOGOUT]: backchannelLogout(servers, outbound),
        [EVENT_HOOK]: eventHookDelivery(services, outbound),
        [RESET_REQUEST]: resetRequests(services),
        [EMAIL_CODE]: emailCodes(services, { SIGN_IN: mailSignInCode, SIGN_UP: mailSignUp }),
        [MAIL]: mailDelivery(services, mailer),
        [SIGN_IN_REQUEST]: signInRequestMails(services),
        [BACKCHANNEL_PING]: backchannelPings(services, outbound),
        [BULK_JOB]: bulkJobs(services),
        [PROVISIONING]: provisioningDelivery(services, outbound),
        [SIGNAL]: signalDelivery(services, outbound, sign),
      };
      const sender = sendOutbox({ database, log, carriers, count: observer.countDelivery });
      void warnOfSilentServer(services, mailer);
      return {
        async stop() {
          // A mail server that hangs must not delay the shutdown. Another process sends the remaining e-mails.
          const late = setTimeout(() => mailer.close(), DRAIN_MAIL);
          await sender.stop();
          clearTimeout(late);
          mailer.close();
        },
      };
    },
    writeCounted() {
      const writers = [writeUses(uses, database, log), writeFurtherRefusals(refusedRequests, log)];
      return {
        async stop() {
          for (const writer of writers) await writer.stop();
        },
      };
    },
    stopAccepting() {
      accepting = false;
    },
  };
}
