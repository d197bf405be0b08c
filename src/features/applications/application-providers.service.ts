/**
 * The identity providers that an application offers at sign-in. Referenced providers must exist, and deleting a provider removes it from
 * the lists in the same transaction. A list that becomes empty stays and means none; an absent one would mean all
 * (features/identity-providers/upstream-offers.service.ts).
 */
import { present } from '../../platform/clock/clock.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { keepIdentityProviders } from '../identity-providers/identity-providers.store.ts';
import type { GivenSettings } from './application-settings.policy.ts';
import type { Application } from './applications.resource.ts';
import { lockApplicationsOffering, updateApplicationRow } from './applications.store.ts';

/** Locks them against deletion until the transaction ends. Call before the application is locked. @throws {ApiError} validation */
export async function requireProviders(
  trx: Executor,
  { identity_providers: ids = [] }: Pick<GivenSettings, 'identity_providers'>,
): Promise<void> {
  const kept = new Set(await keepIdentityProviders(trx, ids.filter(isPrintable)));
  const unknown = ids.filter((id) => !kept.has(id));
  const field = 'settings.oauthClient.identity_providers';
  if (unknown.length > 0) throw validation(unknown.map((id) => ({ field, message: `${id} does not exist` })));
}

/**
 * @param trx in which the provider is locked, so that it cannot be referenced any more
 * @returns IDs of the applications to announce after the commit
 */
export async function removeProviderFromApplications(
  { notifications }: Services,
  trx: Executor,
  idpId: string,
  request: RequestContext,
): Promise<readonly string[]> {
  const offering = await lockApplicationsOffering(trx, idpId);
  for (const application of offering) {
    const { id, label, settings: before } = application;
    const settings = { ...before, identity_providers: before.identity_providers?.filter((other) => other !== idpId) };
    await updateApplicationRow(trx, id, { settings, lastUpdated: present() });
    await recordEvent(trx, {
      eventType: 'application.lifecycle.update',
      displayMessage: 'Update application',
      request,
      targets: [{ id, type: 'AppInstance', displayName: label }],
      before: listOf(before),
      after: listOf(settings),
    });
    await notifications.publish(trx, { kind: 'application', id });
  }
  return offering.map(({ id }) => id);
}

const listOf = ({ identity_providers }: Application['settings']) => ({ settings: { identity_providers } });
