/** API tokens: a value that acts with the current roles of the user who created it, and dies with him. */
import { present } from '../clock.ts';
import { conflict } from '../errors.ts';
import { digest, newId, randomToken } from '../secrets.ts';
import { type ApiToken, findTokenBearer, insertApiToken, type TokenBearer, touchApiToken } from '../store/api-tokens.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';

export interface NewApiToken {
  readonly name: string;
  /** Its creator. */
  readonly userId: string;
  /** Absent: generated. */
  readonly value?: string | undefined;
  /** Absent: never. */
  readonly expiresAt?: Date | undefined;
}

/**
 * @returns the token's row and its value, which is told this once and stored as a digest
 * @throws {ApiError} conflict when a token of that value exists
 */
export async function createApiToken(
  services: Services,
  input: NewApiToken,
  request: RequestContext,
): Promise<{ readonly apiToken: ApiToken; readonly value: string }> {
  const value = input.value ?? randomToken();
  const apiToken: ApiToken = {
    id: newId('tok'),
    name: input.name,
    userId: input.userId,
    created: present(),
    expiresAt: input.expiresAt ?? null,
    lastUsed: null,
  };
  await services.database.transaction(async (trx) => {
    if (!(await insertApiToken(trx, apiToken, digest(value))))
      throw conflict({ field: 'token', message: 'another API token has this value' });
    await recordEvent(trx, {
      eventType: 'system.api_token.create',
      displayMessage: 'Create API token',
      request,
      targets: [{ id: apiToken.id, type: 'Token', displayName: apiToken.name }],
      after: { name: apiToken.name, userId: apiToken.userId, expiresAt: apiToken.expiresAt },
    });
  });
  return { apiToken, value };
}

const TOUCH_INTERVAL_MS = 60_000;

/** @returns who bears the token; undefined when it is unknown, has expired, or its creator is not active */
export async function authenticateApiToken(services: Services, value: string): Promise<TokenBearer | undefined> {
  const { knex } = services.database;
  const now = present();
  const bearer = await findTokenBearer(knex, digest(value), now);
  if (bearer === undefined) return undefined;
  // To the minute is exact enough, and spares a write on nearly every call.
  const { lastUsed } = bearer;
  if (lastUsed === null || now.getTime() - lastUsed.getTime() > TOUCH_INTERVAL_MS) await touchApiToken(knex, bearer.tokenId, now);
  return bearer;
}
