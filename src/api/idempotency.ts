/**
 * `Idempotency-Key` (IETF draft "The Idempotency-Key HTTP Header Field"): a POST repeated with its key within 24 hours is not executed again and gets
 * the same response. Key, change and response are one transaction, so an interrupted call has left either all of them or nothing.
 */
import type { Context } from 'koa';
import { once } from '../features/idempotency/idempotency.service.ts';
import type { Services } from '../platform/database/dependencies.ts';
import { validation } from '../platform/errors/errors.ts';
import type { Caller } from './authentication.ts';

/** Response of a call. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
  /** Cursor for the next page of the list. */
  readonly next?: string | undefined;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * @param work executes the call with the given services
 * @throws {ApiError} validation of the key; conflict if the key was used for another call
 */
export async function runOnce(ctx: Context, services: Services, work: (within: Services) => Promise<Answered>): Promise<Answered> {
  if (ctx.headers['idempotency-key'] === undefined) return work(services);
  const key = ctx.get('Idempotency-Key');
  if (!KEY.test(key))
    throw validation([{ field: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters without spaces' }]);
  const { actor, roles }: Caller['request'] = ctx.state.caller.request;
  // A caller whose roles have changed gets a new response: the stored one could contain data that they can no longer see.
  const rights = roles.map(({ type, orgId = '' }) => `${type} ${orgId}`).sort();
  const call = { userId: actor.id, key, content: JSON.stringify([ctx.path, ctx.search, ctx.request.rawBody ?? '', rights]) };
  const { response, repeated } = await once<Answered>(services, call, work);
  if (repeated) ctx.set('Idempotency-Replayed', 'true');
  return response;
}
