/** The external providers that a sign-in page offers, each as a link that begins a sign-in there; which they are is the application's to narrow. */
import type Koa from 'koa';
import { placeOf } from '../hosted/upstream-place.ts';
import { carryOn } from '../hosted/way.ts';
import type { Services } from '../services/dependencies.ts';
import { offeredProviders } from '../services/upstream-offers.ts';
import type { Place } from './continue-sign-in.ts';

export interface ProviderLink {
  readonly name: string;
  readonly href: string;
}

export async function providerLinks(services: Services, ctx: Koa.Context, place: Place): Promise<readonly ProviderLink[]> {
  const offered = await offeredProviders(services, place === 'standalone' ? undefined : place.upstream);
  return offered.map(({ id, name }) => ({ name, href: carryOn(ctx, `${placeOf(place)}/upstream/${id}`) }));
}
