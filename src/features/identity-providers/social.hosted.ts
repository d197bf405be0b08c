/**
 * Sign-in by an external provider during an interaction. upstream-redirect.hosted.ts handles the redirects, and the services upstream-*.ts validate
 * the response.
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { DOMAIN_PARAMETER, parameterOf, SECURITY_PAGE, withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { domainOfAddress } from '../../platform/dns/domain-name.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import type { Pages } from '../../platform/http/views.ts';
import { providersOfDomain } from '../organization-providers/home-realm.service.ts';
import { continueSignIn } from '../sign-in/continue-sign-in.hosted.ts';
import { reauthentication } from '../sign-in/fresh-sign-in.hosted.ts';
import { type InteractionDetails, InteractionEnded, type SignInDeps } from '../sign-in/interactions.hosted.ts';
import type { SignInPlace } from '../sign-in/sign-in-place.hosted.ts';
import { UpstreamFailure } from './upstream-failure.service.ts';
import { offeredProvider } from './upstream-offers.service.ts';
import { explainProblem, wantsToChoose } from './upstream-problem.hosted.ts';
import {
  addressOut,
  CALLBACK_PARAMETERS,
  consumeCallback,
  linksTo,
  type ProviderLink,
  showContinuePage,
} from './upstream-redirect.hosted.ts';
import { canReauthenticate } from './upstream-request.policy.ts';
import { recordUpstreamFailure, signInUpstream } from './upstream-sign-in.service.ts';
import { transactionAddress, transactionPath } from './upstream-transaction.hosted.ts';

/** RFC 8176 has no value for this; other services use this one. A second factor at the provider does not replace one here. */
const FEDERATED_AMR: readonly string[] = ['fed'];

const LONGEST = 4096;

/**
 * Redirects to the provider that the application has named, or that the domain of `login_hint` requires.
 * @returns false if there is none, or the user wants to choose
 */
export async function redirectToNamedProvider(deps: SignInDeps, ctx: Koa.Context, details: InteractionDetails): Promise<boolean> {
  const { idp } = details.upstream ?? {};
  if (idp === undefined)
    return details.loginHint !== undefined && (await redirectToHomeProvider(deps, ctx, details, details.loginHint)) === undefined;
  if (wantsToChoose(ctx)) return false;
  await begin(deps, ctx, details, idp);
  return true;
}

/**
 * Home-realm discovery: redirects to the provider that the domain of the user name requires. No user is looked up: the result is the same for the
 * whole domain, with or without an account.
 * @returns undefined after a redirect; otherwise the domain's providers, if none is required or the user wants to choose
 */
export async function redirectToHomeProvider(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  username: string,
): Promise<readonly ProviderLink[] | undefined> {
  const domain = domainOfAddress(username);
  const found = await providersOfDomain(deps.services, domain);
  const [first] = found;
  if (!first?.isRequired || wantsToChoose(ctx)) return linksTo(ctx, place, found, domain);
  await begin(deps, ctx, place, first.id, { username, domain });
  return undefined;
}

/**
 * GET …/upstream/:idp: starts the sign-in of a provider's button. A link from another site only shows the sign-in page, so that nobody is signed in
 * without noticing.
 */
export async function beginUpstream(deps: SignInDeps, ctx: RouterContext, place: SignInPlace): Promise<void> {
  if (ctx.get('Sec-Fetch-Site') === 'cross-site') return seeOther(ctx, withCarriedParameters(ctx, transactionPath(place)));
  await begin(deps, ctx, place, ctx.params.idp ?? '', { domain: parameterOf(ctx, DOMAIN_PARAMETER) });
}

/** Submitted form. */
interface Typed {
  readonly username?: string;
  readonly domain?: string | undefined;
}

async function begin(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  idpId: string,
  { username, domain }: Typed = {},
): Promise<void> {
  const preferences = place === 'standalone' ? undefined : place.upstream;
  const provider = await offeredProvider(deps.services, idpId, preferences, domain);
  if (provider === undefined) return explainProblem(deps, ctx, place, undefined, 'not-offered');
  const { loginHint = username, display, uiLocales } = place === 'standalone' ? {} : place;
  const idpScope = preferences?.idp === idpId ? preferences.idpScope : undefined;
  // Before a change of their own account, users must authenticate again at the provider: its session does not show who uses the browser.
  const mustReauthenticate =
    place === 'standalone' && canReauthenticate(provider.type) && (await reauthentication(deps, ctx)) !== undefined;
  const maxAge = mustReauthenticate ? 0 : preferences?.maxAge;
  const options = { loginHint, display, uiLocales, idpScope, maxAge };
  const kept = { ...(maxAge !== undefined && { maxAge }), ...(domain !== undefined && { domain }) };
  await explaining(deps, ctx, place, provider, async () =>
    seeOther(ctx, (await addressOut(deps, ctx, provider, place, options, kept)).href),
  );
}

/**
 * The provider's redirect URI, by GET or POST (OAuth 2.0 Form Post Response Mode). A page then continues to the place by a navigation of our own: a
 * cross-site post has no cookies of the browser (SameSite=Lax), and a provider's page may forbid further redirects of its form (CSP `form-action`).
 */
export async function receiveUpstream(pages: Pages, ctx: RouterContext): Promise<void> {
  const sent = ctx.method === 'POST' ? await readForm(ctx) : new URLSearchParams(ctx.querystring);
  const address = transactionAddress(sent.get('state') ?? '');
  if (address === undefined) throw new InteractionEnded('expired');
  const { path, query } = address;
  query.set('idp', ctx.params.idp ?? '');
  for (const name of CALLBACK_PARAMETERS) {
    const values = sent.getAll(name);
    // RFC 6749 section 3.1: parameters must not be repeated.
    const [value] = values.length === 1 ? values : [];
    if (value !== undefined && value.length <= LONGEST) query.set(name, value);
  }
  await showContinuePage(pages, ctx, `${path}?${query}`, path.startsWith(SECURITY_PAGE) ? 'connected.title' : 'sign-in.title');
}

/** GET …/upstream: handles the provider's response. */
export async function finishUpstream(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<void> {
  const { services, upstream } = deps;
  const taken = await consumeCallback(deps, ctx, place);
  if (taken === undefined) return explainProblem(deps, ctx, place, undefined, 'over');
  const { kept, response } = taken;
  const provider = await offeredProvider(services, kept.idpId, place === 'standalone' ? undefined : place.upstream, kept.domain);
  if (provider === undefined) return explainProblem(deps, ctx, place, undefined, 'not-offered');
  await explaining(deps, ctx, place, provider, async () => {
    const identity = await upstream.identify(provider, kept, response);
    const user = await signInUpstream(services, provider, identity, visitor(ctx, deps.config));
    await continueSignIn(deps, ctx, place, { user, amr: FEDERATED_AMR, authenticatedAt: user.authenticatedAt, idp: provider.id });
  });
}

/** Shows provider errors in plain words and records them in the audit log. */
async function explaining(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  provider: { readonly id: string; readonly name: string },
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    deps.services.log.warn({ err: error, idpId: provider.id }, 'a sign-in with an identity provider failed');
    await recordUpstreamFailure(deps.services, provider, error, visitor(ctx, deps.config));
    await explainProblem(deps, ctx, place, provider.name, error.problem);
  }
}
