/**
 * A finished sign-in as the result page carries it from action to action, sealed in a hidden field: what was sent, what came back, and the
 * tokens in hand. The names of tokens are the pages' own; `front-` are those that came through the browser beside newer ones.
 */
import { z } from 'zod';
import { type Sealer, sealing } from '../platform/crypto/sealed.ts';
import type { Keys } from '../platform/crypto/secrets.ts';
import { TRANSACTION_SECONDS } from '../platform/http/transactions.ts';
import { choices } from './choices.ts';
import { exchange } from './exchange.ts';

export const TOKENS = ['id-token', 'access-token', 'refresh-token', 'front-id-token', 'front-access-token'] as const;
export type TokenName = (typeof TOKENS)[number];

/** Names with values, in the order they came. */
const fields = z.array(z.tuple([z.string(), z.string()]));
export type SessionFields = z.infer<typeof fields>;

const session = z.object({
  choices,
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

/** What the token endpoint gave replaces what is in hand; what came through the browser is kept beside it. */
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
