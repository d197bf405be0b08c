/**
 * A sign-in that a user left to choose a password: the browser remembers it, and after they have chosen one with the mailed link, it continues to the
 * application. The link itself does not contain it. The stored values are read only as names of an interaction, never as an address, and the
 * interaction's own cookie decides its owner.
 */
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import { APPLICATION_PARAMETER } from '../../pages/hosted/carried-parameters.ts';
import { cookieIn, prefixed } from '../../platform/http/cookies.ts';
import type { InteractionDetails, SignInDeps } from './interactions.hosted.ts';

const COOKIE = 'gatehouse-left';
/** Target of the mailed link. */
const PATH = '/choose-password';
const NAMES = /^([\w-]{1,100})\/([\w-]{1,100})$/;

/** The sign-in page is shown from which its user may go to look for their password. */
export const rememberSignIn = (
  { config }: SignInDeps,
  ctx: Koa.Context,
  { serverId, uid }: Pick<InteractionDetails, 'serverId' | 'uid'>,
): void => keep(ctx, config.secure, `${serverId}/${uid}`, LIFETIMES.resetLink);

interface LeftSignIn extends Pick<InteractionDetails, 'redirectOrigins'> {
  /** Address to continue at. */
  readonly address: string;
}

/** @returns the sign-in that this browser left, where it still waits */
export async function leftSignIn({ config, interactions }: SignInDeps, ctx: Koa.Context): Promise<LeftSignIn | undefined> {
  const [, serverId, uid] = NAMES.exec(cookieIn(ctx, COOKIE, config.secure, PATH) ?? '') ?? [];
  const application = serverId === undefined || uid === undefined ? undefined : await interactions.waiting(serverId, uid);
  if (application === undefined) return undefined;
  const { applicationId, redirectOrigins } = application;
  return { address: `/interaction/${serverId}/${uid}?${new URLSearchParams({ [APPLICATION_PARAMETER]: applicationId })}`, redirectOrigins };
}

/** It is remembered no more. */
export function forgetSignIn({ config }: SignInDeps, ctx: Koa.Context): void {
  if (cookieIn(ctx, COOKIE, config.secure, PATH) !== undefined) keep(ctx, config.secure, '', 0);
}

/** @param seconds 0: takes the cookie away */
function keep(ctx: Koa.Context, secure: boolean, value: string, seconds: number): void {
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  const attributes = { signed: false, httpOnly: true, secure, sameSite: 'lax', path: PATH, overwrite: true } as const;
  ctx.cookies.set(prefixed(COOKIE, secure, PATH), value, { ...attributes, maxAge: seconds * 1000 });
}
