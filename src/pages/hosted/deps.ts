/** Dependencies of all pages for end users, and the sender of a request, for the audit log and e-mails. */

import type Koa from 'koa';
import { NOBODY, type RequestContext } from '../../features/audit/audit-event.policy.ts';
import { createUpstream, type Upstream } from '../../features/identity-providers/upstream-exchange.service.ts';
import type { UpstreamCall } from '../../features/identity-providers/upstream-metadata.service.ts';
import { type StoredTransaction, upstreamTransactions } from '../../features/identity-providers/upstream-transaction.hosted.ts';
import { type PasskeyChallenges, passkeyChallenges } from '../../features/passkeys/passkey-forms.hosted.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { browserDevice, trustTokensOf } from '../../platform/http/cookies.ts';
import { createFormTokens, type FormTokens } from '../../platform/http/csrf.ts';
import { clientAddress, isForwarded, requestId } from '../../platform/http/requests.ts';
import type { Transactions } from '../../platform/http/transactions.ts';
import type { Pages } from '../../platform/http/views.ts';
import { languageForPage } from '../../platform/i18n/page-language.ts';
import type { BrowserSessions } from './sessions.ts';

/** Request context before sign-in. */
export const visitor = (ctx: Koa.Context, config: Config): RequestContext => ({
  actor: NOBODY,
  ipAddress: clientAddress(ctx.req, config.trustProxy),
  userAgent: ctx.get('User-Agent'),
  requestId: requestId(ctx.req),
  isForwarded: isForwarded(ctx.headers),
  language: languageForPage(ctx).lang,
  device: browserDevice(ctx, config),
  trustTokens: trustTokensOf(ctx, config),
});

/** Dependencies to create the pages. */
interface HostedDepsInput {
  readonly services: Services;
  readonly sessions: BrowserSessions;
  readonly pages: Pages;
  readonly config: Config;
  /** HTTP client for external providers. */
  readonly outbound: UpstreamCall;
}

/** Dependencies of each page. */
export interface HostedDeps extends Omit<HostedDepsInput, 'outbound'> {
  readonly formTokens: FormTokens;
  readonly passkeyChallenges: PasskeyChallenges;
  readonly upstream: Upstream;
  readonly upstreamTransactions: Transactions<StoredTransaction>;
}

export function createHostedDeps({ outbound, ...dependencies }: HostedDepsInput): HostedDeps {
  const { config, services } = dependencies;
  return {
    ...dependencies,
    formTokens: createFormTokens(config, services.keyring),
    passkeyChallenges: passkeyChallenges(services.keyring),
    upstream: createUpstream(services, outbound),
    upstreamTransactions: upstreamTransactions(config, services.keyring),
  };
}
