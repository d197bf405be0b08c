/** API tokens: a value that acts with the current roles of the user who created it, and ends with that user. */
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, forbidden, notFound, validation } from '../../platform/errors/errors.ts';
import { text } from '../../platform/validation/text.ts';
import { isWithin, type Role, reachOf, type Verb } from '../administrators/administration.policy.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import { lockUser } from '../users/users.store.ts';
import type { ApiToken, ApiTokenType } from './api-tokens.resource.ts';
import {
  deleteApiToken,
  findApiToken,
  findTokenBearer,
  insertApiToken,
  lockApiToken,
  selectApiTokens as readApiTokens,
  type TokenBearer,
  touchApiToken,
} from './api-tokens.store.ts';

/** Name of a token. Several tokens of a user can have the same name. */
export const apiTokenName = text({ least: 1 });

export interface NewApiToken {
  readonly name: string;
  /** API unless given. */
  readonly type?: ApiTokenType | undefined;
  /** SCIM tokens: the organization that the token is limited to. Absent: the whole service. */
  readonly orgId?: string | undefined;
  /** Its creator. */
  readonly userId: string;
  /** Absent: generated. */
  readonly value?: string | undefined;
  /** In the future; absent: the token never expires. */
  readonly expiresAt?: Date | undefined;
}

/**
 * @returns the token's row and its value, which is returned only once and stored as a digest
 * @throws {ApiError} validation: the expiry is in the past, or `orgId` is given for type API; conflict: a token with this value exists; forbidden:
 * its creator is not active, or has no sufficient role
 */
export async function createApiToken(
  services: Services,
  input: NewApiToken,
  request: RequestContext,
): Promise<{ readonly apiToken: ApiToken; readonly value: string }> {
  const now = present();
  if (input.expiresAt !== undefined && input.expiresAt <= now) throw validation([{ field: 'expiresAt', message: 'must be in the future' }]);
  const value = input.value ?? randomToken();
  const { type = 'API', orgId } = input;
  if (type === 'API' && orgId !== undefined) throw validation([{ field: 'orgId', message: 'can only be used with type SCIM' }]);
  if (type === 'SCIM' && rolesOfScim(request.roles ?? [], orgId ?? null) === undefined) {
    throw orgId === undefined ? forbidden() : orgMissing();
  }
  const apiToken: ApiToken = {
    id: newId('tok'),
    name: input.name,
    type,
    orgId: orgId ?? null,
    userId: input.userId,
    created: now,
    expiresAt: input.expiresAt ?? null,
    lastUsed: null,
  };
  await services.database.transaction(async (trx) => {
    // Locked, so that either a concurrent deactivation finds the token, or this finds the deactivation.
    if ((await lockUser(trx, input.userId))?.status !== 'ACTIVE') throw forbidden();
    if (orgId !== undefined && !(await organizationExists(trx, orgId))) throw orgMissing();
    if (!(await insertApiToken(trx, apiToken, digestOf(type, value))))
      throw conflict({ field: 'token', message: 'another API token has this value. Choose another value' });
    await recordEvent(trx, {
      eventType: 'system.api_token.create',
      displayMessage: 'Create API token',
      request,
      targets: [target(apiToken)],
      after: described(apiToken),
    });
  });
  return { apiToken, value };
}

const orgMissing = () => validation([{ field: 'orgId', message: 'does not exist' }]);

/** Depends on the type, so that a token cannot be used as one of another type, not even by the former version. */
const digestOf = (type: ApiTokenType, value: string): string => digest(type === 'API' ? value : `${type} ${value}`);

/**
 * Roles of a SCIM token: the creator's current roles, limited to the token's organization.
 * @returns undefined if none remain
 */
function rolesOfScim(roles: readonly Role[], orgId: string | null): readonly Role[] | undefined {
  const reach = reachOf(roles, 'write');
  if (orgId === null) return reach === 'everything' ? [{ type: 'SUPER_ADMIN' }] : undefined;
  return isWithin(reach, orgId) ? [{ type: 'ORG_ADMIN', orgId }] : undefined;
}

/** The caller's own tokens, oldest first; all tokens for administrators who can read the whole service. */
export const listApiTokens = (services: Services, window: Window, request: RequestContext): Promise<Page<ApiToken>> =>
  readApiTokens(services.database.knex, window, seesAll(request, 'read') ? undefined : request.actor.id);

/** @throws {ApiError} not found, also for another user's token that the caller cannot see */
export async function getApiToken(services: Services, id: string, request: RequestContext): Promise<ApiToken> {
  const apiToken = await findApiToken(services.database.knex, id);
  if (apiToken === undefined || !isOpenTo(request, apiToken, 'read')) throw notFound(id, 'ApiToken');
  return apiToken;
}

/**
 * Revokes a token: the next request with it is refused.
 * @throws {ApiError} not found, also for another user's token that the caller cannot see; forbidden for one that they can only see
 */
export async function revokeApiToken(services: Services, id: string, request: RequestContext): Promise<void> {
  await services.database.transaction(async (trx) => {
    const apiToken = await lockApiToken(trx, id);
    if (apiToken === undefined || !isOpenTo(request, apiToken, 'read')) throw notFound(id, 'ApiToken');
    if (!isOpenTo(request, apiToken, 'write')) throw forbidden();
    await deleteApiToken(trx, id);
    await recordEvent(trx, {
      eventType: 'system.api_token.revoke',
      displayMessage: 'Revoke API token',
      request,
      targets: [target(apiToken)],
      before: described(apiToken),
    });
  });
}

const seesAll = ({ roles = [] }: RequestContext, verb: Verb): boolean => reachOf(roles, verb) === 'everything';

const isOpenTo = (request: RequestContext, { userId }: ApiToken, verb: Verb): boolean =>
  userId === request.actor.id || seesAll(request, verb);

const target = ({ id, name }: ApiToken) => ({ id, type: 'Token', displayName: name });

const described = ({ name, type, orgId, userId, expiresAt }: ApiToken) => ({
  ...{ name, userId, expiresAt },
  ...(type === 'SCIM' && { type, ...(orgId !== null && { orgId }) }),
});

const TOUCH_INTERVAL_MS = 60_000;

/** @returns the owner and their roles; undefined if the token is unknown, has another type or has expired, or its creator is not active */
async function findBearer(services: Services, type: ApiTokenType, value: string): Promise<TokenBearer | undefined> {
  const { knex } = services.database;
  const now = present();
  const bearer = await findTokenBearer(knex, { tokenHash: digestOf(type, value), type }, now);
  if (bearer === undefined) return undefined;
  // A precision of one minute avoids a write on nearly every call.
  const { lastUsed } = bearer;
  if (lastUsed === null || now.getTime() - lastUsed.getTime() > TOUCH_INTERVAL_MS) await touchApiToken(knex, bearer.tokenId, now);
  return bearer;
}

/** Authenticates a management API token. */
export const authenticateApiToken = (services: Services, value: string): Promise<TokenBearer | undefined> =>
  findBearer(services, 'API', value);

/** Authenticates a SCIM token and limits its roles. @returns undefined also if the creator no longer has a sufficient role */
export async function authenticateScimToken(services: Services, value: string): Promise<TokenBearer | undefined> {
  const bearer = await findBearer(services, 'SCIM', value);
  const roles = bearer && rolesOfScim(bearer.roles, bearer.orgId);
  return bearer && roles && { ...bearer, roles };
}
