/**
 * A client with a metadata document is stored as an application when the first user signs in for it, for consents, policies, the audit log and the
 * console. The record follows the document. Senders without an account store nothing.
 */
import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Application } from '../applications/applications.resource.ts';
import { applicationTarget } from '../applications/applications.service.ts';
import { findApplicationById, insertApplication, lockApplication, updateApplicationRow } from '../applications/applications.store.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { DocumentClient } from './client-document.service.ts';

/** Milliseconds after the last sign-in of any user in which the record is kept. */
const KEPT_FOR = 90 * 86_400_000;
/** Milliseconds after which a sign-in extends this time again. */
const PROLONGED_AFTER = 86_400_000;

type Parts = Pick<Services, 'database' | 'notifications'>;
type Connection = Omit<RequestContext, 'actor' | 'roles'>;

/** Stores a new client or the changes of its document, with the audit event, and extends the time for which it is kept. */
export async function storeDocumentClient(
  { database, notifications }: Parts,
  client: DocumentClient,
  connection: Connection,
): Promise<void> {
  const { id, label } = client;
  // Same form as from the database, without undefined values.
  const settings = JSON.parse(JSON.stringify(client.settings)) as Application['settings'];
  const known = await findApplicationById(database.knex, id);
  const now = present();
  const isCurrent = (found: Application) => found.label === label && isDeepStrictEqual(found.settings, settings);
  const isFresh = ({ expiresAt }: Application) => expiresAt !== null && expiresAt.getTime() > now.getTime() + KEPT_FOR - PROLONGED_AFTER;
  if (known !== undefined && isCurrent(known) && isFresh(known)) return;

  const request = { ...connection, actor: { id, type: 'PublicClientApp' as const, displayName: label } };
  const written = { label, settings, expiresAt: new Date(now.getTime() + KEPT_FOR), lastUpdated: now };
  await database.transaction(async (trx) => {
    const made: Application = {
      id,
      status: 'ACTIVE',
      system: false,
      origin: 'INTRODUCED',
      registeredAt: null,
      created: now,
      lastUsed: null,
      ...written,
    };
    const isNew = await insertApplication(trx, made);
    const before = isNew ? undefined : await lockApplication(trx, id);
    if (before !== undefined) await updateApplicationRow(trx, id, isCurrent(before) ? { expiresAt: written.expiresAt } : written);
    if (before !== undefined && isCurrent(before)) return;
    await recordEvent(trx, {
      eventType: isNew ? 'application.lifecycle.create' : 'application.lifecycle.update',
      displayMessage: isNew ? 'Client created from its metadata document' : 'Client updated from its metadata document',
      request,
      targets: [applicationTarget(made)],
      ...(before !== undefined && { before: { label: before.label, settings: before.settings } }),
      after: { label, settings },
    });
    await notifications.publish(trx, { kind: 'application', id });
  });
}
