/**
 * Redirects to an external provider and back: out with state, nonce and PKCE, back with a response that works once and only at the place that
 * requested it (RFC 9700 sections 4.4, 4.5 and 4.7; RFC 9207).
 */
import type Koa from 'koa';
import { beginningAt, parameterOf, withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import { epochSeconds } from '../../platform/clock/clock.ts';
import { randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { SignInPlace } from '../sign-in/sign-in-place.hosted.ts';
import type { IdentityProvider } from './identity-providers.resource.ts';
import { claimResponse } from './upstream-exchange.service.ts';
import { offeredProviders } from './upstream-offers.service.ts';
import type { UpstreamRequestOptions } from './upstream-request.policy.ts';
import { randomOf, type StoredTransaction, stateFor, transactionPath, type UpstreamPlace } from './upstream-transaction.hosted.ts';

// The external providers that a sign-in page offers, each as a link that starts a sign-in there. An application can limit the list.

export interface ProviderLink {
  readonly name: string;
  readonly href: string;
}

export async function providerLinks(services: Services, ctx: Koa.Context, place: SignInPlace): Promise<readonly ProviderLink[]> {
  const offered = await offeredProviders(services, place === 'standalone' ? undefined : place.upstream);
  return linksTo(ctx, place, offered);
}

/** @param domain that led to the providers @returns a link to each provider, which starts a sign-in there */
export const linksTo = (
  ctx: Koa.Context,
  place: SignInPlace,
  providers: readonly { readonly id: string; readonly name: string }[],
  domain?: string,
): readonly ProviderLink[] =>
  providers.map(({ id, name }) => ({
    name,
    href: withCarriedParameters(ctx, beginningAt(`${transactionPath(place)}/upstream/${id}`, domain)),
  }));

/** Parameters of a response (RFC 6749 section 4.1.2, RFC 9207). Free text from the provider is ignored. */
export const CALLBACK_PARAMETERS = ['code', 'state', 'iss', 'error'] as const;

/**
 * Starts a sign-in at the provider, and stores it in the browser.
 * @returns the URL to redirect to
 * @throws {UpstreamFailure}
 */
export async function addressOut(
  deps: HostedDeps,
  ctx: Koa.Context,
  provider: IdentityProvider,
  place: UpstreamPlace,
  options: UpstreamRequestOptions,
  kept: Pick<StoredTransaction, 'maxAge' | 'domain' | 'userId'>,
): Promise<URL> {
  const random = randomToken();
  const transaction = { nonce: randomToken(), codeVerifier: randomToken(), begun: epochSeconds(), ...kept };
  const url = await deps.upstream.authorizationUrl(provider, { ...transaction, state: stateFor(random, place) }, options);
  await deps.upstreamTransactions.remember(ctx, { ...transaction, state: random, idpId: provider.id, place: transactionPath(place) });
  return url;
}

/** A page that redirects automatically, or by its link. */
export async function showContinuePage(pages: Pages, ctx: Koa.Context, next: string, title: MessageKey): Promise<void> {
  const language = pageLanguage(ctx);
  const heading = language.text(title);
  await pages.render(ctx, 'upstream-return', { ...language, languages: [], title: heading, heading, next });
  ctx.set('Refresh', `0;url=${next}`);
}

interface TakenResponse {
  readonly response: URLSearchParams;
  /** The stored transaction of this browser, with the full state as received. */
  readonly kept: StoredTransaction;
}

/**
 * @returns undefined unless the sign-in was started in this browser, at this place, with this provider, and the response was not used yet. Of
 * concurrent responses, one succeeds
 */
export async function consumeCallback(deps: HostedDeps, ctx: Koa.Context, place: UpstreamPlace): Promise<TakenResponse | undefined> {
  const response = new URLSearchParams();
  for (const name of CALLBACK_PARAMETERS) {
    const value = parameterOf(ctx, name);
    if (value !== undefined) response.set(name, value);
  }
  const state = response.get('state') ?? '';
  const random = randomOf(state);
  if (random === undefined || state !== stateFor(random, place)) return undefined;
  const kept = await deps.upstreamTransactions.take(ctx, random);
  if (kept === undefined || kept.place !== transactionPath(place) || kept.idpId !== parameterOf(ctx, 'idp')) return undefined;
  return (await claimResponse(deps.services, random)) ? { response, kept: { ...kept, state } } : undefined;
}
