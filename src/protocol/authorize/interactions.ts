/**
 * A pending authorization request: presented to the hosted pages, and finished with the user's actions there. The pages do not depend on
 * oidc-provider. An interaction belongs to the browser with its cookie (OpenID Connect Core sections 3.1.2.3, 3.1.2.4).
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { audiencesOf, decideAudiences } from '../../features/authorization-servers/audience.policy.ts';
import { fullName, USERINFO_SCOPES } from '../../features/claims/claims.policy.ts';
import { hostOf } from '../../features/client-documents/client-id.policy.ts';
import type { ScopeDecision } from '../../features/consents/consent.policy.ts';
import { recordDenial, rememberConsent } from '../../features/consents/consents.service.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { InteractionEnd, InteractionResult } from '../../features/sign-in/interactions.resource.ts';
import type { User } from '../../features/users/users.resource.ts';
import { findUser } from '../../features/users/users.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { isLoopbackHost } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { type Client, errors } from '../library/oidc-provider.ts';
import { applicationOrigins } from '../servers/application-origins.ts';
import type { AuthorizationServers } from '../servers/authorization-servers.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { BuiltServer } from '../servers/provider.ts';
import { answeringDeviceId, providerOf } from '../servers/session-device.ts';
import { InteractionOver } from '../storage/model-adapter.ts';
import { requestedAudiences } from '../token/audience.ts';
import { requestedAcr, SECOND_FACTOR_NEEDED } from './acr.ts';
import { NOT_A_MEMBER, ORGANIZATION } from './organization.ts';
import { CREATE } from './prompts.ts';

type Interaction = Awaited<ReturnType<BuiltServer['provider']['interactionDetails']>>;

export interface InteractionParts {
  readonly servers: AuthorizationServers;
  readonly services: Services;
  /** Creates the error that the hosted pages understand. */
  gone(reason: InteractionEnd): Error;
  /** The sender of the request, for the audit log. */
  describe(req: IncomingMessage): { readonly ipAddress?: string; readonly userAgent?: string; readonly requestId?: string };
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

