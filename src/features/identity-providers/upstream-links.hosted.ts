/** The external providers that a sign-in page offers, each as a link that begins a sign-in there; which they are is the application's to narrow. */
import type Koa from 'koa';
import { beginningAt, carryOn } from '../../pages/hosted/carried-parameters.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { SignInPlace } from '../sign-in/sign-in-place.hosted.ts';
import { offeredProviders } from './upstream-offers.service.ts';
import { transactionPath } from './upstream-transaction.hosted.ts';

export interface ProviderLink {
  readonly name: string;
  readonly href: string;
}

export async function providerLinks(services: Services, ctx: Koa.Context, place: SignInPlace): Promise<readonly ProviderLink[]> {
  const offered = await offeredProviders(services, place === 'standalone' ? undefined : place.upstream);
  return linksTo(ctx, place, offered);
}

/** @param domain that has led to them @returns a link for each, that begins a sign-in there */
export const linksTo = (
  ctx: Koa.Context,
  place: SignInPlace,
  providers: readonly { readonly id: string; readonly name: string }[],
  domain?: string,
): readonly ProviderLink[] =>
  providers.map(({ id, name }) => ({ name, href: carryOn(ctx, beginningAt(`${transactionPath(place)}/upstream/${id}`, domain)) }));
