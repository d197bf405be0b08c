/** Place of a sign-in: an authorization request, or standalone. A cookie of the place stores the state token between steps. */
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import type { StepFrame } from '../second-factors/factor-pages.hosted.ts';
import type { Purpose } from '../second-factors/second-factor-requirement.service.ts';
import type { InteractionDetails, SignInDeps } from './interactions.hosted.ts';

/** A sign-in for an authorization request, or standalone at `/signin`. */
export type SignInPlace = InteractionDetails | 'standalone';

export const pathOfPlace = (place: SignInPlace): string =>
  place === 'standalone' ? '/signin' : `/interaction/${place.serverId}/${place.uid}`;

/** Purpose of the sign-in. */
export const purposeOf = (place: SignInPlace): Purpose =>
  place === 'standalone'
    ? {}
    : {
        applicationId: place.application.id,
        applicationRequires: place.applicationRequires,
        organizationRequires: place.organizationRequires,
        acrValues: place.acrValues ?? [],
      };

export const goalOf = (place: SignInPlace) => ({ place: pathOfPlace(place), enrolls: true, ...purposeOf(place) });

/** Frame of the pages after the first one. */
export const signInFrame = (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): StepFrame => {
  const path = pathOfPlace(place);
  const action = (step: string) => withCarriedParameters(ctx, `${path}/${step}`);
  const common = { action, hidden: deps.formTokens.field(ctx) };
  if (place === 'standalone') return common;
  const { application, organizationRequires, redirectOrigins, uiLocales } = place;
  return { ...common, application, organizationRequires, redirectOrigins, uiLocales, cancel: action('cancel') };
};

const COOKIE = 'gatehouse-sign-in';

export const stateTokenOf = ({ config }: SignInDeps, ctx: Koa.Context): string => cookieIn(ctx, COOKIE, config.secure, '/signin') ?? '';

/** @param path of the place @param stateToken undefined: removes the cookie */
export function keepStateToken(deps: SignInDeps, ctx: Koa.Context, path: string, stateToken: string | undefined): void {
  const seconds = stateToken === undefined ? 0 : LIFETIMES.signInStep;
  writeCookie(ctx, deps.config.secure, { name: COOKIE, value: stateToken ?? '', path, seconds });
}
