/**
 * Executes a call once, however often it is repeated: key, change and response are written in one transaction. Responses can contain secrets, so they
 * are sealed.
 */
import { createHmac } from 'node:crypto';
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inOneTransaction } from '../../platform/database/one-transaction.ts';
import { conflict } from '../../platform/errors/errors.ts';
import { claimCall, findCall, storeResponse } from './idempotent-calls.store.ts';

const KEPT_MS = 24 * 3600 * 1000;

export const responseContext = (id: string): string => `idempotent_call:${id}`;

export interface RepeatableCall {
  readonly userId: string;
  /** Chosen by the caller; keys of different callers are independent. */
  readonly key: string;
  /** Everything that identifies the call. */
  readonly content: string;
}

/**
 * Executes the first of several calls with the same key; the others wait for its response. A failed call stores nothing, not even its key, so it can
 * be repeated.
 * @param work must use the given services, which write in the transaction of the key
 * @throws {ApiError} conflict: the key was used for a call with other content
 */
export async function once<T>(
  services: Services,
  { userId, key, content }: RepeatableCall,
  work: (within: Services) => Promise<T>,
): Promise<{ readonly response: T; readonly repeated: boolean }> {
  const id = digest(JSON.stringify([userId, key]));
  const context = responseContext(id);
  const { keyring } = services;
  // Keyed: the content may contain a password, which readers of the table could guess from a plain hash.
  const hashOf = (key: Buffer): string => createHmac('sha256', key).update(content).digest('base64url');
  const keys = keyring.keysOf('idempotent calls');
  const requestHash = hashOf(keys[0]);
  return inOneTransaction(
    services,
    async (within, trx) => {
      const now = present();
      if (await claimCall(trx, { id, requestHash, expiresAt: new Date(now.getTime() + KEPT_MS) }, now)) {
        const response = await work(within);
        await storeResponse(trx, id, keyring.seal(JSON.stringify(response), context));
        return { response, repeated: false };
      }
      const earlier = await findCall(trx, id);
      // The earlier call may have been hashed with a former key of SECRET_KEY.
      if (earlier === undefined || !keys.some((key) => hashOf(key) === earlier.requestHash) || earlier.answerSealed === null) {
        throw conflict({ field: 'Idempotency-Key', message: 'was already used for another request. Send a new key' });
      }
      return { response: JSON.parse(keyring.open(earlier.answerSealed, context)) as T, repeated: true };
      // The transaction is not repeated: some calls send a message to a phone, or read an upload. Callers can repeat every call, which is the purpose
      // of the key.
    },
    { repeatable: false },
  );
}
