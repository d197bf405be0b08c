/**
 * Wrong client secrets, counted for each application and address in the database; from which too many came, that application is not heard for a
 * while. From elsewhere its right secret works all the same, and costs no more than a look into this process's memory.
 */
import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { TooManyFailuresHere } from './errors.ts';

/** Applications at addresses that a process remembers as not heard. */
const MOST_BARRED = 10_000;

export interface WrongSecretsParts {
  /** What counts as one address. */
  addressOf(req: IncomingMessage): string;
  /** @returns seconds for which the application is not heard from there any more; undefined: it is */
  count(clientId: string, address: string): Promise<number | undefined>;
}

export class WrongSecrets {
  /** Epoch milliseconds of the end. */
  readonly #barred = new LRUCache<string, number>({ max: MOST_BARRED });

  constructor(readonly parts: WrongSecretsParts) {}

  /**
   * Judges the answer to a client that had to prove itself, before it leaves and before anything is written: while it is barred a right secret
   * looks like a wrong one. Another process learns of it by the next wrong one that it is sent.
   * @throws {TooManyFailuresHere}
   */
  async judge(ctx: KoaContextWithOIDC): Promise<void> {
    const client = ctx.oidc?.client;
    if (client === undefined || client.tokenEndpointAuthMethod === 'none') return;
    const address = this.parts.addressOf(ctx.req);
    const key = `${client.clientId} ${address}`;
    const until = this.#barred.get(key);
    if (until !== undefined && until > Date.now()) throw refusal(ctx, Math.ceil((until - Date.now()) / 1000));
    if (ctx.status !== 401 || (ctx.body as { error?: unknown }).error !== 'invalid_client') return;
    const seconds = await this.parts.count(client.clientId, address);
    if (seconds === undefined) return;
    this.#barred.set(key, Date.now() + seconds * 1000);
    throw refusal(ctx, seconds);
  }
}

function refusal(ctx: KoaContextWithOIDC, seconds: number): TooManyFailuresHere {
  ctx.remove('WWW-Authenticate');
  return new TooManyFailuresHere(seconds);
}
