/**
 * Part of `/account/security` where users connect and disconnect accounts at external providers. An attempt belongs to the browser and user that
 * started it: the same user must be signed in when the response arrives (login CSRF: RFC 9700 section 4.7). Redirects are in social.hosted.ts.
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { AccountDeps } from '../../pages/account/account-deps.ts';
import { framedOn, redirectAfterChange } from '../../pages/account/page.ts';
import { type HostedDeps, visitor } from '../../pages/hosted/deps.ts';
import type { DrawInFrame } from '../../pages/hosted/page-models.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { dayOf } from '../../platform/i18n/times.ts';
import { findConsoleUser } from '../administrators/administrators.service.ts';
import { change } from '../sign-in/fresh-sign-in.hosted.ts';
import { isFreshSignIn } from '../sign-in/fresh-sign-in.service.ts';
import type { User } from '../users/users.resource.ts';
import { connectOwn, disconnectOwn, isOnlyWay, ownLinks, recordConnectionFailure } from './own-links.service.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';
import { connectableProvider } from './upstream-offers.service.ts';
import { explainProblem } from './upstream-problem.hosted.ts';
import { addressOut, consumeCallback, showContinuePage } from './upstream-redirect.hosted.ts';

/** Data shown on the page. */
export async function accountsOn({ services, config }: HostedDeps, ctx: Koa.Context, user: User) {
  const { connected, others } = await ownLinks(services, user.id);
  return {
    connected: await Promise.all(
      connected.map(async ({ idpId, name, knownAs, created, lastUsed }) => ({
        ...{ id: idpId, name, knownAs, since: dayOf(created), lastUsed: lastUsed && dayOf(lastUsed) },
        onlyWay: await isOnlyWay(services, services.database.knex, user, idpId, visitor(ctx, config)),
      })),
    ),
    others: others.map(({ id, name }) => ({ id, name })),
  };
}

/**
 * POST /account/security/connect: redirects to the provider with a page of this service, because the form cannot lead elsewhere (CSP `form-action`).
 */
export const connectAccount = change<AccountDeps>(async (deps, ctx, session, form) => {
  const { accountId: userId } = session;
  const framed = framedOn(deps, ctx, 'security', session);
  const provider = await connectableProvider(deps.services, form.get('idp') ?? '', userId);
  if (provider === undefined) return explainProblem(deps, ctx, 'account', undefined, 'not-offered', framed);
  const { lang } = pageLanguage(ctx);
  await explaining(deps, ctx, { provider, userId, framed }, async () => {
    const out = await addressOut(deps, ctx, provider, 'account', { uiLocales: lang }, { userId });
    await showContinuePage(deps.pages, ctx, out.href, 'connected.title');
  });
});

/** GET /account/security/upstream: handles the provider's response. */
export async function finishConnection(deps: AccountDeps, ctx: RouterContext): Promise<void> {
  const { services, upstream } = deps;
  const session = await deps.sessions.current(ctx.req, ctx.res);
  const framed = session && framedOn(deps, ctx, 'security', session);
  const taken = await consumeCallback(deps, ctx, 'account');
  if (taken === undefined) return explainProblem(deps, ctx, 'account', undefined, 'over', framed);
  const { kept, response } = taken;
  const { userId } = kept;
  // A recent sign-in was required at the start. Users who have since signed in differently, or added a second factor, must confirm again.
  if (userId === undefined || session?.accountId !== userId || !(await isFreshSignIn(deps, session, kept.begun)))
    return explainProblem(deps, ctx, 'account', undefined, 'other-session', framed);
  const provider = await connectableProvider(services, kept.idpId, userId);
  if (provider === undefined) return explainProblem(deps, ctx, 'account', undefined, 'not-offered', framed);
  await explaining(deps, ctx, { provider, userId, framed }, async () => {
    await connectOwn(services, provider.id, await upstream.identify(provider, kept, response), userId, visitor(ctx, deps.config));
    redirectAfterChange(ctx, 'security', 'connected');
  });
}

/** POST /account/security/disconnect */
export const disconnectAccount = change<AccountDeps>(async (deps, ctx, session, form) => {
  try {
    const ended = await disconnectOwn(deps.services, form.get('idp') ?? '', session.accountId, visitor(ctx, deps.config));
    redirectAfterChange(ctx, 'security', ended ? 'disconnected' : 'disconnected-already');
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await explainProblem(deps, ctx, 'account', undefined, error.problem, framedOn(deps, ctx, 'security', session));
  }
});

interface Attempt {
  readonly provider: { readonly id: string; readonly name: string };
  readonly userId: string;
  readonly framed: DrawInFrame | undefined;
}

/** Shows provider errors in plain words and records them in the audit log. */
async function explaining(
  deps: HostedDeps,
  ctx: Koa.Context,
  { provider, userId, framed }: Attempt,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    deps.services.log.warn({ err: error, idpId: provider.id }, 'could not connect an account at an identity provider');
    const user = await findConsoleUser(deps.services, userId);
    if (user !== undefined) await recordConnectionFailure(deps.services, provider, error, user, visitor(ctx, deps.config));
    await explainProblem(deps, ctx, 'account', provider.name, error.problem, framed);
  }
}
