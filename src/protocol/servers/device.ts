/**
 * ID of the browser in which a refresh token was obtained, for introspection (`device_id`): derived from the device cookie, which is never revealed.
 * The code keeps it from the authorization request to its exchange, and refresh tokens pass it on; grants without a browser get their own.
 */
import type { Context } from 'koa';
import type { Config } from '../../platform/config/config.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { browserDevice, deviceOf, keepDevice, newDevice } from '../../platform/http/device-cookie.ts';
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { requestStateOf } from '../storage/request-state.ts';

const deviceIdOf = (device: string): string => digest(`device_id ${device}`).slice(0, 22);

/** The id of the browser that answers an interaction; one that has no cookie yet is given it with that answer. */
export const answeringDeviceId = (ctx: Context, config: Config): string => deviceIdOf(browserDevice(ctx, config));

/** The id of no browser that is known. */
export const freshDeviceId = (): string => deviceIdOf(newDevice());

/**
 * Takes note of the browser of an authorization request.
 * @returns to be called once it is answered: a browser without the cookie is given one, if it was given a code
 */
export function deviceCookie(ctx: KoaContextWithOIDC, config: Config): () => void {
  const known = deviceOf(ctx, config);
  const device = known ?? newDevice();
  const request = requestStateOf(ctx);
  if (request !== undefined) request.deviceId = deviceIdOf(device);
  // Cross-site posts come without cookies (SameSite=Lax): an existing cookie must not be replaced.
  const isLacking = known === undefined && ctx.method === 'GET';
  return () => {
    const isGranted = request?.writes.inserts.some(({ model }) => model === 'AuthorizationCode');
    if (isLacking && isGranted) keepDevice(ctx, config, device);
  };
}
