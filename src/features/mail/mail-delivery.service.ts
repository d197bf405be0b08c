/**
 * Sends queued e-mails (features/mail/mail.service.ts) in the user's language with the current branding. The audit log records each one, without the
 * link, and each one that failed for good. E-mails with an expired link or for a deleted user are not sent.
 */

import { isDeepStrictEqual } from 'node:util';
import { present } from '../../platform/clock/clock.ts';
import type { MailTimeouts } from '../../platform/clock/timings.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import {
  MAIL_LEASE_SECONDS,
  type Mailer,
  MailRefused,
  MOST_CONNECTIONS,
  type SmtpServer,
  smtpMailer,
} from '../../platform/mail/transport.ts';
import { countFailures } from '../audit/audit.store.ts';
import { SYSTEM } from '../audit/audit-event.policy.ts';
import { findCodeOfLink } from '../email-codes/email-codes.store.ts';
import { brandedFor } from '../organization-branding/organization-branding.resource.ts';
import { findDesignOfOrganization } from '../organization-branding/organization-branding.service.ts';
import { type Carrier, Undeliverable } from '../outbox/outbox.service.ts';
import { kindLoad } from '../outbox/outbox.store.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { currentSettings, currentTexts } from '../settings/settings-cache.service.ts';
import { findOneTimeLink } from '../sign-in/one-time-links.store.ts';
import { findVerification } from '../users/email-verifications.store.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { findUserById } from '../users/users.store.ts';
import { inboxMailer } from './dev-inbox.service.ts';
import { isMailable, type MailKind } from './mail.policy.ts';
import { letter, MAIL, mailNote, sealContext } from './mail.service.ts';
import { mailRoute } from './mail-route.service.ts';
import { renderMail } from './templates.ts';

// State of e-mail: queued messages and recent failures.

const LATELY_MS = 7 * 86_400_000;
/** Larger numbers are shown as “at least”. */
const MOST_WAITING = 1000;
/** Only the newest events are searched for failures, because the log may be long. */
const AMONG = 1000;

export interface MailState {
  readonly waiting: { readonly count: number; readonly isMore: boolean; readonly oldest: Date | null; readonly lastError: string | null };
  /** Failures of the last seven days. */
  readonly failed: {
    readonly count: number;
    /** Audit event, time and reason of the last failure; undefined: there is none. */
    readonly last: { readonly uuid: string; readonly at: Date; readonly reason: string } | undefined;
  };
}

export async function readMailState({ database: { knex } }: Pick<Services, 'database'>): Promise<MailState> {
  const { count, oldest, lastError } = await kindLoad(knex, MAIL, MOST_WAITING + 1);
  const failures = await countFailures(knex, 'system.email.delivery', new Date(present().getTime() - LATELY_MS), AMONG);
  const { last } = failures;
  return {
    waiting: { count: Math.min(count, MOST_WAITING), isMore: count > MOST_WAITING, oldest, lastError },
    failed: {
      count: failures.count,
      last: last === null ? undefined : { uuid: last.uuid, at: new Date(last.published), reason: last.reason ?? '' },
    },
  };
}

/** The mailer of the currently configured server. A change of the settings applies to the next e-mail. */
interface CurrentMailer {
  /** @returns undefined if e-mail is not configured */
  now(): Promise<Mailer | undefined>;
  /** Messages in progress fail and are retried later. */
  close(): void;
}

export function createMailer(services: Services, timeouts?: MailTimeouts): CurrentMailer {
  const inbox = inboxMailer(services);
  let open: { readonly server: SmtpServer; readonly mailer: Mailer } | undefined;
  return {
    async now() {
      const route = await mailRoute(services);
      if (route.kind !== 'server') return route.kind === 'nowhere' ? undefined : inbox;
      if (open === undefined || !isDeepStrictEqual(open.server, route.server)) {
        open?.mailer.close(true);
        open = { server: route.server, mailer: smtpMailer(route.server, timeouts) };
      }
      return open.mailer;
    },
    close: () => open?.mailer.close(),
  };
}

/** Seconds to the next attempt: mail servers may ask for a retry after minutes (RFC 5321 section 4.5.4.1). Fails for good after about a day. */
const PAUSES: readonly number[] = [5, 60, 300, 900, 3600, 2 * 3600, 4 * 3600, 6 * 3600, 8 * 3600];

