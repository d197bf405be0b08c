/** Operations on external identity providers: OpenID Connect and OAuth 2.0 servers that users sign in with. The sign-in itself is elsewhere. */
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, notFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { removeProviderFromApplications } from '../applications/application-providers.service.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { findGroup } from '../groups/groups.store.ts';
import { organizationExists } from '../organizations/organizations.store.ts';
import { shareLockUserSchema } from '../user-schema/user-schema.store.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import {
  changesSecretRecipient,
  changesSubjects,
  completeIdentityProvider,
  type GivenIdentityProvider,
  type IdentityProviderSettings,
  identityProviderProblems,
  providerUsesSecret,
} from './identity-provider.policy.ts';
import type { IdentityProvider, IdentityProviderStatus } from './identity-providers.resource.ts';
import {
  countLinks,
  deleteIdentityProviderRow as deleteRow,
  findIdentityProvider,
  type IdentityProviderSearch,
  insertIdentityProvider,
  listIdentityProvidersOf,
  selectIdentityProviders as listRows,
  lockIdentityProvider,
  updateIdentityProviderRow as updateRow,
} from './identity-providers.store.ts';

export interface IdentityProviderInput extends GivenIdentityProvider {
  readonly name: string;
  /** Absent: the current one, if any. */
  readonly secret?: string | undefined;
}

/** Standard attributes that a claim can fill. */
const MAPPABLE: ReadonlySet<string> = new Set(['email', ...BASE_ATTRIBUTES]);

const SECRET = 'protocol.credentials.client.client_secret';

export interface NewIdentityProvider extends IdentityProviderInput {
  /** Absent: generated. Given if the redirect URI, which contains the ID, must be registered first. */
  readonly id?: string | undefined;
}

/**
 * @throws {ApiError} validation: the settings contradict each other, or refer to something that does not exist; conflict: the name or the ID is taken
 */
export async function createIdentityProvider(
  services: Services,
  { id = newId('idp'), ...input }: NewIdentityProvider,
  request: RequestContext,
): Promise<IdentityProvider> {
  const settings = settingsOf(input);
  if (providerUsesSecret(settings.protocol) && input.secret === undefined) throw secretRequired();
  const now = present();
  const provider: IdentityProvider = {
    ...{ id, name: input.name, status: 'ACTIVE', ...settings },
    ...{ sealedSecret: sealed(services, id, input.secret), created: now, lastUpdated: now },
  };
  await services.database.transaction(async (trx) => {
    await refuseMissing(trx, settings);
    if (!(await insertIdentityProvider(trx, provider))) throw nameTaken();
    await recordEvent(trx, {
      eventType: 'system.idp.lifecycle.create',
      displayMessage: 'Create identity provider',
      request,
      targets: [identityProviderTarget(provider)],
      after: described(provider),
    });
    await services.notifications.publish(trx, { kind: 'identity-provider', id });
  });
  services.notifications.announce({ kind: 'identity-provider', id });
  return provider;
}

/** Oldest first. */
export const listIdentityProviders = (
  services: Services,
  search: IdentityProviderSearch,
  window: Window,
): Promise<Page<IdentityProvider>> => listRows(services.database.knex, search, window);

/** The oldest providers, and all with these IDs. */
export async function listProvidersToChoose(
  { database: { knex } }: Services,
  named: readonly string[],
  limit: number,
): Promise<readonly IdentityProvider[]> {
  const { items } = await listRows(knex, {}, { limit });
  return [
    ...items,
    ...(await listIdentityProvidersOf(
      knex,
      named.filter((id) => items.every((oldest) => oldest.id !== id)),
    )),
  ];
}

/** @throws {ApiError} not found */
export async function getIdentityProvider(services: Services, id: string): Promise<IdentityProvider> {
  const provider = await findIdentityProvider(services.database.knex, id);
  if (provider === undefined) throw missing(id);
  return provider;
}

/**
 * Replaces name and settings; absent ones return to their defaults, the secret stays. The secret is not sent to a URL other than the one it was given
 * for, and linked users are not moved to another issuer, where the same subjects are different users.
 * @throws {ApiError} not found; validation as at creation; conflict: the name is taken; wrong state: users are linked to the issuer
 */
export async function updateIdentityProvider(
  services: Services,
  id: string,
  input: IdentityProviderInput,
  request: RequestContext,
): Promise<IdentityProvider> {
  const settings = settingsOf(input);
  return change(services, id, async (trx, before) => {
    if (before.type !== settings.type) throw validation([{ field: 'type', message: 'cannot be changed' }]);
    await refuseMissing(trx, settings);
    if (changesSubjects(before.protocol, settings.protocol) && (await countLinks(trx, id)) > 0) {
      throw wrongState('users are linked to this issuer. Unlink them, or create another identity provider');
    }
    const changes = {
      ...{ name: input.name, ...settings },
      ...{ sealedSecret: newOrCurrentSecret(services, before, settings, input.secret), lastUpdated: present() },
    };
    if (!(await updateRow(trx, id, changes))) throw nameTaken();
    const after = { ...before, ...changes };
    await recordEvent(trx, {
      eventType: 'system.idp.lifecycle.update',
      displayMessage: 'Update identity provider',
      request,
      targets: [identityProviderTarget(after)],
      before: described(before),
      after: { ...described(after), ...(input.secret !== undefined && { clientSecretReplaced: true }) },
    });
    return after;
  });
}

