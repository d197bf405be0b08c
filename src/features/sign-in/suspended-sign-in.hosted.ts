/**
 * A sign-in that a user left to choose a password: the browser stores it, and after they have chosen one with the mailed link, it continues
 * to the application. The link itself does not contain it. The stored values are used only as names of an interaction, never as a URL, and
 * the interaction's own cookie decides its owner.
 */
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import { APPLICATION_PARAMETER } from '../../pages/hosted/carried-parameters.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import type { InteractionDetails, SignInDeps } from './interactions.hosted.ts';

const COOKIE = 'gatehouse-left';
/** Target of the mailed link. */
const PATH = '/choose-password';
const NAMES = /^([\w-]{1,100})\/([\w-]{1,100})$/;

/** Stores the sign-in of this page, because its user may leave it to choose a password. */
export const rememberSignIn = (
  { config }: SignInDeps,
  ctx: Koa.Context,
  { serverId, uid }: Pick<InteractionDetails, 'serverId' | 'uid'>,
): void => keep(ctx, config.secure, `${serverId}/${uid}`, LIFETIMES.resetLink);

interface LeftSignIn extends Pick<InteractionDetails, 'redirectOrigins'> {
  /** URL to continue at. */
  readonly address: string;
}

/** @returns the sign-in that was left in this browser, if it is still pending */
export async function leftSignIn({ config, interactions }: SignInDeps, ctx: Koa.Context): Promise<LeftSignIn | undefined> {
  const [, serverId, uid] = NAMES.exec(cookieIn(ctx, COOKIE, config.secure, PATH) ?? '') ?? [];
  const application = serverId === undefined || uid === undefined ? undefined : await interactions.waiting(serverId, uid);
  if (application === undefined) return undefined;
  const { applicationId, redirectOrigins } = application;
  return { address: `/interaction/${serverId}/${uid}?${new URLSearchParams({ [APPLICATION_PARAMETER]: applicationId })}`, redirectOrigins };
}

/** Removes the stored sign-in. */
export function forgetSignIn({ config }: SignInDeps, ctx: Koa.Context): void {
  if (cookieIn(ctx, COOKIE, config.secure, PATH) !== undefined) keep(ctx, config.secure, '', 0);
}

/** @param seconds 0: deletes the cookie */
const keep = (ctx: Koa.Context, secure: boolean, value: string, seconds: number): void =>
  writeCookie(ctx, secure, { name: COOKIE, value, path: PATH, seconds });
