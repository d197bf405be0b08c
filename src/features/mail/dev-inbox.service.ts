/** The dev inbox: without a mail server, and only on a developer's machine, e-mails are stored here for a day, sealed. All processes show them. */
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Mailer, Message } from '../../platform/mail/transport.ts';
import { findMail, insertMail, listMails, type StoredMail } from './dev-inbox.store.ts';

const content = z.object({ to: z.string(), subject: z.string(), text: z.string(), html: z.string() });

export interface InboxMail extends Readonly<z.infer<typeof content>> {
  readonly id: string;
  readonly sent: Date;
}

/** Maximum number of e-mails shown. */
const MOST_SHOWN = 100;

export const inboxMailContext = (id: string): string => `dev inbox ${id}`;

/** A mailer that stores e-mails in the inbox. */
export const inboxMailer = ({ database, keyring }: Pick<Services, 'database' | 'keyring'>): Mailer => ({
  async send({ to, subject, text, html, messageId }: Message) {
    const id = messageId.replace(/@.*$/, '');
    const created = present();
    const sealed = keyring.seal(JSON.stringify({ to, subject, text, html }), inboxMailContext(id));
    await insertMail(database.knex, { id, sealed, created, expiresAt: new Date(created.getTime() + LIFETIMES.devInbox * 1000) });
  },
  verify: async () => undefined,
  close: () => undefined,
});

const opened = ({ keyring }: Pick<Services, 'keyring'>, { id, sealed, created }: StoredMail): InboxMail => ({
  id,
  sent: created,
  ...content.parse(JSON.parse(keyring.open(sealed, inboxMailContext(id)))),
});

/** Newest first. */
export async function readInbox(services: Pick<Services, 'database' | 'keyring'>): Promise<InboxMail[]> {
  return (await listMails(services.database.knex, present(), MOST_SHOWN)).map((mail) => opened(services, mail));
}

/** @returns undefined if there is none with this ID, or it has expired */
export async function readInboxMail(services: Pick<Services, 'database' | 'keyring'>, id: string): Promise<InboxMail | undefined> {
  if (!/^[\w-]{1,100}$/.test(id)) return undefined;
  const found = await findMail(services.database.knex, id, present());
  return found && opened(services, found);
}
