/**
 * The cookie by which a browser is known again after a sign-in: random, for one year. It signs nobody in; anyone who holds it has only a count of wrong
 * passwords of its own. Stored as a digest (OWASP Blocking Brute Force Attacks, "Device Cookies").
 */
import type { IncomingMessage } from 'node:http';
import type Koa from 'koa';
import { LIFETIMES } from '../../../config/defaults.ts';
import type { Config } from '../config/config.ts';
import { randomToken } from '../crypto/secrets.ts';

const RANDOM_TOKEN = /^[A-Za-z0-9_-]{43}$/;

const nameOf = ({ secure }: Config): string => (secure ? '__Host-gatehouse-device' : 'gatehouse-device');

/** @returns the browser's value; undefined when it has none */
export function deviceOf(ctx: Koa.Context, config: Config): string | undefined {
  const value = ctx.cookies.get(nameOf(config), { signed: false });
  return value !== undefined && RANDOM_TOKEN.test(value) ? value : undefined;
}

/** A value for a browser that has none yet. */
export const newDevice = (): string => randomToken();

const given = new WeakMap<IncomingMessage, string>();

/** @returns the browser's value, or for one that has none the value that it is to be given: the same for the whole request */
export function browserDevice(ctx: Koa.Context, config: Config): string {
  const device = deviceOf(ctx, config) ?? given.get(ctx.req) ?? newDevice();
  given.set(ctx.req, device);
  return device;
}

/** Gives the browser its value, for another year. */
export function keepDevice(ctx: Koa.Context, config: Config, value: string): void {
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = config.secure;
  ctx.cookies.set(nameOf(config), value, {
    signed: false,
    httpOnly: true,
    secure: config.secure,
    sameSite: 'lax',
    path: '/',
    maxAge: LIFETIMES.device * 1000,
    overwrite: true,
  });
}
