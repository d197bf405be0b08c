/**
 * The part of `/account/security` where a signed-in user connects his accounts at external providers, and disconnects them. Each attempt is his browser's
 * and his own: whoever is signed in when the answer comes must be he who asked (login CSRF: RFC 9700 section 4.7). The way out and back is social.ts.
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import type { AccountHouse } from '../../pages/account/account-house.ts';
import { doneWith, framedOn } from '../../pages/account/page.ts';
import type { Framed } from '../../pages/hosted/framed.ts';
import type { House } from '../../pages/hosted/house.ts';
import { visitor } from '../../pages/hosted/visitor.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { findPerson } from '../administrators/administrators.service.ts';
import { change } from '../sign-in/fresh-sign-in.hosted.ts';
import { isFresh } from '../sign-in/fresh-sign-in.service.ts';
import type { User } from '../users/users.resource.ts';
import { connectOwn, disconnectOwn, isOnlyWay, ownLinks, recordConnectionFailure } from './own-links.service.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';
import { offeredProvider } from './upstream-offers.service.ts';
import { explainProblem } from './upstream-problem.hosted.ts';
import { addressOut, showOnward, takeAnswer } from './upstream-way.hosted.ts';

/** What the page shows of them. */
export async function accountsOn({ services }: House, user: User, day: (at: Date) => string) {
  const { connected, others } = await ownLinks(services, user.id);
  return {
    connected: await Promise.all(
      connected.map(async ({ idpId, name, knownAs, created, lastUsed }) => ({
        ...{ id: idpId, name, knownAs, since: day(created), lastUsed: lastUsed && day(lastUsed) },
        onlyWay: await isOnlyWay(services.database.knex, user, idpId),
      })),
    ),
    others: others.map(({ id, name }) => ({ id, name })),
  };
}

/** POST /account/security/connect: out to the provider, by a page of our own, since the form may lead nowhere else (CSP `form-action`). */
export const connectAccount = change<AccountHouse>(async (house, ctx, session, form) => {
  const { accountId: userId } = session;
  const framed = framedOn(house, ctx, 'security', session);
  const provider = await offeredProvider(house.services, form.get('idp') ?? '');
  if (provider === undefined) return explainProblem(house, ctx, 'account', undefined, 'not-offered', framed);
  const { lang } = pageLanguage(ctx);
  await explaining(house, ctx, { provider, userId, framed }, async () => {
    const out = await addressOut(house, ctx, provider, 'account', { uiLocales: lang }, { userId });
    await showOnward(house.pages, ctx, out.href, 'connected.title');
  });
});

/** GET /account/security/upstream: what the provider has answered. */
export async function finishConnection(house: AccountHouse, ctx: RouterContext): Promise<void> {
  const { services, upstream } = house;
  const session = await house.sessions.current(ctx.req, ctx.res);
  const framed = session && framedOn(house, ctx, 'security', session);
  const taken = await takeAnswer(house, ctx, 'account');
  if (taken === undefined) return explainProblem(house, ctx, 'account', undefined, 'over', framed);
  const { kept, answer } = taken;
  const { userId } = kept;
  // Fresh was asked for when it was begun; who has signed in otherwise, or set a second factor up since, has to show that he is still he.
  if (userId === undefined || session?.accountId !== userId || !(await isFresh(house, session, kept.begun)))
    return explainProblem(house, ctx, 'account', undefined, 'other-session', framed);
  const provider = await offeredProvider(services, kept.idpId);
  if (provider === undefined) return explainProblem(house, ctx, 'account', undefined, 'not-offered', framed);
  await explaining(house, ctx, { provider, userId, framed }, async () => {
    await connectOwn(services, provider.id, await upstream.identify(provider, kept, answer), userId, visitor(ctx, house.config));
    doneWith(ctx, 'security', 'connected');
  });
}

/** POST /account/security/disconnect */
export const disconnectAccount = change<AccountHouse>(async (house, ctx, session, form) => {
  try {
    const ended = await disconnectOwn(house.services, form.get('idp') ?? '', session.accountId, visitor(ctx, house.config));
    doneWith(ctx, 'security', ended ? 'disconnected' : 'disconnected-already');
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await explainProblem(house, ctx, 'account', undefined, error.problem, framedOn(house, ctx, 'security', session));
  }
});

interface Attempt {
  readonly provider: { readonly id: string; readonly name: string };
  readonly userId: string;
  readonly framed: Framed | undefined;
}

/** What goes wrong with a provider is told in plain words, and kept in the audit log. */
async function explaining(house: House, ctx: Koa.Context, { provider, userId, framed }: Attempt, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    house.services.log.warn({ err: error, idpId: provider.id }, 'an account at an identity provider could not be connected');
    const user = await findPerson(house.services, userId);
    if (user !== undefined) await recordConnectionFailure(house.services, provider, error, user, visitor(ctx, house.config));
    await explainProblem(house, ctx, 'account', provider.name, error.problem, framed);
  }
}
