/**
 * Rotation of an application's secret without refused requests: create a second secret, configure it in the application, delete the first.
 * client_secret_basic and client_secret_post accept both secrets; methods that sign with the secret use the newest one.
 */

import { randomToken } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { notFound, wrongState } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { clientUsesSecret } from './application-settings.policy.ts';
import type { SecretFacts, SecretStatus } from './applications.resource.ts';
import { applicationTarget, changeApplication, getApplication } from './applications.service.ts';
import { deleteSecrets, listSealedSecrets, listSecrets, updateSecretStatus } from './applications.store.ts';
import { applicationSecretContext, keepSecret } from './sealed-secrets.service.ts';

const MOST_SECRETS = 2;

/**
 * @param chosen by an administrator; absent: generated
 * @returns the secret, which is returned only once and stored sealed
 * @throws {ApiError} not found; wrong state: the authentication method uses no secret, there are already two, or it is an application of
 * the service itself
 */
export async function createSecret(
  services: Services,
  applicationId: string,
  chosen: string | undefined,
  request: RequestContext,
): Promise<SecretFacts & { readonly value: string }> {
  const value = chosen ?? randomToken();
  return changeApplication(services, applicationId, async (trx, application) => {
    if (!clientUsesSecret(application.settings))
      throw wrongState('the token_endpoint_auth_method of the application does not use a secret. Change the method first');
    const present = await listSecrets(trx, applicationId);
    if (present.length >= MOST_SECRETS) throw wrongState('the application already has two secrets. Delete one first');
    const secret = await keepSecret(services, trx, applicationId, value);
    await recordEvent(trx, {
      eventType: 'application.oauth2.client_secret.create',
      displayMessage: 'Create client secret',
      request,
      targets: [applicationTarget(application)],
      after: { secretId: secret.id },
    });
    return { ...secret, value };
  });
}

/** Oldest first. @throws {ApiError} not found */
export async function listApplicationSecrets(services: Services, applicationId: string): Promise<SecretFacts[]> {
  await getApplication(services, applicationId);
  return listSecrets(services.database.knex, applicationId);
}

/** Last four characters of each secret by ID, to identify the secrets of an application. */
export async function listSecretEndings(
  { database, keyring }: Pick<Services, 'database' | 'keyring'>,
  applicationId: string,
): Promise<ReadonlyMap<string, string>> {
  const secrets = await listSealedSecrets(database.knex, applicationId);
  return new Map(secrets.map(({ id, sealed }) => [id, keyring.open(sealed, applicationSecretContext(id)).slice(-4)]));
}

/** @throws {ApiError} not found: application or secret */
export async function getSecret(services: Services, applicationId: string, secretId: string): Promise<SecretFacts> {
  const found = (await listApplicationSecrets(services, applicationId)).find(({ id }) => id === secretId);
  if (found === undefined) throw notFound(secretId, 'ClientSecret');
  return found;
}

/**
 * An inactive secret is refused and can be activated again, to test a deletion.
 * @throws {ApiError} not found: application or secret; wrong state: it is the last active one, or an application of the service itself
 */
export async function setSecretStatus(
  services: Services,
  applicationId: string,
  secretId: string,
  status: SecretStatus,
  request: RequestContext,
): Promise<SecretFacts> {
  return changeApplication(services, applicationId, async (trx, application) => {
    const isChanged = await updateSecretStatus(trx, applicationId, secretId, status);
    const secrets = await listSecrets(trx, applicationId);
    const secret = secrets.find(({ id }) => id === secretId);
    if (secret === undefined) throw notFound(secretId, 'ClientSecret');
    if (!isChanged) return secret;
    requireActive(secrets);
    const [step, verb] = status === 'ACTIVE' ? (['activate', 'Activate'] as const) : (['deactivate', 'Deactivate'] as const);
    await recordEvent(trx, {
      eventType: `application.oauth2.client_secret.${step}`,
      displayMessage: `${verb} client secret`,
      request,
      targets: [applicationTarget(application)],
      before: { secretId, status: status === 'ACTIVE' ? 'INACTIVE' : 'ACTIVE' },
      after: { secretId, status },
    });
    return secret;
  });
}

function requireActive(secrets: readonly SecretFacts[]): void {
  if (!secrets.some(({ status }) => status === 'ACTIVE'))
    throw wrongState('this is the last active secret of the application. Add or activate another one first');
}

/** @throws {ApiError} not found: application or secret; wrong state: it is the last active one, or an application of the service itself */
export async function deleteSecret(services: Services, applicationId: string, secretId: string, request: RequestContext): Promise<void> {
  await changeApplication(services, applicationId, async (trx, application) => {
    if ((await deleteSecrets(trx, applicationId, secretId)) === 0) throw notFound(secretId, 'ClientSecret');
    requireActive(await listSecrets(trx, applicationId));
    await recordEvent(trx, {
      eventType: 'application.oauth2.client_secret.delete',
      displayMessage: 'Delete client secret',
      request,
      targets: [applicationTarget(application)],
      before: { secretId },
    });
  });
}
