/**
 * The service's own applications: the playground and the admin console, which sign in like any other application. Their redirect URIs
 * follow BASE_URL and their settings this file, so they are updated at every start. One that is switched off is inactive.
 */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { ApiError } from '../../platform/errors/errors.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { type ApplicationSettings, SYSTEM_APPLICATIONS, type SystemApplicationId } from './application-settings.policy.ts';
import type { Application } from './applications.resource.ts';
import { createApplication } from './applications.service.ts';
import { findApplicationWithSecrets, updateApplicationRow } from './applications.store.ts';
import { applicationSecretContext } from './sealed-secrets.service.ts';

interface SystemApplication {
  readonly label: string;
  /** Path of the application. */
  readonly path: string;
  isOn(config: Config): boolean;
  readonly flows: Pick<ApplicationSettings, 'grant_types' | 'response_types'>;
}

const APPLICATIONS: Readonly<Record<SystemApplicationId, SystemApplication>> = {
  playground: {
    label: 'Playground',
    path: '/playground',
    isOn: (config) => config.playground,
    flows: {
      grant_types: ['authorization_code', 'implicit', 'refresh_token'],
      // Words in alphabetical order, as in the database.
      response_types: ['code', 'id_token', 'token', 'id_token token', 'code id_token', 'code token', 'code id_token token'],
    },
  },
  console: {
    label: 'Admin console',
    path: '/admin',
    isOn: () => true,
    flows: { grant_types: ['authorization_code'], response_types: ['code'] },
  },
};

const settingsFor = ({ path, flows }: SystemApplication, baseUrl: string) => ({
  application_type: 'web' as const,
  token_endpoint_auth_method: 'client_secret_basic' as const,
  pkce_required: true,
  redirect_uris: [`${baseUrl}${path}/callback`],
  post_logout_redirect_uris: [baseUrl + path],
  client_uri: baseUrl + path,
  ...flows,
});

/** Registers or deactivates the service's applications. Several processes can do this concurrently. */
export async function registerSystemApplications(services: Services): Promise<void> {
  for (const id of SYSTEM_APPLICATIONS) await register(services, id);
}

/** @throws another application has the ID */
async function register(services: Services, id: SystemApplicationId): Promise<void> {
  const { database, config } = services;
  const declared = APPLICATIONS[id];
  const wanted = settingsFor(declared, config.baseUrl);
  const status = declared.isOn(config) ? 'ACTIVE' : 'INACTIVE';
  const found = await findApplicationWithSecrets(database.knex, id);
  // Its owner knows the secret, so it cannot be adopted.
  if (found?.application.system === false)
    throw new Error(`the application ${id} is not the service's own: delete it with the version before`);
  if (found !== undefined) return bringUpToDate(services, found.application, wanted, status);
  if (status === 'ACTIVE')
    await createApplication(services, { id, label: declared.label, settings: wanted, system: true }, SYSTEM).catch(ifTaken);
}

async function bringUpToDate(
  { database, notifications }: Services,
  application: Application,
  wanted: Partial<ApplicationSettings>,
  status: Application['status'],
): Promise<void> {
  const { id, label } = application;
  const settings = { ...application.settings, ...wanted };
  if (application.status === status && isDeepStrictEqual(application.settings, settings)) return;
  await database.transaction(async (trx) => {
    await updateApplicationRow(trx, id, { status, settings, lastUpdated: present() });
    await recordEvent(trx, {
      eventType: 'application.lifecycle.update',
      displayMessage: 'Update application',
      request: SYSTEM,
      targets: [{ id, type: 'AppInstance', displayName: label }],
      before: { status: application.status, settings: application.settings },
      after: { status, settings },
    });
    await notifications.publish(trx, { kind: 'application', id });
  });
}

/** ID and secret of one of the service's applications. */
export interface SystemClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** @returns undefined if the application is not registered or inactive */
export async function systemClient(services: Services, id: SystemApplicationId): Promise<SystemClient | undefined> {
  const found = await findApplicationWithSecrets(services.database.knex, id);
  const [newest] = found?.sealedSecrets ?? [];
  if (found?.application.status !== 'ACTIVE' || newest === undefined) return undefined;
  return { clientId: id, clientSecret: services.keyring.open(newest.sealed, applicationSecretContext(newest.id)) };
}

/** Another process was faster. */
function ifTaken(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 409) throw error;
}
