/** The sender of a request, for the audit log and e-mails. */
import type Koa from 'koa';
import { NOBODY, type RequestContext } from '../../features/audit/audit-event.policy.ts';
import type { Config } from '../../platform/config/config.ts';
import { browserDevice } from '../../platform/http/device-cookie.ts';
import { clientAddress, isForwarded, requestId } from '../../platform/http/requests.ts';
import { trustTokensOf } from '../../platform/http/trust-cookie.ts';
import { wishedLanguage } from '../../platform/i18n/page-language.ts';

/** Request context before sign-in. */
export const visitor = (ctx: Koa.Context, config: Config): RequestContext => ({
  actor: NOBODY,
  ipAddress: clientAddress(ctx.req, config.trustProxy),
  userAgent: ctx.get('User-Agent'),
  requestId: requestId(ctx.req),
  isForwarded: isForwarded(ctx.headers),
  language: wishedLanguage(ctx).lang,
  device: browserDevice(ctx, config),
  trustTokens: trustTokensOf(ctx, config),
});
