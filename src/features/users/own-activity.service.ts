/** A user's recent activity, for that user: some of their audit events. Actions of others are shown without their names. */

import type { Services } from '../../platform/database/dependencies.ts';
import { NOBODY } from '../audit/audit-event.policy.ts';
import { listActivity, type NumberedEvent } from './user-data.store.ts';

/** The types that users see; each has a text in the locale files. */
export const OWN_EVENT_TYPES = [
  'user.lifecycle.create',
  'user.lifecycle.activate',
  'user.session.start',
  'user.session.end',
  'user.session.clear',
  'user.authentication.failure',
  'user.account.lock',
  'user.account.update_password',
  'user.account.reset_password',
  'user.account.expire_password',
  'user.account.unlock_by_admin',
  'user.account.update_profile',
  'user.account.export_data',
  'user.account.privilege.grant',
  'user.account.privilege.revoke',
  'user.mfa.factor.activate',
  'user.mfa.factor.deactivate',
  'user.mfa.factor.reset_all',
  'user.mfa.factor.update',
  'user.mfa.trusted_browser.add',
  'user.mfa.trusted_browser.remove',
  'user.identity_provider.link',
  'user.identity_provider.unlink',
  'app.oauth2.as.consent.grant',
  'app.oauth2.as.consent.revoke',
] as const;

type OwnEventType = (typeof OWN_EVENT_TYPES)[number];

interface OwnEvent {
  readonly eventType: OwnEventType;
  readonly published: Date;
  readonly failed: boolean;
  /** Done by an administrator or the service. */
  readonly byOther: boolean;
  /** Browser; undefined for actions of others. */
  readonly userAgent: string | undefined;
  readonly ipAddress: string | undefined;
  /** The event's application, if any. */
  readonly application: string | undefined;
}

export interface OwnActivity {
  readonly events: readonly OwnEvent[];
  /** Cursor of older events. */
  readonly next: string | undefined;
}

/** Newest first. @param before `next` of the previous page */
export async function listOwnActivity(
  { database }: Services,
  userId: string,
  { limit, before }: { readonly limit: number; readonly before?: string | undefined },
): Promise<OwnActivity> {
  const found = await listActivity(database.knex, { userId, eventTypes: OWN_EVENT_TYPES, limit: limit + 1, before });
  const shown = found.slice(0, limit);
  return { events: shown.map((event) => toOwnEvent(event, userId)), next: found.length > limit ? shown.at(-1)?.seq : undefined };
}

function toOwnEvent({ eventType, published, outcome, actor, client, target }: NumberedEvent, userId: string): OwnEvent {
  const byOther = actor.id !== userId && actor.id !== NOBODY.id;
  return {
    eventType: eventType as OwnEventType,
    published,
    failed: outcome.result === 'FAILURE',
    byOther,
    userAgent: byOther ? undefined : client.userAgent,
    ipAddress: byOther ? undefined : client.ipAddress,
    application: target.find(({ type }) => type === 'AppInstance')?.displayName,
  };
}
