/** Schemas of the signing and encryption settings, and the check for encryption keys at a `jwks_uri`, which are selected as in the library. */
import { z } from 'zod';
import type { Config } from '../../../platform/config/config.ts';
import { sharedOutbound } from '../../../platform/http/outbound.ts';
import { SIGNING_ALGS } from '../../authorization-servers/signing-keys.policy.ts';
import type { ApplicationSettings } from '../application-settings.policy.ts';
import {
  CLIENT_ASSERTION_ALGS,
  ENCRYPTION_ALGS,
  ENCRYPTION_ENCS,
  encryptedAlg,
  encryptionProblems,
  encryptsTo,
  REQUEST_OBJECT_ALGS,
  RESPONSE_KINDS,
} from './algorithms.policy.ts';

const signed = (of: string, absent = "the authorization server's algorithm") =>
  z
    .enum(SIGNING_ALGS)
    .optional()
    .meta({ description: `Signing algorithm of ${of}; absent: ${absent}` });
const encrypted = (of: string) =>
  z
    .enum(ENCRYPTION_ALGS)
    .optional()
    .meta({
      description: `Key encryption algorithm of ${of}, with a key of the application with use enc; absent: they are not encrypted`,
    });
const contentEncryption = (of: string) =>
  z
    .enum(ENCRYPTION_ENCS)
    .optional()
    .meta({ description: `Content encryption algorithm of ${of}; absent: A128CBC-HS256` });

const RESPONSES = {
  id_token: 'ID and logout tokens',
  userinfo: 'userinfo responses',
  introspection: 'introspection responses as JWTs (RFC 9701)',
  authorization: 'authorization responses as JWTs (JARM, response_mode jwt)',
} as const;

export const responseFields = {
  id_token_signed_response_alg: signed(RESPONSES.id_token),
  id_token_encrypted_response_alg: encrypted(RESPONSES.id_token),
  id_token_encrypted_response_enc: contentEncryption(RESPONSES.id_token),
  userinfo_signed_response_alg: signed(RESPONSES.userinfo, 'they are JSON, unless they are encrypted'),
  userinfo_encrypted_response_alg: encrypted(RESPONSES.userinfo),
  userinfo_encrypted_response_enc: contentEncryption(RESPONSES.userinfo),
  introspection_signed_response_alg: signed(RESPONSES.introspection),
  introspection_encrypted_response_alg: encrypted(RESPONSES.introspection),
  introspection_encrypted_response_enc: contentEncryption(RESPONSES.introspection),
  authorization_signed_response_alg: signed(RESPONSES.authorization),
  authorization_encrypted_response_alg: encrypted(RESPONSES.authorization),
  authorization_encrypted_response_enc: contentEncryption(RESPONSES.authorization),
};

export const requestFields = {
  request_object_signing_alg: z.enum(REQUEST_OBJECT_ALGS).optional().meta({
    description: 'Required signing algorithm of its request objects; absent: any supported algorithm',
  }),
  token_endpoint_auth_signing_alg: z.enum(CLIENT_ASSERTION_ALGS).optional().meta({
    description: 'Required signing algorithm of its client assertions; absent: any algorithm that its method allows',
  }),
};

const keySet = z.object({ keys: z.array(z.record(z.string(), z.unknown())).max(1000) });

/** @returns each problem that prevents encrypted responses for the application, with its setting; empty: none */
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
