/**
 * Queues e-mails in the transaction of a change; they are sent from the outbox after the commit (features/mail/mail-delivery.service.ts), never
 * during the request. A link gives access to the account, so it is encrypted in the outbox. Without a mail server nothing is queued.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { digest, type Keyring } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
// Types only: any event can trigger a notification.
import type { Event, RequestContext } from '../audit/audit-event.policy.ts';
import { insertEntry, laneOf, type NewEntry } from '../outbox/outbox.store.ts';
import type { User } from '../users/users.resource.ts';
import { findUserById } from '../users/users.store.ts';
import { isMailable, languageOf, type MailKind, type Notice, noticeOf, type RequestedMail } from './mail.policy.ts';

/** `outbox.kind` of an e-mail. */
export const MAIL = 'mail';

/** Variable parts of an e-mail. */
export const letter = z.object({
  /** The user's address at this time: a later address does not get earlier notifications. */
  to: z.string(),
  /** Space-separated BCP 47 tags, best first. */
  language: z.string().optional(),
  /** Values of its placeholders. */
  values: z.record(z.string(), z.string()).default({}),
  link: z.string().optional(),
  /** ID of the organization whose branding is used. */
  organization: z.string().optional(),
  /** ISO 8601: expiry of the link; later the e-mail is not sent. */
  expiresAt: z.string().optional(),
  /** Time and origin of the reported event. */
  occurred: z.object({ at: z.string(), ipAddress: z.string().optional(), userAgent: z.string().optional() }).optional(),
});

export type Letter = Readonly<z.input<typeof letter>>;

/** Outbox entry: recipient and topic in clear text; the rest encrypted if it contains a link. */
export const mailNote = z.object({
  /** ID of the message, the same for every attempt. */
  id: z.string(),
  /** Absent: the recipient has no account yet. */
  userId: z.string().optional(),
  login: z.string(),
  kind: z.string(),
  open: letter.optional(),
  sealed: z.string().optional(),
});

export const sealContext = (id: string): string => `mail ${id}`;

/** Does the user have an address to which e-mail can be sent? */
export const hasMailAddress = <U extends Pick<User, 'email'>>(user: U): user is U & { readonly email: string } =>
  user.email !== null && isMailable(user.email);

/** Recipient of an e-mail. Without an ID: someone without an account, with the address as login. */
type Recipient = Pick<User, 'login' | 'profile'> & { readonly id: string | undefined };

function noteFor(
  { id: userId, login }: Pick<Recipient, 'id' | 'login'>,
  kind: MailKind,
  content: { open: Letter } | { id: string; sealed: string },
): NewEntry {
  const payload: z.input<typeof mailNote> = { id: crypto.randomUUID(), userId, login, kind, ...content };
  // Notifications to a mailbox keep their order. Links expire after an hour and do not wait, and mailboxes do not wait for each other.
  const objectKey = 'open' in content ? digest(`${userId} ${content.open.to}`) : null;
  return { kind: MAIL, orderingKey: laneOf(userId ?? login), objectKey, payload, created: present() };
}

/**
 * Queues a requested e-mail.
 * @param trx the transaction of its cause
 * @param user recipient; the caller has checked their address, and that e-mail can be sent
 */
export async function queueMail(
  trx: Executor,
  keyring: Keyring,
  user: Recipient,
  kind: RequestedMail,
  content: Omit<Letter, 'language'>,
  request: Pick<RequestContext, 'language'> = {},
): Promise<void> {
  const id = crypto.randomUUID();
  const whole: Letter = { ...content, language: languageOf(user.profile, request.language) };
  await insertEntry(trx, noteFor(user, kind, { id, sealed: keyring.seal(JSON.stringify(whole), sealContext(id)) }));
}

/** Queues a notification about the user's account. Unused accounts get none. */
export async function queueNotice(
  trx: Executor,
  userId: string,
  notice: Notice,
  content: Partial<Pick<Letter, 'to' | 'values'>>,
  request: RequestContext,
): Promise<void> {
  const user = await findUserById(trx, userId);
  const note = user && noticeFor(user, notice, content, request);
  if (note !== undefined) await insertEntry(trx, note);
}

/** @returns the entry that `queueNotice` writes; undefined without a recipient */
export function noticeFor(
  user: Pick<User, 'id' | 'login' | 'profile' | 'email' | 'lastLogin' | 'passwordHash'>,
  notice: Notice,
  content: Partial<Pick<Letter, 'to' | 'values'>>,
  request: RequestContext,
): NewEntry | undefined {
  const isUsed = user.lastLogin !== null || user.passwordHash !== null;
  const to = content.to ?? user.email ?? undefined;
  if (!isUsed || to === undefined) return undefined;
  const isOwnRequest = request.actor.id === user.id;
  const { ipAddress, userAgent } = request;
  const occurred = { at: present().toISOString(), ...(isOwnRequest && { ipAddress, userAgent }) };
  // Use the user's language, not that of an administrator who made the change.
  const language = languageOf(user.profile, isOwnRequest ? request.language : undefined);
  return noteFor(user, notice, { open: { ...content, to, language, occurred } });
}

/**
 * Notifies the former address that it no longer belongs to the account, even if the user made the change: the owner of the address may be the only
 * one to notice.
 */
export async function notifyFormerAddress(
  trx: Executor,
  { id, email: former }: Pick<User, 'id' | 'email'>,
  email: string | null,
  request: RequestContext,
): Promise<void> {
  if (former === null || former === email) return;
  const content = { to: former, ...(email !== null && { values: { address: email } }) };
  await queueNotice(trx, id, email === null ? 'email-removed' : 'email-changed', content, request);
}

/** Queues the notification of an event, if there is one. Setting a first password is not a change of password. */
export async function queueNoticeOf(trx: Executor, { eventType, targets = [], failure, before, request }: Event): Promise<void> {
  const notice = failure === undefined ? noticeOf(eventType) : undefined;
  const user = targets.find(({ type }) => type === 'User');
  if (notice === undefined || user === undefined) return;
  const known = z.object({ passwordChanged: z.date().nullable() }).safeParse(before).data;
  if (notice === 'password-changed' && known?.passwordChanged === null) return;
  const provider = targets.find(({ type }) => type === 'IdentityProvider')?.displayName;
  await queueNotice(trx, user.id, notice, provider === undefined ? {} : { values: { provider } }, request);
}
