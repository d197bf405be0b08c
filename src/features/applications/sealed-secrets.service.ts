/** Stored client secrets of applications, each sealed in its own context. */
import { present } from '../../platform/clock/clock.ts';
import { newId, randomToken, sameSecret } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { type ApplicationSettings, clientUsesSecret } from './application-settings.policy.ts';
import { settingField } from './application-settings.service.ts';
import type { Application, SecretFacts } from './applications.resource.ts';
import { deleteSecrets, findApplicationWithSecrets, insertSecret } from './applications.store.ts';

/** The context in which a secret is sealed. */
export const applicationSecretContext = (secretId: string): string => `application_secret:${secretId}`;

/** Stores a sealed secret as the application's newest. */
export async function keepSecret({ keyring }: Services, trx: Executor, applicationId: string, secret: string): Promise<SecretFacts> {
  const facts = { id: newId('sec'), status: 'ACTIVE', created: present(), lastUsed: null } as const;
  await insertSecret(trx, applicationId, { id: facts.id, sealed: keyring.seal(secret, applicationSecretContext(facts.id)) }, facts.created);
  return facts;
}

/** Creates the secret that new settings require, or removes the secrets. @returns a newly created secret to show */
export async function syncSecrets(
  services: Services,
  trx: Executor,
  before: Application,
  settings: ApplicationSettings,
  given: string | undefined,
): Promise<string | undefined> {
  if (!clientUsesSecret(settings)) {
    await deleteSecrets(trx, before.id);
    return undefined;
  }
  if (!clientUsesSecret(before.settings)) {
    const secret = given ?? randomToken();
    await keepSecret(services, trx, before.id, secret);
    return secret;
  }
  // Clients may send back the application as it was created, including its secret. That is not a change.
  if (given !== undefined && !(await isSecretOf(services, trx, before.id, given))) {
    throw validation([{ field: settingField('client_secret'), message: 'cannot be changed here. Use credentials/secrets' }]);
  }
  return undefined;
}

async function isSecretOf({ keyring }: Services, trx: Executor, id: string, secret: string): Promise<boolean> {
  const found = await findApplicationWithSecrets(trx, id);
  return (found?.sealedSecrets ?? []).some((kept) => sameSecret(keyring.open(kept.sealed, applicationSecretContext(kept.id)), secret));
}
