/** Records refusals of signed-in users and authenticated applications in the audit log, with the decision. */

import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import { decodeJwt } from 'jose';
import { refusedEndpoint } from '../../features/audit/refused-requests.service.ts';
import type { AuthorizationServer } from '../../features/authorization-servers/authorization-servers.resource.ts';
import { type AccessGrantType, CIBA_GRANT, DEVICE_GRANT } from '../../features/policies/access-policy.policy.ts';
import {
  type AccessRefused,
  type KeptScope,
  MOST_RESOURCES,
  MOST_SCOPES,
  type RequestRefused,
} from '../../features/policies/decisions.policy.ts';
import { spaceSeparated } from '../../features/scopes/granted-scopes.policy.ts';
import type { RequirementReason } from '../../features/second-factors/second-factor.policy.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { ID_JAG } from '../exchange/token-types.ts';
import { type KoaContextWithOIDC, Provider } from '../library/oidc-provider.ts';
import { isSignInRequest } from '../storage/device-code-adapter.ts';
import { requestStateOf } from '../storage/request-state.ts';
import type { ServerState } from '../storage/server-state.ts';
import { tokenRequestAudiences } from '../token/audience.ts';
import { basicCredentials } from './credentials.ts';
import type { ProviderParts } from './dependencies.ts';
import { ROUTES } from './endpoints.ts';
import { notedForm } from './form.ts';

/** Maximum characters of a requested audience in the event. */
const LONGEST_RESOURCE = 500;

interface Evaluated {
  readonly clientId: string;
  readonly userId: string | undefined;
  readonly grantType: AccessGrantType;
  readonly scopes: readonly string[];
  /** Actor of a token exchange. */
  readonly actor?: string | undefined;
  /** Types of the authorization details. */
  readonly detailTypes?: readonly string[] | undefined;
}

/** Refusal of a token, or of an authorization request's grant. */
type Denial = Evaluated &
  (
    | ({ readonly kind: 'access-policy' } & Pick<AccessRefused, 'steps' | 'left'>)
    | { readonly kind: 'not-assigned' }
    | { readonly kind: 'not-a-member' }
    | { readonly kind: 'second-factor-needed' }
  );
export type RecordDenial = (denial: Denial) => Promise<void>;

/** Refusal of an authorization request of a signed-in user. */
export type NoteRefusal = (
  ctx: KoaContextWithOIDC,
  refusal:
    | { readonly kind: 'not-assigned' }
    | { readonly kind: 'not-a-member' }
    | { readonly kind: 'second-factor-needed'; readonly demandedBy?: RequirementReason }
    | { readonly kind: 'consent-required'; readonly scopes: readonly KeptScope[] },
) => Promise<void>;

export interface Refusals {
  readonly denied: RecordDenial;
  readonly refused: NoteRefusal;
}

/**
 * Grant types of a request: the code is one grant, direct responses of the authorize endpoint another; devices and backchannel requests have their
 * own.
 */
export function requestedGrants({ oidc: { params, entities } }: KoaContextWithOIDC): AccessGrantType[] {
  if (entities.DeviceCode !== undefined) return [isSignInRequest(entities.DeviceCode) ? CIBA_GRANT : DEVICE_GRANT];
  const types = spaceSeparated(params?.response_type);
  return [
    ...(types.includes('code') ? ['authorization_code' as const] : []),
    ...(types.some((type) => type !== 'code') ? ['implicit' as const] : []),
  ];
}

export function noteRefusals({ id, name }: AuthorizationServer, state: ServerState, refuse: ProviderParts['refuse']): Refusals {
  async function note(
    ctx: KoaContextWithOIDC,
    { clientId, userId, grantType, scopes, actor, detailTypes = [] }: Evaluated,
    why: Why,
  ): Promise<void> {
    const { prompt, requested_token_type: requested } = ctx.oidc.params ?? {};
    const isIdJag = requested === ID_JAG;
    const resources = isIdJag ? [] : tokenRequestAudiences(ctx).filter((resource) => resource.length <= LONGEST_RESOURCE);
    const request = {
      clientId,
      serverId: id,
      grantType,
      scopes: scopes.slice(0, MOST_SCOPES),
      ...(typeof prompt === 'string' && { prompt }),
      ...(actor !== undefined && { actor }),
      ...(detailTypes.length > 0 && { detailTypes }),
      ...(resources.length > 0 && { resources: resources.slice(0, MOST_RESOURCES) }),
      ...(isIdJag && { idJag: true }),
    };
    const endpoint = ctx.path === ROUTES.token ? 'token' : 'authorize';
    noted.add(ctx.req);
    await state.read(() => refuse({ endpoint, userId, server: { id, name }, decision: { ...why, request } as RequestRefused }, ctx.req));
  }

  return {
    async denied({ clientId, userId, grantType, scopes, actor, detailTypes, ...why }) {
      const { ctx } = Provider;
      if (ctx !== undefined) await note(ctx, { clientId, userId, grantType, scopes, actor, detailTypes }, why);
    },
    async refused(ctx, why) {
      const { client, params, session, account } = ctx.oidc;
      if (client === undefined) return;
      const userId = session?.accountId ?? account?.accountId;
      const grantType = requestedGrants(ctx)[0] ?? 'authorization_code';
      await note(ctx, { clientId: client.clientId, userId, grantType, scopes: spaceSeparated(params?.scope) }, why);
    },
  };
}

