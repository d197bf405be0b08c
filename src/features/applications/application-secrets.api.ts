/** `apps/{id}/credentials/secrets`: two secrets can be valid at once, so that an application can change its secret without an outage. */
import { z } from 'zod';
import { type Endpoint, endpoint, listing } from '../../api/endpoint.ts';
import { idParams, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { createSecret, deleteSecret, getSecret, listApplicationSecrets, setSecretStatus } from './application-secrets.service.ts';
import { clientSecret } from './application-settings.service.ts';
import type { SecretFacts, SecretStatus } from './applications.resource.ts';

/** Without its value. */
const secret = z.object({
  id: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE']).meta({ description: 'An inactive secret is refused' }),
  created: time,
  lastUpdated: time,
  lastUsed: time.nullable().meta({ description: 'Accurate to two minutes' }),
});

const path = '/apps/:id/credentials/secrets';
const secretParams = idParams.extend({ secretId: z.string().min(1) });

const changeStatus = (step: string, status: SecretStatus): Endpoint =>
  endpoint({
    method: 'POST',
    path: `${path}/:secretId/lifecycle/${step}`,
    access: 'service',
    summary:
      status === 'ACTIVE' ? 'Make a secret ACTIVE' : 'Make a secret INACTIVE: it is refused. The last active secret cannot be deactivated',
    params: secretParams,
    response: secret,
    handler: async ({ services, params, request }) => present(await setSecretStatus(services, params.id, params.secretId, status, request)),
  });

export const appSecrets: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path,
    access: 'service',
    summary: 'Create a second secret; it is returned only once',
    params: idParams,
    body: z.strictObject({ client_secret: clientSecret.optional() }),
    bodyOptional: true,
    response: secret.extend({ client_secret: z.string() }),
    status: 201,
    handler: async ({ services, params, body, request }) => {
      const { value, ...facts } = await createSecret(services, params.id, body.client_secret, request);
      return { ...present(facts), client_secret: value };
    },
  }),
  listing({
    path,
    access: 'service',
    summary: 'List the secrets, the oldest first, without their values',
    params: idParams,
    item: secret,
    handler: async ({ services, params, query }) => inPages((await listApplicationSecrets(services, params.id)).map(present), query),
  }),
  endpoint({
    method: 'GET',
    path: `${path}/:secretId`,
    access: 'service',
    summary: 'Read a secret, without its value',
    params: secretParams,
    response: secret,
    handler: async ({ services, params }) => present(await getSecret(services, params.id, params.secretId)),
  }),
  endpoint({
    method: 'DELETE',
    path: `${path}/:secretId`,
    access: 'service',
    summary: 'Delete a secret. The last active secret cannot be deleted',
    params: secretParams,
    handler: ({ services, params, request }) => deleteSecret(services, params.id, params.secretId, request),
  }),
  changeStatus('activate', 'ACTIVE'),
  changeStatus('deactivate', 'INACTIVE'),
];

const present = ({ id, status, created, lastUsed }: SecretFacts): z.input<typeof secret> => ({
  id,
  status,
  created: writeTime(created),
  lastUpdated: writeTime(created),
  lastUsed: writeTimeOrNull(lastUsed),
});
