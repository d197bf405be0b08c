/** What every page for end users is given, in whichever wing it stands. */
import type { Config } from '../config.ts';
import { createFormTokens, type FormTokens } from '../http/csrf.ts';
import type { Pages } from '../http/pages.ts';
import type { Transactions } from '../http/transactions.ts';
import type { Services } from '../services/dependencies.ts';
import { createUpstream, type Upstream } from '../services/upstream-exchange.ts';
import type { UpstreamCall } from '../services/upstream-metadata.ts';
import { type PasskeyChallenges, passkeyChallenges } from './passkey-forms.ts';
import type { BrowserSessions } from './sessions.ts';
import { type KeptTransaction, upstreamTransactions } from './upstream-place.ts';

/** What the pages are built on. */
export interface HouseDependencies {
  readonly services: Services;
  readonly sessions: BrowserSessions;
  readonly pages: Pages;
  readonly config: Config;
  /** The way out, to external providers. */
  readonly outbound: UpstreamCall;
}

/** What each page is given. */
export interface House extends Omit<HouseDependencies, 'outbound'> {
  readonly formTokens: FormTokens;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly upstream: Upstream;
  readonly upstreamTransactions: Transactions<KeptTransaction>;
}

export function createHouse({ outbound, ...dependencies }: HouseDependencies): House {
  const { config, services } = dependencies;
  return {
    ...dependencies,
    formTokens: createFormTokens(config, services.keyring),
    passkeyChallenges: passkeyChallenges(services.keyring),
    upstream: createUpstream(services, outbound),
    upstreamTransactions: upstreamTransactions(config, services.keyring),
  };
}
