/**
 * Wrong client secrets, counted for each application and address in the database; from which too many came, that application is not heard for a
 * while. From elsewhere its right secret works all the same, and costs no more than a look into this process's memory.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../platform/cache/cache.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { TooManyFailuresHere } from '../servers/errors.ts';

/** Applications at addresses that a process remembers as not heard. */
const MOST_BARRED = 10_000;

export interface WrongSecretsParts {
  /** Key of an address for the limit. */
  addressOf(req: IncomingMessage): string;
  /** @returns seconds for which the application is not heard from there any more; undefined: it is */
  count(clientId: string, address: string): Promise<number | undefined>;
}

export class WrongSecrets {
  /** Epoch milliseconds of the end. */
  readonly #barred = new LRUCache<string, number>(atMost(MOST_BARRED));
  /** End of the last entry. */
  #lastEnd = 0;

  constructor(readonly parts: WrongSecretsParts) {}

  /** May its secret be compared? */
  isHeard(req: IncomingMessage, clientId: string): boolean {
    return this.#barredFor(req, clientId) <= 0;
  }

  /**
   * Call before comparing a secret, so that a blocked application learns nothing about it.
   * @throws {TooManyFailuresHere}
   */
  refuseBarred(ctx: Context, clientId: string): void {
    const milliseconds = this.#barredFor(ctx.req, clientId);
    if (milliseconds > 0) throw refusal(ctx, Math.ceil(milliseconds / 1000));
  }

  /** Notes a wrong secret. Another process learns of a bar by the next wrong one that it is sent. @throws {TooManyFailuresHere} */
  async note(ctx: Context, clientId: string): Promise<void> {
    const seconds = await this.parts.count(clientId, this.parts.addressOf(ctx.req));
    if (seconds === undefined) return;
    const until = Date.now() + seconds * 1000;
    this.#barred.set(this.#keyOf(ctx.req, clientId), until);
    this.#lastEnd = Math.max(this.#lastEnd, until);
    throw refusal(ctx, seconds);
  }

  /**
   * Judges the answer to a client that had to prove itself, before it leaves and before anything is written.
   * @returns what is still to be noted; undefined, as nearly always: nothing
   * @throws {TooManyFailuresHere}
   */
  judge(ctx: KoaContextWithOIDC): Promise<void> | undefined {
    const client = ctx.oidc?.client;
    if (client === undefined || client.tokenEndpointAuthMethod === 'none') return undefined;
    this.refuseBarred(ctx, client.clientId);
    const isWrong = ctx.status === 401 && (ctx.body as { error?: unknown }).error === 'invalid_client';
    return isWrong ? this.note(ctx, client.clientId) : undefined;
  }

  #barredFor(req: IncomingMessage, clientId: string): number {
    const now = Date.now();
    // Usually nobody is blocked: computing the address key costs more than this check.
    return this.#lastEnd <= now ? 0 : (this.#barred.get(this.#keyOf(req, clientId)) ?? 0) - now;
  }

  #keyOf(req: IncomingMessage, clientId: string): string {
    return `${clientId} ${this.parts.addressOf(req)}`;
  }
}

function refusal(ctx: Context, seconds: number): TooManyFailuresHere {
  ctx.remove('WWW-Authenticate');
  return new TooManyFailuresHere(seconds);
}