/** @throws {ApiError} not found */
export async function setIdentityProviderStatus(
  services: Services,
  id: string,
  status: IdentityProviderStatus,
  request: RequestContext,
): Promise<IdentityProvider> {
  const [step, verb] = status === 'ACTIVE' ? (['activate', 'Activate'] as const) : (['deactivate', 'Deactivate'] as const);
  return change(services, id, async (trx, before) => {
    if (before.status === status) return before;
    const changes = { status, lastUpdated: present() };
    await updateRow(trx, id, changes);
    await recordEvent(trx, {
      eventType: `system.idp.lifecycle.${step}`,
      displayMessage: `${verb} identity provider`,
      request,
      targets: [identityProviderTarget(before)],
      before: { status: before.status },
      after: { status },
    });
    return { ...before, ...changes };
  });
}

/**
 * Deletes a provider, active or not, with its links to users. The users remain, and applications no longer refer to it.
 * @throws {ApiError} not found
 */
export async function deleteIdentityProvider(services: Services, id: string, request: RequestContext): Promise<void> {
  const offering = await change(services, id, async (trx, before) => {
    const linkedUsers = await countLinks(trx, id);
    const applications = await removeProviderFromApplications(services, trx, id, request);
    await deleteRow(trx, id);
    await recordEvent(trx, {
      eventType: 'system.idp.lifecycle.delete',
      displayMessage: 'Delete identity provider',
      request,
      targets: [identityProviderTarget(before)],
      before: { ...described(before), linkedUsers },
    });
    return applications;
  });
  for (const application of offering) services.notifications.announce({ kind: 'application', id: application });
}

/** @returns the client secret in clear text; undefined if there is none */
export const openClientSecret = ({ keyring }: Services, { id, sealedSecret }: IdentityProvider): string | undefined =>
  sealedSecret === null ? undefined : keyring.open(sealedSecret, identityProviderSecretContext(id));

/** The identity provider as the target of audit events. */
export const identityProviderTarget = ({ id, name }: Pick<IdentityProvider, 'id' | 'name'>) => ({
  id,
  type: 'IdentityProvider',
  displayName: name,
});

/** Changes a provider: locks, decides, writes and records. @throws {ApiError} not found */
async function change<T>(
  { database, notifications }: Services,
  id: string,
  work: (trx: Executor, before: IdentityProvider) => Promise<T>,
): Promise<T> {
  const changed = await database.transaction(async (trx) => {
    const before = await lockIdentityProvider(trx, id);
    if (before === undefined) throw missing(id);
    const result = await work(trx, before);
    await notifications.publish(trx, { kind: 'identity-provider', id });
    return result;
  });
  notifications.announce({ kind: 'identity-provider', id });
  return changed;
}

/** Adds the defaults. @throws {ApiError} validation: the settings contradict each other */
function settingsOf({ secret, ...given }: IdentityProviderInput): IdentityProviderSettings {
  const settings = completeIdentityProvider(given);
  const problems = identityProviderProblems(settings);
  if (secret !== undefined && !providerUsesSecret(settings.protocol)) {
    problems.push({ field: SECRET, message: 'cannot be used with token_endpoint_auth_method none' });
  }
  if (problems.length > 0) throw validation(problems);
  return settings;
}

/**
 * Checks the references and locks the attributes until the transaction ends.
 * @throws {ApiError} validation: an organization, group or attribute does not exist
 */
async function refuseMissing(
  trx: Executor,
  { policy: { provisioning, accountLink, attributeMap } }: IdentityProviderSettings,
): Promise<void> {
  const { orgId, groups } = provisioning;
  const problems: { field: string; message: string }[] = [];
  if (orgId !== undefined && !(await organizationExists(trx, orgId))) {
    problems.push({ field: 'policy.provisioning.orgId', message: 'does not exist' });
  }
  const named: [field: string, ids: readonly string[]][] = [
    ['policy.provisioning.groups.assignments', groups.assignments],
    ['policy.accountLink.filter.groups.include', accountLink.filter?.groups.include ?? []],
  ];
  for (const [field, ids] of named) {
    for (const id of ids) if ((await findGroup(trx, id)) === undefined) problems.push({ field, message: `${id} does not exist` });
  }
  const added = Object.keys(attributeMap).filter((name) => !MAPPABLE.has(name));
  const schema = added.length === 0 ? undefined : await shareLockUserSchema(trx);
  const unknown = added.find((name) => schema?.attributes.every((attribute) => attribute.name !== name));
  if (unknown !== undefined) problems.push({ field: 'policy.attributeMap', message: `${unknown} is not an attribute of users` });
  if (problems.length > 0) throw validation(problems);
}

/** The sealed new secret, or the current one. @throws {ApiError} validation: a new secret is required */
function newOrCurrentSecret(
  services: Services,
  before: IdentityProvider,
  { protocol }: IdentityProviderSettings,
  given: string | undefined,
): string | null {
  if (!providerUsesSecret(protocol)) return null;
  if (given !== undefined) return sealed(services, before.id, given);
  if (before.sealedSecret === null) throw secretRequired();
  if (changesSecretRecipient(before.protocol, protocol)) throw secretRequired(' when the issuer or the token endpoint changes');
  return before.sealedSecret;
}

export const identityProviderSecretContext = (id: string): string => `identity_provider:${id}`;
const sealed = ({ keyring }: Services, id: string, secret: string | undefined): string | null =>
  secret === undefined ? null : keyring.seal(secret, identityProviderSecretContext(id));

/** The provider's data in audit events. */
const described = ({ name, type, status, protocol, policy }: IdentityProvider) => ({ name, type, status, protocol, policy });

const missing = (id: string) => notFound(id, 'IdentityProvider');
const nameTaken = () => conflict({ field: 'name', message: 'another identity provider has this name. Choose another name' });
const secretRequired = (when = '') => validation([{ field: SECRET, message: `is required${when}` }]);