/** Routine errors, and those recorded with their decision elsewhere. */
const ROUTINE = new Set([
  'login_required',
  'interaction_required',
  'consent_required',
  'access_denied',
  'use_dpop_nonce',
  'authorization_pending',
  'slow_down',
  'expired_token',
  'temporarily_unavailable',
  'server_error',
]);

const noted = new WeakSet<IncomingMessage>();

/** Mistakes of the user are recorded in the user's events. */
export const markAsRecorded = ({ req }: KoaContextWithOIDC): void => void noted.add(req);

interface ErrorResponse {
  readonly error: string;
  readonly error_description?: string | undefined;
}

const errorResponses = new WeakMap<IncomingMessage, ErrorResponse>();

/** Remembers the error of the library's response to an authorization request; interactions may still follow. */
export const rememberError = ({ req }: KoaContextWithOIDC, error: ErrorResponse): void => void errorResponses.set(req, error);

/** Maximum characters of a redirect URI. */
const LONGEST_URI = 2048;
const shortText = (value: unknown): string | undefined => (typeof value === 'string' && value.length <= LONGEST_URI ? value : undefined);

/**
 * Records why a request failed: in the log, and in the audit log unless the decision was recorded there already.
 * @param given absent: the remembered error, if any
 */
export async function noteError(
  { server: { id, name }, reject }: Pick<ProviderParts, 'reject'> & { readonly server: AuthorizationServer },
  ctx: KoaContextWithOIDC,
  given: ErrorResponse | undefined = errorResponses.get(ctx.req),
): Promise<void> {
  if (given === undefined) return;
  const { error, error_description: description = '' } = given;
  const clientId = noted.has(ctx.req) || ROUTINE.has(error) ? undefined : clientOf(ctx, error);
  const redirectUri = error === 'invalid_redirect_uri' ? shortText(ctx.oidc?.params?.redirect_uri) : undefined;
  const endpoint = refusedEndpoint(ctx.path);
  const rejected = clientId === undefined ? undefined : ({ endpoint, clientId, server: { id, name }, redirectUri } as const);
  await reject({ error, description }, rejected, ctx.req);
}

/** The client of a refused request: as the library recognized it, or the request state, or as the request names it. */
function clientOf(ctx: KoaContextWithOIDC, error: string): string | undefined {
  // Missing if the request was refused before the library's route.
  const oidc: KoaContextWithOIDC['oidc'] | undefined = ctx.oidc;
  const waiting = oidc?.entities.Interaction?.params.client_id;
  const known = oidc?.client?.clientId ?? (typeof waiting === 'string' ? waiting : undefined) ?? requestStateOf(ctx)?.clientId;
  if (known !== undefined) return known;
  // A client that the library did not find is not looked up again.
  return oidc === undefined || error !== 'invalid_client' ? namedClient(ctx) : undefined;
}

/** Maximum characters of a client ID, which can be the address of a document. */
const LONGEST_CLIENT_ID = 2048;

/** The client that the parameters, the header or the assertion name. Whether it exists is checked when the event is written. */
function namedClient({ req, query, headers }: KoaContextWithOIDC): string | undefined {
  const form = parse(notedForm(req) ?? '');
  const [inHeader] = (basicCredentials(headers.authorization) ?? '').split(':');
  const named = [query.client_id, form.client_id, inHeader, subjectOf(form.client_assertion)].find(
    (one) => typeof one === 'string' && one !== '',
  );
  return typeof named === 'string' && named.length <= LONGEST_CLIENT_ID && isPrintable(named) ? named : undefined;
}

function subjectOf(assertion: unknown): string | undefined {
  try {
    return typeof assertion === 'string' ? decodeJwt(assertion).sub : undefined;
  } catch {
    return undefined;
  }
}

type WithoutRequest<D> = D extends RequestRefused ? Omit<D, 'request'> : never;
type Why = WithoutRequest<RequestRefused>;
