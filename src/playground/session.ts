/**
 * A completed sign-in, which the result page passes from action to action, sealed in a hidden field: requests, responses and current tokens. Token
 * names are those of the pages; `front-` marks tokens that came through the browser. A pending sign-in is in a cookie.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Config } from '../platform/config/config.ts';
import { type Sealer, sealing } from '../platform/crypto/sealed.ts';
import type { Keys } from '../platform/crypto/secrets.ts';
import { isForwarded } from '../platform/http/requests.ts';
import { TRANSACTION_SECONDS, type Transactions, transactionCookies, transactionFields } from '../platform/http/transactions.ts';
import { choices } from './choices.ts';
import { exchange } from './exchange.ts';

export const TOKENS = ['id-token', 'access-token', 'refresh-token', 'front-id-token', 'front-access-token'] as const;
export type TokenName = (typeof TOKENS)[number];

/** Names with values, in the order they came. */
const fields = z.array(z.tuple([z.string(), z.string()]));
export type SessionFields = z.infer<typeof fields>;

const session = z.object({
  choices,
  /** Secret of a custom application. */
  secret: z.string().optional(),
  issuer: z.string(),
  nonce: z.string(),
  /** The authorization request, and the address it was sent to. */
  endpoint: z.string(),
  sent: fields,
  received: fields,
  receivedBy: z.enum(['query', 'fragment', 'form_post']),
  tokenExchange: exchange.optional(),
  userinfoExchange: exchange.optional(),
  tokens: z.partialRecord(z.enum(TOKENS), z.string()),
  revoked: z.array(z.enum(TOKENS)),
});
export type PlaygroundSession = z.infer<typeof session>;

export const sessionSeal = (keys: Keys): Sealer<PlaygroundSession> =>
  sealing({ kind: 'playground-session', schema: session, keys, seconds: TRANSACTION_SECONDS });

/** Tokens of the token endpoint replace current ones; those received through the browser are kept in addition. */
export function withTokens(before: PlaygroundSession, answer: Readonly<Record<string, unknown>>): PlaygroundSession {
  const tokens = { ...before.tokens };
  const renewed: TokenName[] = [];
  for (const [member, name] of [
    ['id_token', 'id-token'],
    ['access_token', 'access-token'],
    ['refresh_token', 'refresh-token'],
  ] as const) {
    const value = answer[member];
    if (typeof value !== 'string' || value === tokens[name]) continue;
    if (before.tokenExchange === undefined && tokens[name] !== undefined && name !== 'refresh-token')
      tokens[`front-${name}`] = tokens[name];
    tokens[name] = value;
    renewed.push(name);
  }
  return { ...before, tokens, revoked: before.revoked.filter((name) => !renewed.includes(name)) };
}

/** Does the playground exist for this request? */
export function isPresent(config: Pick<Config, 'playground' | 'loopback'>, headers: IncomingHttpHeaders): boolean {
  return config.playground && config.loopback && !isForwarded(headers);
}

const schema = z.object({ choices, secret: z.string().optional(), ...transactionFields });
export type Transaction = z.infer<typeof schema>;

/** @param options.secure is the service reached by https? */
export const playgroundTransactions = (options: { readonly keys: Keys; readonly secure: boolean }): Transactions<Transaction> =>
  transactionCookies({ ...options, kind: 'playground-transaction', schema, prefix: 'gatehouse_playground_', path: '/playground' });
