/**
 * A sign-in at an external provider starts and continues in an authorization request, at `/signin` or at `/account/security`. The `state` sent
 * through the provider names that place, so that a returning browser can be sent there or, if it is too late, to the application. It proves nothing:
 * a sealed cookie proves that the response belongs to this browser and this interaction (RFC 9700 section 4.7).
 */
import { z } from 'zod';
import { APPLICATION_PARAMETER, SECURITY_PAGE } from '../../pages/hosted/carried-parameters.ts';
import type { ApplicationFacts } from '../../pages/hosted/page-models.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import { type Transactions, transactionCookies, transactionFields } from '../../platform/http/transactions.ts';

const transaction = z.object({
  ...transactionFields,
  idpId: z.string(),
  /** Path of the place; the response works nowhere else. */
  place: z.string(),
  /** Epoch seconds. */
  begun: z.number(),
  maxAge: z.number().optional(),
  /** The typed domain that led to the provider. */
  domain: z.string().optional(),
  /** User whose account is being connected. */
  userId: z.string().optional(),
});

/** A pending authorization request, as far as a sign-in at a provider needs it. */
interface RequestUnderWay {
  readonly serverId: string;
  readonly uid: string;
  readonly application: ApplicationFacts;
  readonly uiLocales?: string;
  readonly redirectOrigins: readonly string[];
}

/** `account`: a signed-in user connects an account. `setup`: a customer's administrator tests the provider. */
export type UpstreamPlace = RequestUnderWay | 'standalone' | 'account' | 'setup';

export type StoredTransaction = z.output<typeof transaction>;

/** One cookie per pending sign-in, for ten minutes, not on cross-site posts. */
export const upstreamTransactions = ({ secure }: Config, keyring: Keyring): Transactions<StoredTransaction> =>
  transactionCookies({
    kind: 'upstream',
    schema: transaction,
    keys: keyring.keysOf('gatehouse upstream sign-ins'),
    prefix: 'gatehouse-upstream-',
    path: '/',
    secure,
  });

export function transactionPath(place: UpstreamPlace): string {
  if (place === 'account') return SECURITY_PAGE;
  if (place === 'setup') return '/setup';
  return place === 'standalone' ? '/signin' : `/interaction/${place.serverId}/${place.uid}`;
}

/** @param random unguessable, names the cookie */
export function stateFor(random: string, place: UpstreamPlace): string {
  if (place === 'account' || place === 'setup') return `${random}.${place}`;
  if (place === 'standalone') return random;
  // The state must use characters that every provider accepts, whatever the application ID contains.
  return [random, place.serverId, place.uid, Buffer.from(place.application.id).toString('base64url')].join('.');
}

const STATE = /^([A-Za-z0-9_-]{43})(?:\.(account|setup)|\.([a-z0-9][a-z0-9_-]{0,63})\.([A-Za-z0-9_-]{1,64})\.([A-Za-z0-9_-]{1,140}))?$/;

/** @returns the unguessable part */
export const randomOf = (state: string): string | undefined => STATE.exec(state)?.[1];

/** @returns the URL of the place's page for responses, with the application for the link back; undefined if the state is not from this service */
export function transactionAddress(state: string): { readonly path: string; readonly query: URLSearchParams } | undefined {
  const found = STATE.exec(state);
  if (found === null) return undefined;
  const [, , account, server, uid, application] = found;
  if (account !== undefined) return { path: `${transactionPath(account as 'account' | 'setup')}/upstream`, query: new URLSearchParams() };
  if (server === undefined || uid === undefined || application === undefined)
    return { path: '/signin/upstream', query: new URLSearchParams() };
  const id = Buffer.from(application, 'base64url').toString();
  return { path: `/interaction/${server}/${uid}/upstream`, query: new URLSearchParams({ [APPLICATION_PARAMETER]: id }) };
}
