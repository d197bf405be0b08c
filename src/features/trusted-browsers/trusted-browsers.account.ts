/** The browsers that a user trusts, on `/account/security`, where the user can end the trust. */
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { redirectAfterChange } from '../../pages/account/page.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import type { Language } from '../../platform/i18n/messages.ts';
import { dayOf } from '../../platform/i18n/times.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { ownChange } from '../sign-in/fresh-sign-in.hosted.ts';
import { endOwnTrust, listOwnTrustedBrowsers } from './trusted-browsers.service.ts';

/** Data shown on the page. */
export async function trustedBrowsersOn({ services }: AccountDeps, { text }: Language, userId: string) {
  const browsers = await listOwnTrustedBrowsers(services, userId);
  return {
    trustedBrowsers: browsers.map(({ id, userAgent, ipAddress, lastUsed, expiresAt }) => ({
      id,
      name: browserName(userAgent) ?? text('account.sessions.unknown'),
      address: ipAddress,
      used: lastUsed && dayOf(lastUsed),
      until: dayOf(expiresAt),
    })),
  };
}

/** POST /account/security/end-trust: one of the user's own. It removes access, so no recent sign-in is required. */
export const endTrust = ownChange<AccountDeps>(async (deps, ctx, { accountId }, form) => {
  const ended = await endOwnTrust(deps.services, accountId, form.get('browser') ?? '', visitor(ctx, deps.config));
  redirectAfterChange(ctx, 'security', ended ? 'trust-ended' : 'trust-gone');
}, 'security');
