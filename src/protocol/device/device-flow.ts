/**
 * Device grant (RFC 8628). A device calls device_authorization and polls the token endpoint. Its user enters the user code at /activate, which leads
 * to the server's own page; that page always asks for confirmation before the usual sign-in and consent pages.
 */
import type { IncomingMessage } from 'node:http';
import { deviceAnswer, signInRequestAnswer } from '../../features/audit/protocol-events.service.ts';
import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import { readDetails } from '../../features/authorization-details/detail-types.service.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { issuerOf } from '../../features/authorization-servers/server-id.policy.ts';
import { REQUESTS_PAGE } from '../../features/backchannel-requests/request-mails.service.ts';
import { networkOf } from '../../features/sign-in/failure-limits.service.ts';
import { countryOf } from '../../features/sign-in-countries/sign-in-countries.service.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Client, Configuration, KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { clientSettings } from '../servers/client-settings.ts';
import type { ProviderParts } from '../servers/dependencies.ts';
import { type DevicePage, type DeviceProblem, requestedLocales, showProtocolError } from '../servers/error-pages.ts';
import { TooManyFailuresHere } from '../servers/errors.ts';
import { isSignInRequest, signInRequestOf, userCodeDigests } from '../storage/device-code-adapter.ts';
import { findDeviceCode } from '../storage/device-codes.store.ts';
import { requestStateOf } from '../storage/request-state.ts';

type DeviceFlow = NonNullable<NonNullable<Configuration['features']>['deviceFlow']>;

/** Eight of 20 consonants: 25 billion codes. Without vowels they form no words (RFC 8628 section 6.1). */
const CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;
/** Code of an application's sign-in request. It is not typed and works only for the requested user. */
const REQUEST = /^[A-Z0-9]{26}$/;
const MASK = '****-****';
const MASKED = /^(.{4})(.{4})$/;

/** Characters of a device's `User-Agent` that are stored with its request. */
const LONGEST_USER_AGENT = 256;

/** The parameter that passes the code from /activate to the server's page. */
const PARAMETER = 'code';

/** @returns the code as it is stored; undefined: not a valid code */
function normalizedUserCode(typed: string): string | undefined {
  const code = typed.toUpperCase().replace(/[\s-]/g, '');
  return CODE.test(code) || REQUEST.test(code) ? code : undefined;
}

/** The library's errors that show its page again; it exports no classes for them. */
const PROBLEMS: Readonly<Record<string, DeviceProblem>> = {
  NoCodeError: 'unknown',
  NotFoundError: 'unknown',
  ExpiredError: 'expired',
  AlreadyUsedError: 'used',
  AbortedError: 'denied',
};

interface DeviceParts extends ProviderParts {
  readonly server: AuthorizationServer;
  readonly detailTypes: readonly DetailType[];
}

