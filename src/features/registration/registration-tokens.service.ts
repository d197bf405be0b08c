/** Operations on initial access tokens. Their value is shown once and stored as a digest. */
import { present } from '../../platform/clock/clock.ts';
import { digest, newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { requireFound, validation } from '../../platform/errors/errors.ts';
import { text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { getAuthorizationServer } from '../authorization-servers/authorization-servers.service.ts';
import type { RegistrationToken } from './registration-tokens.resource.ts';
import {
  deleteRegistrationToken,
  findRegistrationToken,
  insertRegistrationToken,
  selectRegistrationTokens,
} from './registration-tokens.store.ts';

export const registrationTokenName = text({ least: 1 });

/** Default lifetime: with a forgotten token that never expires, clients could register for as long as the server exists. */
export const DEFAULT_DAYS = 7;
const DAY_MS = 86_400_000;

/** @returns expiry of a token that is created now for this many days */
export const registrationTokenEnd = (days: number): Date => new Date(present().getTime() + days * DAY_MS);

export interface NewRegistrationToken {
  readonly name: string;
  readonly singleUse: boolean;
  /** In the future. null: never. Absent: after `DEFAULT_DAYS`. */
  readonly expiresAt?: Date | null | undefined;
}

/** @throws {ApiError} not found: the server; validation when it would have expired already */
export async function createRegistrationToken(
  services: Services,
  serverId: string,
  input: NewRegistrationToken,
  request: RequestContext,
): Promise<{ readonly token: RegistrationToken; readonly value: string }> {
  const server = await getAuthorizationServer(services, serverId);
  const now = present();
  const { name, singleUse, expiresAt = registrationTokenEnd(DEFAULT_DAYS) } = input;
  if (expiresAt !== null && expiresAt <= now) throw validation([{ field: 'expiresAt', message: 'must be in the future' }]);
  const value = randomToken();
  const token: RegistrationToken = { id: newId('iat'), serverId, name, singleUse, uses: 0, created: now, expiresAt, lastUsed: null };
  await services.database.transaction(async (trx) => {
    await insertRegistrationToken(trx, token, digest(value));
    await recordEvent(trx, {
      eventType: 'app.oauth2.registration_token.create',
      displayMessage: 'Create initial access token',
      request,
      targets: targetsOf(token, server.name),
      after: described(token),
    });
  });
  return { token, value };
}

/** Oldest first. @throws {ApiError} not found: the server */
export async function listRegistrationTokens(services: Services, serverId: string, window: Window): Promise<Page<RegistrationToken>> {
  await getAuthorizationServer(services, serverId);
  return selectRegistrationTokens(services.database.knex, serverId, window);
}

/** @throws {ApiError} not found */
export const getRegistrationToken = async (services: Services, serverId: string, id: string): Promise<RegistrationToken> =>
  requireFound(await findRegistrationToken(services.database.knex, serverId, id), id, 'RegistrationToken');

/** Clients that registered with it stay. @throws {ApiError} not found */
export async function revokeRegistrationToken(services: Services, serverId: string, id: string, request: RequestContext): Promise<void> {
  const server = await getAuthorizationServer(services, serverId);
  await services.database.transaction(async (trx) => {
    const token = requireFound(await deleteRegistrationToken(trx, serverId, id), id, 'RegistrationToken');
    await recordEvent(trx, {
      eventType: 'app.oauth2.registration_token.revoke',
      displayMessage: 'Revoke initial access token',
      request,
      targets: targetsOf(token, server.name),
      before: described(token),
    });
  });
}

const targetsOf = ({ id, name, serverId }: RegistrationToken, serverName: string) => [
  { id, type: 'Token', displayName: name },
  { id: serverId, type: 'AuthorizationServer', displayName: serverName },
];

const described = ({ name, singleUse, expiresAt }: RegistrationToken) => ({ name, singleUse, expiresAt });
