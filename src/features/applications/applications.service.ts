/** Operations on applications: OAuth clients (RFC 6749 section 2). */
import { present } from '../../platform/clock/clock.ts';
import { newId, randomToken } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { conflict, notFound, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { deleteClientState, deleteLeftOverClientState } from '../../protocol/storage/client-state.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { removeClientFromPolicies } from '../policies/policy-names.service.ts';
import { readSectorDocument, requireSector } from '../subjects/pairwise-subjects.service.ts';
import { requireProviders } from './application-providers.service.ts';
import type { ApplicationOrigin } from './application-settings.policy.ts';
import {
  type ApplicationSettings,
  clientUsesSecret,
  completeSettings,
  type GivenSettings,
  SYSTEM_APPLICATIONS,
  settingProblems,
} from './application-settings.policy.ts';
import { settingField } from './application-settings.service.ts';
import type { Application, ApplicationStatus } from './applications.resource.ts';
import {
  deleteApplicationRow as deleteRow,
  findApplicationById,
  insertApplication,
  lockApplication,
  updateApplicationRow as updateRow,
} from './applications.store.ts';
import { fapi2Problems } from './fapi2.policy.ts';
import { keepSecret, syncSecrets } from './sealed-secrets.service.ts';

export interface ApplicationInput {
  readonly label: string;
  /** Absent: generated, if the authentication method uses one and there is none. */
  readonly secret?: string | undefined;
  readonly settings: GivenSettings;
}

export interface NewApplication extends ApplicationInput {
  /** The client_id; absent: generated. */
  readonly id?: string | undefined;
  /** false: created INACTIVE. Default true. */
  readonly activate?: boolean | undefined;
  /** An application of the service itself, which can be neither changed nor deleted. */
  readonly system?: boolean;
  /** Default ADMIN. */
  readonly origin?: ApplicationOrigin;
  /** Absent: it did not register itself. */
  readonly registeredAt?: string;
  /** Default: never. */
  readonly expiresAt?: Date | null;
}

/** An application, and a newly created secret. The secret is shown once and stored encrypted. */
export interface ApplicationWithSecret {
  readonly application: Application;
  readonly secret: string | undefined;
}

/**
 * @param also further writes in the transaction
 * @throws {ApiError} validation: the settings contradict each other; conflict: the ID is taken
 */
export async function createApplication(
  services: Services,
  input: NewApplication,
  request: RequestContext,
  also?: (trx: Executor) => Promise<void>,
): Promise<ApplicationWithSecret> {
  const settings = settingsOf(input);
  requireSector(settings, await readSectorDocument(services, settings));
  const now = present();
  const { id = newId('app'), label, activate = true, system = false } = input;
  if (!system && (SYSTEM_APPLICATIONS as readonly string[]).includes(id))
    throw conflict({ field: settingField('client_id'), message: 'is reserved for an application of this service. Choose another ID' });
  const status = activate ? 'ACTIVE' : 'INACTIVE';
  const { origin = 'ADMIN', registeredAt = null, expiresAt = null } = input;
  const application: Application = {
    id,
    label,
    status,
    system,
    settings,
    origin,
    registeredAt,
    expiresAt,
    created: now,
    lastUpdated: now,
    lastUsed: null,
  };
  const secret = clientUsesSecret(settings) ? (input.secret ?? randomToken()) : undefined;

  await services.database.transaction(async (trx) => {
    await requireProviders(trx, settings);
    if (!(await insertApplication(trx, application))) {
      throw conflict({ field: settingField('client_id'), message: 'another application has this ID. Choose another ID' });
    }
    await also?.(trx);
    if (input.id !== undefined) await deleteClientState(trx, id);
    if (secret !== undefined) await keepSecret(services, trx, id, secret);
    await recordEvent(trx, {
      eventType: 'application.lifecycle.create',
      displayMessage: 'Create application',
      request,
      targets: [applicationTarget(application)],
      after: described(application),
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

/**
 * Replaces label and settings; absent ones return to their defaults. A new authentication method that uses a secret gets one, if there is
 * none; one without a secret deletes the secrets.
 * @param also further writes in the transaction
 * @throws {ApiError} not found; validation: the settings contradict each other; wrong state: an application of the service itself
 */
export async function updateApplication(
  services: Services,
  id: string,
  input: ApplicationInput,
  request: RequestContext,
  also?: (trx: Executor) => Promise<void>,
): Promise<ApplicationWithSecret> {
  return replace(services, id, input.settings, () => input, request, also);
}

/** New values of some settings; undefined: removed. */
export interface ApplicationChanges {
  readonly label?: string | undefined;
  readonly settings: GivenSettings;
}

/** Changes these settings and keeps the others, even if they change concurrently. @throws {ApiError} as updateApplication */
export const changeApplicationSettings = (
  services: Services,
  id: string,
  { label, settings }: ApplicationChanges,
  request: RequestContext,
): Promise<ApplicationWithSecret> =>
  replace(services, id, settings, (before) => ({ label: label ?? before.label, settings: { ...before.settings, ...settings } }), request);

/** Computes new settings from the current ones, safe against concurrent changes. @throws {ApiError} as updateApplication */
export const adjustApplicationSettings = (
  services: Services,
  id: string,
  change: (before: ApplicationSettings) => GivenSettings,
  request: RequestContext,
): Promise<ApplicationWithSecret> =>
  replace(services, id, {}, (before) => ({ label: before.label, settings: { ...before.settings, ...change(before.settings) } }), request);

/** @param given the new settings: their identity providers must exist, and are locked before the application */
async function replace(
  services: Services,
  id: string,
  given: GivenSettings,
  inputFor: (before: Application) => ApplicationInput,
  request: RequestContext,
  also?: (trx: Executor) => Promise<void>,
): Promise<ApplicationWithSecret> {
  const found = isPrintable(id) ? await findApplicationById(services.database.knex, id) : undefined;
  const sector = found && (await readSectorDocument(services, inputFor(found).settings));
  const work = async (trx: Executor, before: Application): Promise<ApplicationWithSecret> => {
    if (before.origin === 'INTRODUCED')
      throw wrongState('the settings of this application come from its client ID metadata document. Change them there');
    await also?.(trx);
    const input = inputFor(before);
    const settings = settingsOf(input);
    requireSector(settings, sector);
    const secret = await syncSecrets(services, trx, before, settings, input.secret);
    const changes = { label: input.label, settings, lastUpdated: present() };
    await updateRow(trx, id, changes);
    const application = { ...before, ...changes };
    await recordEvent(trx, {
      eventType: 'application.lifecycle.update',
      displayMessage: 'Update application',
      request,
      targets: [applicationTarget(application)],
      before: described(before),
      after: described(application),
    });
    return { application, secret };
  };
  return changeApplication(services, id, work, (trx) => requireProviders(trx, given));
}

/**
 * The tokens of an inactive application are inactive, and become active again with it.
 * @throws {ApiError} not found; wrong state: an application of the service itself
 */
export async function setApplicationStatus(
  services: Services,
  id: string,
  status: ApplicationStatus,
  request: RequestContext,
): Promise<void> {
  const [step, verb] = status === 'ACTIVE' ? (['activate', 'Activate'] as const) : (['deactivate', 'Deactivate'] as const);
  await changeApplication(services, id, async (trx, before) => {
    if (before.status === status) return;
    await updateRow(trx, id, { status, lastUpdated: present() });
    await recordEvent(trx, {
      eventType: `application.lifecycle.${step}`,
      displayMessage: `${verb} application`,
      request,
      targets: [applicationTarget(before)],
      before: { status: before.status },
      after: { status },
    });
  });
}

/**
 * Deletes an application with its secrets, assignments and consents. Its tokens become inactive with the commit, because they no longer belong to a
 * client; their rows are removed later.
 * @param isDue called with the application locked; nothing is deleted if it returns false
 * @throws {ApiError} not found; wrong state: an application of the service itself
 */
export async function deleteApplication(
  services: Services,
  id: string,
  request: RequestContext,
  isDue: (before: Application) => boolean = () => true,
): Promise<void> {
  const isDeleted = await changeApplication(services, id, async (trx, before) => {
    if (!isDue(before)) return false;
    await removeClientFromPolicies(services, trx, id, request);
    await deleteRow(trx, id);
    await recordEvent(trx, {
      eventType: 'application.lifecycle.delete',
      displayMessage: 'Delete application',
      request,
      targets: [applicationTarget(before)],
      before: described(before),
    });
    return true;
  });
  if (!isDeleted) return;
  await deleteLeftOverClientState(services.database.knex, id).catch((error: unknown) =>
    services.log.warn(
      { err: error, applicationId: id },
      'could not delete the tokens of a deleted application; they stay until they expire',
    ),
  );
}

/**
 * Changes one application: locks, writes and announces it. `work` writes the audit event.
 * @param first locks that precede the application's
 * @throws {ApiError} not found; wrong state: an application of the service itself
 */
export async function changeApplication<T>(
  { database, notifications }: Services,
  id: string,
  work: (trx: Executor, before: Application) => Promise<T>,
  first?: (trx: Executor) => Promise<void>,
): Promise<T> {
  const result = await database.transaction(async (trx) => {
    await first?.(trx);
    const before = requireFound(await lockApplication(trx, id), id, 'Application');
    if (before.system) throw wrongState('this application is part of the service and cannot be changed');
    const done = await work(trx, before);
    await notifications.publish(trx, { kind: 'application', id });
    return done;
  });
  notifications.announce({ kind: 'application', id });
  return result;
}

/** @throws {ApiError} validation: they contradict each other */
function settingsOf({ settings: given, secret }: ApplicationInput): ApplicationSettings {
  const settings = completeSettings(given);
  const problems = [...settingProblems(settings, secret !== undefined), ...(settings.profile === 'fapi2' ? fapi2Problems(settings) : [])];
  if (problems.length > 0) throw validation(problems.map(({ setting, message }) => ({ field: settingField(setting), message })));
  return settings;
}

/** The application as the target of audit events. */
export const applicationTarget = ({ id, label }: Pick<Application, 'id' | 'label'>) => ({ id, type: 'AppInstance', displayName: label });

/** The application's data in audit events. */
const described = ({ label, status, settings }: Application) => ({ label, status, settings });
