/**
 * Counts wrong client secrets for each application and address in the database. After too many, the application is blocked at that address
 * for a while. At other addresses its correct secret works, at the cost of one lookup in memory.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache/cache.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { TooManyFailuresHere } from '../servers/errors.ts';

/** Maximum blocked application-address pairs in this process. */
const MOST_BLOCKED = 10_000;

export interface WrongSecretsParts {
  /** Key of an address for the limit. */
  addressOf(req: IncomingMessage): string;
  /** @returns seconds for which the application is blocked at the address; undefined: it is not blocked */
  count(clientId: string, address: string): Promise<number | undefined>;
}

export class WrongSecrets {
  /** Epoch milliseconds when the block ends. */
  readonly #blocked = new LRUCache<string, number>(atMost(MOST_BLOCKED));
  /** End of the last block. */
  #lastEnd = 0;

  constructor(readonly parts: WrongSecretsParts) {}

  /** Can the application's secret be compared? */
  isAllowed(req: IncomingMessage, clientId: string): boolean {
    return this.#blockedFor(req, clientId) <= 0;
  }

  /**
   * Call before comparing a secret, so that a blocked client does not learn whether it was correct.
   * @throws {TooManyFailuresHere}
   */
  refuseBlocked(ctx: Context, clientId: string): void {
    const milliseconds = this.#blockedFor(ctx.req, clientId);
    if (milliseconds > 0) throw refusal(ctx, Math.ceil(milliseconds / 1000));
  }

  /** Counts a wrong secret. Other processes notice the block at the next wrong secret that they receive. @throws {TooManyFailuresHere} */
  async note(ctx: Context, clientId: string): Promise<void> {
    const seconds = await this.parts.count(clientId, this.parts.addressOf(ctx.req));
    if (seconds === undefined) return;
    const until = Date.now() + seconds * 1000;
    this.#blocked.set(this.#keyOf(ctx.req, clientId), until);
    this.#lastEnd = Math.max(this.#lastEnd, until);
    throw refusal(ctx, seconds);
  }

  /**
   * Checks the result of client authentication, before the response is sent and anything is written.
   * @returns a pending count; undefined in nearly all cases
   * @throws {TooManyFailuresHere}
   */
  checkResult(ctx: KoaContextWithOIDC): Promise<void> | undefined {
    const client = ctx.oidc?.client;
    if (client === undefined || client.tokenEndpointAuthMethod === 'none') return undefined;
    this.refuseBlocked(ctx, client.clientId);
    const isWrong = ctx.status === 401 && (ctx.body as { error?: unknown }).error === 'invalid_client';
    return isWrong ? this.note(ctx, client.clientId) : undefined;
  }

  #blockedFor(req: IncomingMessage, clientId: string): number {
    const now = Date.now();
    // Usually nobody is blocked, and computing the address key costs more than this check.
    return this.#lastEnd <= now ? 0 : (this.#blocked.get(this.#keyOf(req, clientId)) ?? 0) - now;
  }

  #keyOf(req: IncomingMessage, clientId: string): string {
    return `${clientId} ${this.parts.addressOf(req)}`;
  }
}

function refusal(ctx: Context, seconds: number): TooManyFailuresHere {
  ctx.remove('WWW-Authenticate');
  return new TooManyFailuresHere(seconds);
}
