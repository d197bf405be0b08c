/** What can be done with applications: the clients of OAuth (RFC 6749 section 2). */
import { present } from '../clock.ts';
import { conflict, notFound, validation } from '../errors.ts';
import { completeSettings, type GivenSettings, type SettingProblem, settingProblems, usesSecret } from '../policy/application-settings.ts';
import { newId, randomToken } from '../secrets.ts';
import { type Application, findApplicationById, insertApplication, insertSecret } from '../store/applications.ts';
import { credentialFields } from './application-settings.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { isPrintable } from './text.ts';

export interface NewApplication {
  /** The client_id; absent: generated. */
  readonly id?: string | undefined;
  readonly label: string;
  /** Absent: generated, if the authentication method uses one. */
  readonly secret?: string | undefined;
  readonly settings: GivenSettings;
  /** Belongs to the service itself and may not be deleted. */
  readonly system?: boolean;
}

/** The context in which a secret's row is sealed and opened. */
export const secretContext = (secretId: string): string => `application_secret:${secretId}`;

/**
 * @returns the application and its secret, which is told this once and stored sealed; undefined where the method uses none
 * @throws {ApiError} validation when the settings contradict each other, conflict when the id is taken
 */
export async function createApplication(
  services: Services,
  input: NewApplication,
  request: RequestContext,
): Promise<{ readonly application: Application; readonly secret: string | undefined }> {
  const settings = completeSettings(input.settings);
  const problems = settingProblems(settings, input.secret !== undefined);
  if (problems.length > 0) throw validation(problems.map(({ setting, message }) => ({ field: fieldOf(setting), message })));

  const now = present();
  const { id = newId('app'), label, system = false } = input;
  const application: Application = { id, label, status: 'ACTIVE', system, settings, created: now, lastUpdated: now };
  const secret = usesSecret(settings) ? (input.secret ?? randomToken()) : undefined;

  await services.database.transaction(async (trx) => {
    if (!(await insertApplication(trx, application))) {
      throw conflict({ field: fieldOf('client_id'), message: 'another application has this id' });
    }
    if (secret !== undefined) {
      const secretId = newId('sec');
      await insertSecret(trx, id, { id: secretId, sealed: services.keyring.seal(secret, secretContext(secretId)) }, now);
    }
    await recordEvent(trx, {
      eventType: 'application.lifecycle.create',
      displayMessage: 'Create application',
      request,
      targets: [{ id, type: 'AppInstance', displayName: label }],
      after: { label, status: application.status, settings },
    });
    await services.notifications.publish(trx, { kind: 'application', id });
  });
  services.notifications.announce({ kind: 'application', id });
  return { application, secret };
}

/** @throws {ApiError} not found */
export async function getApplication(services: Services, id: string): Promise<Application> {
  const application = isPrintable(id) ? await findApplicationById(services.database.knex, id) : undefined;
  if (application === undefined) throw notFound(id, 'Application');
  return application;
}

/** Where the API has a setting in its body. */
function fieldOf(setting: SettingProblem['setting'] | 'client_id'): string {
  const isCredential = setting === 'client_id' || setting === 'client_secret' || setting in credentialFields;
  return `${isCredential ? 'credentials' : 'settings'}.oauthClient.${setting}`;
}
