/** Continues after authentication: the next step, or the end of the sign-in. */
import type Koa from 'koa';
import { beginningAt, withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { browserDevice, keepDevice, keepTrustToken } from '../../platform/http/cookies.ts';
import { seeOther } from '../../platform/http/forms.ts';
import { isAdministrator } from '../administrators/administrators.service.ts';
import { ProviderRequired } from '../organization-providers/home-realm.service.ts';
import { offerPasskey } from '../passkeys/passkey-offer.service.ts';
import { adoptLanguage } from '../users/own-language.hosted.ts';
import { addressOfPage, forgetPageAfterSignIn, pageAfterSignIn } from './fresh-sign-in.hosted.ts';
import type { SignInDeps } from './interactions.hosted.ts';
import type { FirstStep, PasswordCheck } from './sign-in.service.ts';
import { goalOf, keepStateToken, pathOfPlace, type SignInPlace, stateTokenOf } from './sign-in-place.hosted.ts';
import { afterFirstStep, byPassword, InvalidStateToken, keepFirstStep, type SignInStep } from './sign-in-steps.service.ts';

/** Target after a sign-in without an application: always a page of this service, never a URL of the query (open redirect, RFC 9700 section 4.11). */
export async function targetAfterSignIn(deps: SignInDeps, ctx: Koa.Context, userId: string): Promise<string> {
  const page = pageAfterSignIn(deps, ctx);
  if (page === undefined) return (await isAdministrator(deps.services, userId)) ? '/admin' : addressOfPage('');
  forgetPageAfterSignIn(deps, ctx);
  return addressOfPage(page);
}

/** Continues after the first step: to the next page, or to the end of the sign-in. */
export async function continueSignIn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, first: FirstStep): Promise<void> {
  const isFresh = place === 'standalone' && pageAfterSignIn(deps, ctx) !== undefined;
  await orRedirectToProvider(ctx, place, async () =>
    showNextStep(deps, ctx, place, await afterFirstStep(deps.services, first, { ...goalOf(place), isFresh }, visitor(ctx, deps.config))),
  );
}

/** Redirects a user who has authenticated, but not with the required provider, to that provider. */
export async function orRedirectToProvider(ctx: Koa.Context, place: SignInPlace, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ProviderRequired)) throw error;
    const { id, domain } = error.provider;
    seeOther(ctx, withCarriedParameters(ctx, beginningAt(`${pathOfPlace(place)}/upstream/${id}`, domain)));
  }
}

/** Continues after a correct password. @param again shows the first step, if the password was changed meanwhile */
export async function continueByPassword(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  checked: PasswordCheck,
  again: () => Promise<void>,
): Promise<void> {
  try {
    await continueSignIn(deps, ctx, place, byPassword(checked));
  } catch (error) {
    if (!(error instanceof InvalidStateToken)) throw error;
    await again();
  }
}

export async function showNextStep(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, step: SignInStep): Promise<void> {
  if (step.kind === 'done') {
    const offer = await offerPasskey(deps.services, step, pathOfPlace(place), visitor(ctx, deps.config));
    if (offer === undefined) return endHostedSignIn(deps, ctx, place, step);
    if (step.trust !== undefined) keepTrustToken(ctx, deps.config, step.trust.token, step.trust.days);
    return waitFor(deps, ctx, place, offer);
  }
  waitFor(deps, ctx, place, step.stateToken);
}

function waitFor(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): void {
  // Continues in this browser only.
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  seeOther(ctx, withCarriedParameters(ctx, pathOfPlace(place)));
}

export async function endHostedSignIn(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  step: SignInStep & { readonly kind: 'done' },
): Promise<void> {
  const { accountId, amr, authenticatedAt, idp, profile, trust } = step;
  await adoptLanguage(deps, ctx, accountId, profile);
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  if (trust !== undefined) keepTrustToken(ctx, deps.config, trust.token, trust.days);
  if (stateTokenOf(deps, ctx) !== '') keepStateToken(deps, ctx, pathOfPlace(place), undefined);
  if (place === 'standalone') {
    await deps.sessions.signIn(ctx.req, ctx.res, accountId, amr, idp);
    return seeOther(ctx, await targetAfterSignIn(deps, ctx, accountId));
  }
  const result = { login: { accountId, amr, ...(authenticatedAt && { authenticatedAt }), ...(idp !== undefined && { idp }) } };
  seeOther(ctx, withCarriedParameters(ctx, await deps.interactions.finish(ctx.req, ctx.res, place.serverId, place.uid, result)));
}

/** Redirects to the page that continues a sign-in whose first step was on this page. @param address path and query of this service */
export async function continueElsewhere(deps: SignInDeps, ctx: Koa.Context, address: string, first: FirstStep): Promise<void> {
  const [path = ''] = address.split('?');
  const stateToken = await keepFirstStep(deps.services, first, path, visitor(ctx, deps.config));
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, path, stateToken);
  seeOther(ctx, address);
}