export function createInteractions({ servers, services, gone, describe }: InteractionParts) {
  /**
   * Interactions of current requests without a session. The response does not look them up again, because that fails if the interaction has ended.
   */
  const looked = new WeakMap<IncomingMessage, readonly [BuiltServer, Interaction]>();

  /** @throws gone, if this browser must not continue the interaction */
  async function find(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string): Promise<[BuiltServer, Interaction]> {
    const built = await servers.get(serverId);
    if (built === undefined) throw gone('expired');
    const { provider } = built;
    try {
      const interaction = await provider.interactionDetails(req, res);
      if (interaction.uid !== uid) throw gone('other-browser');
      if (!(await isOfThisSession(provider, interaction, req, res))) throw gone('session-changed');
      return [built, interaction];
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      if ((await provider.Interaction.find(uid)) === undefined) throw gone('expired');
      const cookie = provider.createContext(req, res).cookies.get(provider.cookieName('interaction'), { signed: true });
      throw gone(cookie === uid ? 'session-changed' : 'other-browser');
    }
  }

  /**
   * The library checks only that the interaction's session still exists. A browser that has only the interaction cookie must not consent
   * for the session's user.
   */
  async function isOfThisSession(
    provider: BuiltServer['provider'],
    { session }: Interaction,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<boolean> {
    return session?.uid === undefined || session.uid === (await provider.Session.get(provider.createContext(req, res) as never)).uid;
  }

  async function details(req: IncomingMessage, res: ServerResponse, serverId: string, uid: string) {
    const [built, interaction] = await find(req, res, serverId, uid);
    const { params, prompt, session } = interaction;
    const client = await built.provider.Client.find(String(params.client_id));
    if (client === undefined) throw gone('expired');
    if (session === undefined) looked.set(req, [built, interaction]);
    const user = session?.accountId === undefined ? undefined : await findUser(services.database, session.accountId);
    const requestedScopes = prompt.name === 'consent' ? ((prompt.details.scopes ?? []) as string[]) : [];
    const requested = new Set(spaceSeparated(params.scope));
    const unchecked = whereFrom(client, text(params.redirect_uri));
    return {
      uid,
      serverId,
      prompt: promptOf(prompt.name),
      ...(prompt.name === ORGANIZATION && {
        organization: { isRefused: prompt.reasons.includes(NOT_A_MEMBER), ...present({ wanted: text(params.organization) }) },
      }),
      ...present({
        signsInFor: text(params.organization) ?? text(interaction.lastSubmission?.organization) ?? text(prompt.details.organization),
      }),
      application: {
        id: client.clientId,
        label: clientSettings(client).label,
        ...present({ clientUri: client.clientUri, logoUri: client.logoUri, policyUri: client.policyUri, tosUri: client.tosUri }),
        ...present({ brandColor: clientSettings(client).brandColor }),
      },
      applicationRequires: clientSettings(client).mfaRequired,
      ...(prompt.details.demandedBy === 'ORGANIZATION' && { organizationRequires: true }),
      registration: clientSettings(client).registration,
      creates: prompt.name === CREATE,
      ...(unchecked !== undefined && { unchecked }),
      ...(user === undefined ? {} : { account: { id: user.id, login: user.login, name: fullName(user.profile) ?? '' } }),
      ...present({ loginHint: text(params.login_hint), display: text(params.display), uiLocales: text(params.ui_locales) }),
      acrValues: requestedAcr(params),
      upstream: providerPreferences(params, clientSettings(client).identityProviders),
      ...(await stepUp(built, interaction, user)),
      ...(prompt.name === 'consent'
        ? {
            consent: {
              scopes: requestedScopes.flatMap((name) => built.scopes.find((scope) => scope.name === name) ?? []),
              details: detailsOf(interaction).map((detail) => ({
                detail,
                type: built.detailTypes.find(({ name }) => name === detail.type),
              })),
              resources: resourcesOf(built, params),
              wholeProfile: USERINFO_SCOPES.some((scope) => requested.has(scope)),
              staysConnected:
                requested.has('offline_access') && !requestedScopes.includes('offline_access') && client.grantTypeAllowed('refresh_token'),
            },
          }
        : {}),
      redirectOrigins: applicationOrigins(client, text(params.redirect_uri)),
    };
  }

  /** Does the signed-in user need only a second factor? The session keeps the time of their sign-in. */
  async function stepUp({ provider }: BuiltServer, { prompt, session }: Interaction, user: User | undefined) {
    const onlyFactor = prompt.reasons.length > 0 && prompt.reasons.every((reason) => reason === SECOND_FACTOR_NEEDED);
    if (!onlyFactor || user === undefined || session?.uid === undefined) return {};
    const stored = await provider.Session.findByUid(session.uid);
    if (stored?.accountId !== user.id || stored.loginTs === undefined) return {};
    const authenticatedAt = new Date(stored.loginTs * 1000);
    return { stepUp: { user: { id: user.id, login: user.login }, amr: stored.amr ?? [], authenticatedAt, idp: providerOf(stored) } };
  }

  async function finish(
    req: IncomingMessage,
    res: ServerResponse,
    serverId: string,
    uid: string,
    result: InteractionResult,
  ): Promise<string> {
    const [built, interaction] = looked.get(req) ?? (await find(req, res, serverId, uid));
    if ('consent' in result) await remember(req, built, interaction, result.consent.scopes);
    if ('error' in result && interaction.prompt.name === 'consent') await noteDenial(req, built, interaction);
    if ('login' in result) await partFromOtherAccount(req, res, built, interaction, result.login.accountId);
    const deviceId = answeringDeviceId(built.provider.createContext(req, res), services.config);
    interaction.result =
      'error' in result
        ? result
        : {
            ...interaction.lastSubmission,
            switchAccount: undefined,
            ...keptOrganization(interaction, result),
            ...stored(result, deviceId),
            ...answersCreate(interaction, result),
          };
    try {
      await interaction.save(Math.max(1, interaction.exp - epochSeconds()));
    } catch (error) {
      throw error instanceof InteractionOver ? gone('expired') : error;
    }
    return interaction.returnTo;
  }

  async function remember(req: IncomingMessage, built: BuiltServer, interaction: Interaction, scopes: readonly string[]): Promise<void> {
    const { key, request, decisions } = await consentOf(req, built, interaction);
    const requestedScopes = (interaction.prompt.details.scopes ?? []) as string[];
    const allowed = requestedScopes.filter((scope) => scopes.includes(scope));
    await rememberConsent(services, key, { requested: requestedScopes, allowed, details: detailsOf(interaction), decisions }, request);
  }

  async function noteDenial(req: IncomingMessage, built: BuiltServer, interaction: Interaction): Promise<void> {
    const { key, request, decisions } = await consentOf(req, built, interaction);
    await recordDenial(services, key, decisions, request);
  }

  /** Consent data: user, targets and reason for asking. */
  async function consentOf(req: IncomingMessage, built: BuiltServer, { session, params, prompt }: Interaction) {
    const userId = session?.accountId;
    if (userId === undefined) throw gone('session-changed');
    const user = await findUser(services.database, userId);
    const request = { actor: { id: userId, type: 'User' as const, displayName: user?.login ?? userId }, ...describe(req) };
    const key = { userId, applicationId: String(params.client_id), serverId: built.server.id };
    return { key, request, decisions: (prompt.details.decisions ?? []) as ScopeDecision[] };
  }

  /**
   * Another user signs in on this browser: the previous session ends like by a logout, and the request continues without it. Uses the
   * browser's current session, because a sign-in in a second tab can be newer than the interaction.
   */
  async function partFromOtherAccount(
    req: IncomingMessage,
    res: ServerResponse,
    { provider }: BuiltServer,
    interaction: Interaction,
    accountId: string,
  ): Promise<void> {
    const session = await provider.Session.get(provider.createContext(req, res) as never);
    if (session.accountId === undefined || session.accountId === accountId) return;
    await servers.parts.endSession({ uid: session.uid, userId: session.accountId }, req);
    delete interaction.session;
  }

  async function waiting(serverId: string, uid: string) {
    const { provider } = (await servers.get(serverId)) ?? {};
    const interaction = await provider?.Interaction.find(uid);
    const client =
      interaction !== undefined && promptOf(interaction.prompt.name) === 'login'
        ? await provider?.Client.find(String(interaction.params.client_id))
        : undefined;
    if (interaction === undefined || client === undefined) return undefined;
    return { applicationId: client.clientId, redirectOrigins: applicationOrigins(client, text(interaction.params.redirect_uri)) };
  }

  return { waiting, details, finish };
}

/** The authorization details in the consent dialog. The user allows all of them or denies the request. */
const detailsOf = ({ prompt }: Interaction): readonly AuthorizationDetail[] => (prompt.details.details ?? []) as AuthorizationDetail[];

/** The protected APIs (web addresses) that the tokens are for. */
function resourcesOf({ server }: BuiltServer, params: Interaction['params']): readonly string[] {
  const decision = decideAudiences({ offered: audiencesOf(server), requested: requestedAudiences(params), granted: undefined });
  const [first = server.audience, ...further] = decision.audiences ?? [];
  return [first, ...further].filter((audience) => /^https?:/.test(audience));
}

interface WhereFrom {
  readonly from: 'host' | 'this-device' | 'other-device';
  readonly host: string;
}

/** Where a client comes from: the host of its metadata document, or the hosts of the redirect URIs of a client that registered itself. */
function whereFrom(client: Client, redirectUri: string | undefined): WhereFrom | undefined {
  const { origin } = clientSettings(client);
  if (origin === 'ADMIN') return undefined;
  if (origin === 'INTRODUCED') return { from: 'host', host: hostOf(client.clientId) };
  // Device requests have no redirect URI.
  const [uri = redirectUri] = redirectUri === undefined ? (client.redirectUris ?? []) : [];
  if (uri === undefined) return undefined;
  // A loopback host is the same for every program on the machine and identifies none.
  if (isLoopbackHost(new URL(uri).hostname)) return { from: redirectUri === undefined ? 'other-device' : 'this-device', host: '' };
  return { from: 'host', host: hostOf(uri) || uri };
}

/** Identity provider parameters of the request. */
function providerPreferences(params: Interaction['params'], identityProviders: readonly string[] | undefined) {
  const maxAge = spaceSeparated(params.prompt).includes('login') ? 0 : params.max_age === undefined ? undefined : Number(params.max_age);
  return {
    ...present({ idp: text(params.idp), idpScope: text(params.idp_scope) }),
    ...(identityProviders !== undefined && { identityProviders }),
    ...(maxAge !== undefined && { maxAge }),
  };
}

const PAGES = ['assignment', ORGANIZATION, 'consent'] as const;
const promptOf = (name: string): 'login' | (typeof PAGES)[number] => PAGES.find((page) => page === name) ?? 'login';

/**
 * The result as the resumed request reads it.
 * @param deviceId browser that signed in; the request cannot continue in another one (storage/model-adapter.ts)
 */
function stored(result: Exclude<InteractionResult, { error: string }>, deviceId: string): NonNullable<Interaction['result']> {
  if ('switchAccount' in result) return { switchAccount: true } as NonNullable<Interaction['result']>;
  if ('organization' in result) return { organization: result.organization } as NonNullable<Interaction['result']>;
  if ('consent' in result) return { consent: { scope: result.consent.scopes.join(' ') } } as NonNullable<Interaction['result']>;
  const { accountId, amr, authenticatedAt, idp } = result.login;
  const ts = authenticatedAt === undefined ? {} : { ts: Math.floor(authenticatedAt.getTime() / 1000) };
  return { login: { accountId, amr: [...amr], ...ts, ...(idp !== undefined && { idp }), deviceId } };
}

/** A user who signs in again because of the organization continues for that organization. */
const keptOrganization = ({ prompt: { details } }: Interaction, result: InteractionResult) =>
  'login' in result && typeof details.organization === 'string' ? { organization: details.organization } : {};

/** A sign-in with an existing account also satisfies prompt=create. */
const answersCreate = ({ prompt }: Interaction, result: InteractionResult) =>
  prompt.name === CREATE && 'login' in result ? { [CREATE]: {} } : {};

const present = <T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as { [K in keyof T]?: string };