/** The library's feature, with the service's pages. */
export function deviceFlow({ server, detailTypes, ...parts }: DeviceParts): DeviceFlow {
  const { pages } = parts;

  async function confirm(ctx: KoaContextWithOIDC, code: string): Promise<void> {
    const { DeviceCode, Client } = ctx.oidc.provider;
    const found = await DeviceCode.findByUserCode(code, { ignoreExpiration: true });
    const client = found?.clientId === undefined ? undefined : await Client.find(found.clientId);
    if (REQUEST.test(code) && !isWaiting(found)) return toRequests(ctx, 'gone');
    if (found === undefined || client === undefined) return again(ctx, 'unknown');
    if (found.isExpired) return again(ctx, 'expired');
    if (!isWaiting(found)) return again(ctx, 'used');
    const { secret = '' } = (ctx.oidc.session?.state ?? {}) as { readonly secret?: string };
    const action = new URL(ctx.oidc.urlFor('code_verification')).pathname;
    const page = { application: labelOf(client), action, fields: { xsrf: secret, user_code: code }, uiLocales: requestedLocales(ctx) };
    const request = signInRequestOf(found);
    const details = detailsIn(found.params).map((detail) => ({ detail, type: detailTypes.find(({ name }) => name === detail.type) }));
    if (request !== undefined) {
      await pages.confirmRequest(ctx, { ...page, message: request.message, requestedAt: found.iat, expiresAt: found.exp ?? 0, details });
      return;
    }
    const { ipAddress = '', userAgent = '' } = (found.deviceInfo ?? {}) as Partial<DevicePage['device']>;
    await pages.confirmDevice(ctx, {
      ...page,
      userCode: shown(code),
      device: { ipAddress, userAgent },
      place: {
        country: await countryOf(parts, ipAddress),
        isSameNetwork: networkOf(ipAddress) === networkOf(parts.describe(ctx.req).ipAddress),
      },
      requestedAt: found.iat,
      details,
    });
  }

  async function again(ctx: KoaContextWithOIDC, problem: DeviceProblem): Promise<void> {
    if (problem === 'denied' && isUsersRefusal(ctx)) noteAnswer(ctx, server, parts, false);
    if (isOfRequest(ctx)) return toRequests(ctx, problem === 'denied' ? 'refused' : 'gone');
    if (problem === 'unknown') guessed.add(ctx.req);
    await pages.activate(ctx, { problem, uiLocales: requestedLocales(ctx) });
  }

  return {
    enabled: true,
    charset: 'base-20',
    mask: MASK,
    deviceInfo({ req }) {
      const { ipAddress, userAgent } = parts.describe(req);
      return { ipAddress, userAgent: userAgent.slice(0, LONGEST_USER_AGENT) };
    },
    /** Also called after errors. */
    async userCodeInputSource(ctx, _form, out, error) {
      if (error === undefined) return confirm(ctx, normalizedUserCode(single(ctx.query[PARAMETER])) ?? '');
      keepUnsaved(ctx);
      const problem = PROBLEMS[error.name];
      if (problem !== undefined) return again(ctx, problem);
      const { error: code = 'server_error', error_description: description = '' } = out ?? {};
      await showProtocolError(pages, ctx, { status: ctx.status, code, description, cause: error });
    },
    /** The code was posted without an answer: show the same page. */
    userCodeConfirmSource: (ctx, _form, _client, _info, userCode) => confirm(ctx, normalizedUserCode(userCode) ?? ''),
    async successSource(ctx) {
      noteAnswer(ctx, server, parts, true);
      if (isOfRequest(ctx)) return toRequests(ctx, 'allowed');
      await pages.deviceConnected(ctx, {
        application: ctx.oidc.client === undefined ? '' : labelOf(ctx.oidc.client),
        uiLocales: requestedLocales(ctx),
      });
    },
  };
}

const isWaiting = (found: { accountId?: unknown; error?: unknown; isExpired?: boolean } | undefined): boolean =>
  found !== undefined && found.isExpired !== true && found.accountId === undefined && found.error === undefined;

/** Does the request come from an application (CIBA)? It is not found in another user's session; then the form of the code decides. */
function isOfRequest({ oidc: { entities, params } }: KoaContextWithOIDC): boolean {
  return entities.DeviceCode === undefined ? REQUEST.test(single(params?.user_code)) : isSignInRequest(entities.DeviceCode);
}

/** Redirects to the user's page of requests, with the result of this one. */
function toRequests(ctx: KoaContextWithOIDC, done: 'allowed' | 'refused' | 'gone'): void {
  ctx.redirect(`${REQUESTS_PAGE}?done=request-${done}`);
  ctx.status = 303;
}

/** Did the user refuse, on the page of the code or of consent? Refusals by a policy have another event. */
function isUsersRefusal({ oidc: { params, entities } }: KoaContextWithOIDC): boolean {
  const { prompt, result } = entities.Interaction ?? {};
  return typeof params?.abort === 'string' || (result?.error === 'access_denied' && prompt?.name !== 'assignment');
}

/**
 * After an error, the library puts the secret of its form into the session, even into one that was not stored. That would end as an internal error.
 */
