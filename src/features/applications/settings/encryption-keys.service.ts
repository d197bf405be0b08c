/** Encryption keys at a `jwks_uri`, selected like the library does. */
import { z } from 'zod';
import type { Config } from '../../../platform/config/config.ts';
import { sharedOutbound } from '../../../platform/http/outbound.ts';
import type { ApplicationSettings } from '../application-settings.policy.ts';
import { encryptedAlg, encryptionProblems, encryptsTo, RESPONSE_KINDS } from './algorithms.policy.ts';

const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(1000) });

/** @returns why responses of the application cannot be encrypted, each with its setting; none: they can */
export async function readEncryptionProblems(
  config: Pick<Config, 'allowPrivateNetwork'>,
  settings: ApplicationSettings,
): Promise<readonly string[]> {
  const { jwks_uri: uri } = settings;
  if (uri === undefined) return encryptionProblems(settings).map(({ setting, message }) => `${setting} ${message}`);
  const keys = await readKeys(config, uri);
  if (keys === undefined) return [`${uri} does not return a JSON Web Key Set`];
  return RESPONSE_KINDS.flatMap((kind) => {
    const alg = settings[encryptedAlg(kind)];
    return alg === undefined || keys.some((key) => encryptsTo(key, alg)) ? [] : [`${uri} has no key for ${encryptedAlg(kind)} ${alg}`];
  });
}

async function readKeys(config: Pick<Config, 'allowPrivateNetwork'>, uri: string) {
  try {
    const response = await sharedOutbound(config)(uri, { headers: { accept: 'application/json' } });
    const read = response.status === 200 ? keySet.safeParse(await response.json()) : undefined;
    if (read === undefined) await response.body?.cancel();
    return read?.data?.keys;
  } catch {
    return undefined;
  }
}
