/**
 * The application `playground`: registered while the playground is on, inactive while it is off. It may use every response type. Its redirect
 * URI follows BASE_URL, and its settings this file, so it is brought up to date at every start.
 */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../clock.ts';
import { ApiError } from '../errors.ts';
import { findApplicationWithSecrets, updateApplication } from '../store/applications.ts';
import { createApplication, secretContext } from './applications.ts';
import { recordEvent, SYSTEM } from './audit.ts';
import type { Services } from './dependencies.ts';

const ID = 'playground';

const settingsFor = (baseUrl: string) => ({
  application_type: 'web' as const,
  token_endpoint_auth_method: 'client_secret_basic' as const,
  pkce_required: true,
  redirect_uris: [`${baseUrl}/playground/callback`],
  post_logout_redirect_uris: [`${baseUrl}/playground`],
  grant_types: ['authorization_code' as const, 'implicit' as const, 'refresh_token' as const],
  // Words in alphabetical order, as they are stored.
  response_types: ['code', 'id_token', 'token', 'id_token token', 'code id_token', 'code token', 'code id_token token'],
  client_uri: `${baseUrl}/playground`,
});

/** Registers the playground, or puts it to rest. Several processes may do this at once. */
export async function registerPlayground(services: Services): Promise<void> {
  const { database, config, notifications } = services;
  const wanted = settingsFor(config.baseUrl);
  const found = await findApplicationWithSecrets(database.knex, ID);
  if (found === undefined) {
    if (config.playground)
      await createApplication(services, { id: ID, label: 'Playground', settings: wanted, system: true }, SYSTEM).catch(ifTaken);
    return;
  }
  const status = config.playground ? 'ACTIVE' : 'INACTIVE';
  const { application } = found;
  const settings = { ...application.settings, ...wanted };
  if (application.status === status && isDeepStrictEqual(application.settings, settings)) return;
  await database.transaction(async (trx) => {
    await updateApplication(trx, ID, { status, settings, lastUpdated: present() });
    await recordEvent(trx, {
      eventType: 'application.lifecycle.update',
      displayMessage: 'Update application',
      request: SYSTEM,
      targets: [{ id: ID, type: 'AppInstance', displayName: application.label }],
      before: { status: application.status, settings: application.settings },
      after: { status, settings },
    });
    await notifications.publish(trx, { kind: 'application', id: ID });
  });
}

/** @returns undefined while the playground is not registered */
export async function playgroundClient(services: Services): Promise<{ clientId: string; clientSecret: string } | undefined> {
  const found = await findApplicationWithSecrets(services.database.knex, ID);
  const [newest] = found?.sealedSecrets ?? [];
  if (found?.application.status !== 'ACTIVE' || newest === undefined) return undefined;
  return { clientId: ID, clientSecret: services.keyring.open(newest.sealed, secretContext(newest.id)) };
}

/** Another process was faster. */
function ifTaken(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 409) throw error;
}