function keepUnsaved({ oidc: { session } }: KoaContextWithOIDC): void {
  if (session !== undefined && session.exp === undefined) Object.assign(session, { touched: false });
}

/** Authorization details of a stored request (RFC 9396); already validated. */
function detailsIn(params: unknown): readonly AuthorizationDetail[] {
  const read = readDetails((params as Readonly<Record<string, unknown>> | undefined)?.authorization_details);
  return 'details' in read ? read.details : [];
}

const single = (value: unknown): string => (typeof value === 'string' ? value : '');
const shown = (code: string): string => code.replace(MASKED, '$1-$2');
const labelOf = (client: Client): string => clientSettings(client).label;

/** Adds the event to the write that stores the answer. */
function noteAnswer(
  ctx: KoaContextWithOIDC,
  server: AuthorizationServer,
  { describe, requestId }: ProviderParts,
  isAllowed: boolean,
): void {
  const state = requestStateOf(ctx);
  const [answer] = state?.writes.answers ?? [];
  if (state === undefined || answer?.clientId === undefined) return;
  const { client, session } = ctx.oidc;
  const userId = session?.accountId;
  const noted = answer.model === 'BackchannelAuthenticationRequest' ? signInRequestAnswer : deviceAnswer;
  answer.event = noted(
    {
      user: userId === undefined ? undefined : { id: userId, name: state.accounts.get(userId)?.login ?? userId },
      application: { id: answer.clientId, name: client?.clientName ?? answer.clientId },
      server,
      isAllowed,
    },
    { ...describe(ctx.req), requestId: requestId(ctx.req) },
  );
}

/** All servers share the page where users enter codes (RFC 8628 section 3.2). */
export function setVerificationUri(ctx: KoaContextWithOIDC, baseUrl: string): void {
  const body = ctx.body as { user_code: string; verification_uri: string; verification_uri_complete: string };
  body.verification_uri = `${baseUrl}/activate`;
  body.verification_uri_complete = `${baseUrl}/activate?user_code=${body.user_code}`;
}

/**
 * Runs before the server's page for a code. A code in the library's own parameter is handled like all others, so each is counted and
 * confirmed. Counting precedes the lookup, which also limits concurrent attempts.
 * @returns false if the request was answered
 * @throws {TooManyFailuresHere} after too many wrong codes from this address
 */
export async function prepareConfirmation(ctx: KoaContextWithOIDC, { userCodes }: Pick<ProviderParts, 'userCodes'>): Promise<boolean> {
  if (ctx.method === 'GET') {
    const { user_code: typed, ...query } = ctx.query;
    if (single(query[PARAMETER]) === '') {
      const code = single(typed);
      ctx.redirect(code === '' ? '/activate' : `/activate?user_code=${encodeURIComponent(code)}`);
      ctx.status = 303;
      return false;
    }
    ctx.query = query;
  }
  const seconds = await userCodes.count(ctx.req);
  if (seconds !== undefined) throw new TooManyFailuresHere(seconds);
  return true;
}

/** Requests with a code that matches no device request. */
const guessed = new WeakSet<IncomingMessage>();

/** Runs after the server's page for a code: a code of an existing or expired device request is not counted. */
export async function finishConfirmation(ctx: KoaContextWithOIDC, { userCodes }: Pick<ProviderParts, 'userCodes'>): Promise<void> {
  if (!guessed.has(ctx.req)) await userCodes.forget(ctx.req);
}

/** @returns the path of the server's page that confirms the request; undefined: no request has this code */
export async function findDeviceRequest(
  { database, keyring }: Pick<Services, 'database' | 'keyring'>,
  typed: string,
): Promise<string | undefined> {
  const code = normalizedUserCode(typed);
  const found = code === undefined ? undefined : await findDeviceCode(database.pool, userCodeDigests(keyring, code), epochSeconds());
  return found && `${new URL(issuerOf('http://localhost', found.serverId)).pathname}/device?${PARAMETER}=${code}`;
}
