/** Where a sign-in continues after an e-mail code, and the address of the page for the code. */
import type Koa from 'koa';
import { carryOn } from '../../pages/hosted/carried-parameters.ts';
import { browserDevice, keepDevice } from '../../platform/http/device-cookie.ts';
import { seeOther } from '../../platform/http/forms.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { keepStateToken, pathOfPlace, type SignInPlace } from '../sign-in/sign-in-place.hosted.ts';
import type { CodePlace } from './email-codes.service.ts';

export const codePlaceOf = (ctx: Koa.Context, place: SignInPlace): CodePlace => {
  const path = pathOfPlace(place);
  return { path, query: carryOn(ctx, path).slice(path.length) };
};

/** Leads on to the page on which the code is typed. @param stateToken of the code */
export async function waitForCode(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace, stateToken: string): Promise<void> {
  keepDevice(ctx, deps.config, browserDevice(ctx, deps.config));
  keepStateToken(deps, ctx, pathOfPlace(place), stateToken);
  seeOther(ctx, carryOn(ctx, pathOfPlace(place)));
}
