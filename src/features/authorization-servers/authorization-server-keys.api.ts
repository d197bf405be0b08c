/** `authorizationServers/{id}/credentials/…`: the public signing keys of a server (RFC 7517), and their rotation. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, time, writeTime } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import type { SigningKey } from './signing-keys.resource.ts';
import { getServerKey, listServerKeys, rotateSigningKeys } from './signing-keys.service.ts';

const member = z.string().exactOptional();
const key = z.object({
  kid: z.string(),
  status: z.enum(['NEXT', 'ACTIVE', 'RETIRED']),
  kty: z.string(),
  alg: z.string(),
  use: z.string(),
  /** RSA keys (RFC 7518 section 6.3.1). */
  n: member,
  e: member,
  /** Elliptic curve keys (RFC 7518 section 6.2.1). */
  crv: member,
  x: member,
  y: member,
  created: time,
  lastUpdated: time,
});

const path = '/authorizationServers/:id/credentials';

export const authorizationServerKeys: readonly Endpoint[] = [
  listing({
    path: `${path}/keys`,
    access: 'service',
    summary: 'List the signing keys, those in use first',
    params: idParams,
    item: key,
    handler: async ({ services, params, query }) => inPages((await listServerKeys(services, params.id)).map(present), query),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/keys/:keyId`,
    access: 'service',
    summary: 'Read a signing key',
    params: idParams.extend({ keyId: z.string().min(1) }),
    response: key,
    handler: async ({ services, params }) => present(await getServerKey(services, params.id, params.keyId)),
  }),
  endpoint({
    method: 'POST',
    path: `${path}/lifecycle/keyRotate`,
    access: 'service',
    summary: 'Rotate the signing keys: the next key signs; the previous one still verifies its tokens',
    params: idParams,
    body: z.strictObject({ use: z.literal('sig') }),
    response: z.array(key),
    handler: async ({ services, params, request }) => (await rotateSigningKeys(services, params.id, request)).map(present),
  }),
];

/** @returns more than the response shows, but no private members */
const present = ({ publicJwk, kid, alg, status, created, activated, retired }: SigningKey): z.input<typeof key> => ({
  ...(publicJwk as { kty: string; use: string }),
  kid,
  alg,
  status,
  created: writeTime(created),
  lastUpdated: writeTime(retired ?? activated ?? created),
});