const pageOf = (kind: MailKind): string => (kind === 'password-changed' || kind === 'password-removed' ? '/forgot-password' : '/account');

export function mailDelivery(services: Services, current: CurrentMailer): Carrier {
  const { config, database, keyring } = services;
  const host = new URL(config.baseUrl).hostname;

  return {
    mostAtOnce: MOST_CONNECTIONS,
    takenFor: MAIL_LEASE_SECONDS,
    pauseAfter: (attempts) => PAUSES[attempts - 1],
    async deliver(payload) {
      const { id, userId, login, kind: named, open, sealed } = mailNote.parse(payload);
      const kind = named as MailKind;
      const user = userId === undefined ? { id: undefined, login } : await findUserById(database.knex, userId);
      const mailer = await current.now();
      if (mailer === undefined || user === undefined) return 'dropped';
      const content = letter.parse(sealed === undefined ? open : JSON.parse(keyring.open(sealed, sealContext(id))));
      if (content.expiresAt !== undefined && new Date(content.expiresAt) <= present()) throw new Undeliverable('its link has ended');
      if (content.link !== undefined && !(await isOfUse(database.knex, content.link))) return 'dropped';
      const { to } = content;
      if (!isMailable(to)) throw new Undeliverable('mail cannot be sent to this address');

      const { at, ipAddress, userAgent } = content.occurred ?? {};
      const service = await currentSettings(services, 'branding');
      const look = content.organization === undefined ? undefined : await findDesignOfOrganization(services, content.organization);
      const brand = brandedFor(service, look);
      const texts = await currentTexts(services);
      const link = content.link ?? (content.occurred && `${config.baseUrl}${pageOf(kind)}`);
      const occurred = at === undefined ? undefined : { at: new Date(at), ipAddress, browser: browserName(userAgent ?? '') };
      const { subject, text, html, language } = renderMail(
        kind,
        content.language,
        { login: user.login, values: content.values, link, occurred },
        { brand, texts },
      );
      try {
        await mailer.send({ to, subject, text, html, language, messageId: `${id}@${host}`, senderName: service.name });
      } catch (error) {
        throw error instanceof MailRefused ? new Undeliverable(error.message) : error;
      }
      return { delivered: { ...deliveryOf(kind, user), request: SYSTEM, after: { kind, ...(userId !== undefined && { to }) } } };
    },
    givenUp(payload) {
      const { userId, login, kind } = mailNote.parse(payload);
      return deliveryOf(kind as MailKind, { id: userId, login });
    },
  };
}

const FINDERS = { 'choose-password': findOneTimeLink, 'verify-email': findVerification, code: findCodeOfLink } as const;

/** Can the one-time link still be used? Otherwise the recipient would get a broken link, although a newer one is on its way. */
async function isOfUse(executor: Executor, link: string): Promise<boolean> {
  const [, page, token = ''] = /\/(choose-password|verify-email|code)\/([\w-]+)$/.exec(link) ?? [];
  if (page === undefined) return true;
  return (await FINDERS[page as keyof typeof FINDERS](executor, digest(token), present())) !== undefined;
}

/** Audit event of an e-mail, sent or not. */
export const deliveryOf = (kind: MailKind, { id, login }: { readonly id: string | undefined; readonly login: string }) => ({
  eventType: 'system.email.delivery' as const,
  displayMessage: `Send mail to user: ${kind}`,
  // Unverified addresses are not logged.
  targets: id === undefined ? [] : [userTarget({ id, login })],
});

/** Logs a warning after the start if the mail server cannot be reached. Queued e-mails are sent as soon as it can. */
export async function warnOfSilentServer(
  services: Pick<Services, 'config' | 'database' | 'keyring' | 'notifications' | 'log'>,
  current: CurrentMailer,
): Promise<void> {
  const { log } = services;
  try {
    const route = await mailRoute(services);
    if (route.kind !== 'server') return;
    const { host } = new URL(route.server.url);
    await (await current.now())?.verify().catch((error: unknown) => {
      log.warn({ err: error, server: host }, 'the mail server is not available; e-mails wait in the outbox');
    });
  } catch (error) {
    // Settings cannot be read while the database is down, which is reported elsewhere.
    log.warn({ err: error }, 'could not check the mail server');
  }
}
