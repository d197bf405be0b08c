/** Actions for the tokens of a finished sign-in, one request each: refresh, introspect, revoke, userinfo. */
import { type Phrase, phrase, type Text } from '../platform/i18n/phrase.ts';
import type { ShownExchange } from './exchange.ts';
import { ERRORS } from './glossary.ts';
import type { ServerAccess } from './relying-party.ts';
import { type PlaygroundSession, TOKENS, type TokenName, withTokens } from './session.ts';

const VERBS = ['refresh', 'userinfo', 'introspect', 'revoke'] as const;
export type ActionVerb = (typeof VERBS)[number];

/** Result of an action. */
export interface ActionResult {
  readonly verb: ActionVerb;
  readonly title: Text;
  /** Meaning of the response. */
  readonly summary: Text;
  readonly exchange: ShownExchange;
}

/** Titles of the tokens. */
export const TOKEN_TITLES: Readonly<Record<TokenName, string>> = {
  'id-token': 'ID token',
  'access-token': 'Access token',
  'refresh-token': 'Refresh token',
  'front-id-token': 'ID token from the authorization response',
  'front-access-token': 'Access token from the authorization response',
};

/** The same inside a sentence. */
const NAMES: Readonly<Record<TokenName, string>> = {
  'id-token': 'ID token',
  'access-token': 'access token',
  'refresh-token': 'refresh token',
  'front-id-token': 'ID token from the authorization response',
  'front-access-token': 'access token from the authorization response',
};

/** `id_token`, `access_token` or `refresh_token` (RFC 7009 section 2.1; `id_token` is this service's). */
const hintFor = (name: TokenName): string => name.replace('front-', '').replace('-', '_');

/** Actions of a token, in the order of their buttons. */
export function verbsFor(name: TokenName): readonly ActionVerb[] {
  if (name.endsWith('id-token')) return ['introspect'];
  return name === 'refresh-token' ? ['refresh', 'introspect', 'revoke'] : ['userinfo', 'introspect', 'revoke'];
}

/** @param action `introspect access-token` @returns undefined if this sign-in's page has no such button */
export function readAction(
  action: string | null,
  session: PlaygroundSession,
): { verb: ActionVerb; name: TokenName; token: string } | undefined {
  const [first, second] = action?.split(' ') ?? [];
  const name = TOKENS.find((known) => known === second);
  const verb = name && verbsFor(name).find((known) => known === first);
  const token = name && session.tokens[name];
  return verb === undefined || name === undefined || token === undefined ? undefined : { verb, name, token };
}

const send: Readonly<Record<ActionVerb, (server: ServerAccess, token: string, name: TokenName) => Promise<ShownExchange>>> = {
  refresh: (server, token) => server.refresh(token),
  userinfo: (server, token) => server.userinfo(token),
  introspect: (server, token, name) => server.introspect(token, hintFor(name)),
  revoke: (server, token, name) => server.revoke(token, hintFor(name)),
};

const TITLES: Readonly<Record<ActionVerb, (token: Phrase) => Text>> = {
  refresh: () => 'The refresh token, exchanged for new tokens',
  userinfo: () => 'Userinfo, asked for again',
  introspect: (token) => phrase('Introspection of the {token}', { token }),
  revoke: (token) => phrase('Revocation of the {token}', { token }),
};

/** The sentence above the raw answer. */
function summarise(verb: ActionVerb, { status, members }: ShownExchange): string {
  if (typeof members?.error === 'string') return ERRORS[members.error]?.[0] ?? 'The server refused.';
  if (status !== 200) return 'The server refused.';
  if (verb === 'refresh') return 'The new tokens replaced the old ones on this page, without a question to you.';
  if (verb === 'userinfo') return 'The access token was valid. This is the server’s data about you.';
  if (verb === 'introspect' && members?.active === true) return 'The token is active. An API can rely on it and its permissions.';
  if (verb === 'introspect') return 'The token is not active. It expired, was revoked or never issued; the server does not say which.';
  return 'The server answers 200 without a body, even for a token that it never issued, so the response reveals nothing. Introspect the token to see that it is inactive. The other tokens stay valid.';
}

/** Sends the request. @returns the result and the updated sign-in @throws {ProtocolProblem} without a response */
export async function act(
  server: ServerAccess,
  before: PlaygroundSession,
  { verb, name, token }: { verb: ActionVerb; name: TokenName; token: string },
): Promise<{ readonly happened: ActionResult; readonly after: PlaygroundSession }> {
  const exchange = await send[verb](server, token, name);
  const title = TITLES[verb](phrase(NAMES[name]));
  return { happened: { verb, title, summary: summarise(verb, exchange), exchange }, after: apply(before, verb, name, exchange) };
}

function apply(before: PlaygroundSession, verb: ActionVerb, name: TokenName, exchange: ShownExchange): PlaygroundSession {
  if (exchange.status !== 200) return before;
  if (verb === 'refresh') return withTokens(before, exchange.members ?? {});
  if (verb === 'userinfo') return { ...before, userinfoExchange: exchange };
  if (verb === 'revoke') return { ...before, revoked: [...new Set([...before.revoked, name])] };
  return before;
}
