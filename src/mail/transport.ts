/**
 * The way to a mail server (RFC 5321) by nodemailer: one pool of connections a process. It tells what the server will never take from what is worth another
 * attempt (RFC 5321 section 4.2.1); what the operator can mend, a login or a sender that is refused, is worth one.
 */
import { createTransport } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';

/** One mail to one address. */
export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same at every attempt, so that a mail that arrives twice is known as one (RFC 5322 section 3.6.4); without angle brackets. */
  readonly messageId: string;
  /** Who the mail says that it comes from, where MAIL_FROM has no name of its own. */
  readonly senderName: string;
  /** BCP 47. */
  readonly language: string;
}

export interface Mailer {
  /** @throws {Refused} when no further attempt is of use */
  send(message: Message): Promise<void>;
  /** @throws when the server cannot be reached, or refuses the login */
  verify(): Promise<void>;
  close(): void;
}

/** The server takes this mail neither now nor later. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** Connections of one process at most, and so mails under way at once. */
export const MOST_CONNECTIONS = 5;
/** Milliseconds. */
const CONNECTION_TIMEOUT = 5000;
const SILENCE_TIMEOUT = 8000;
/** Milliseconds for a mail from the first byte to the last: a server that answers byte by byte is given up, too. */
const SEND_TIMEOUT = 20_000;
/** Seconds after which a mail that a process took is another's: longer than any attempt. */
export const MAIL_TAKEN_FOR = 40;

/**
 * @param smtpUrl `smtp://` or `smtps://`, with user and password where the server asks for them
 * @param from an address, or a name and an address in angle brackets
 */
export function smtpMailer(smtpUrl: string, from: string): Mailer {
  const options = {
    url: smtpUrl,
    pool: true as const,
    maxConnections: MOST_CONNECTIONS,
    connectionTimeout: CONNECTION_TIMEOUT,
    greetingTimeout: CONNECTION_TIMEOUT,
    socketTimeout: SILENCE_TIMEOUT,
    dnsTimeout: CONNECTION_TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const transport = createTransport(options as SMTPPool.Options);
  const sender = readSender(from);

  return {
    async send({ to, subject, text, html, messageId, senderName, language }) {
      const mail = {
        from: { name: sender.name || senderName, address: sender.address },
        // The address alone: a name would be one more thing that others write into a header.
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId: `<${messageId}>`,
        // RFC 3834 section 5: no answering machine answers.
        headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language, 'X-Auto-Response-Suppress': 'All' },
      };
      try {
        await inTime(transport.sendMail(mail));
      } catch (error) {
        throw isFinal(error) ? new Refused((error as Error).message, { cause: error }) : error;
      }
    },
    async verify() {
      await inTime(transport.verify());
    },
    close: () => transport.close(),
  };
}

/** What `MAIL_FROM` may be; it was checked at the start. */
export function readSender(from: string): { readonly name: string; readonly address: string } {
  const [, name = '', bracketed] = /^(.*?)\s*<([^<>]+)>$/.exec(from.trim()) ?? [];
  return { name: name.replace(/^"(.*)"$/, '$1'), address: bracketed ?? from.trim() };
}

async function inTime<T>(attempt: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the mail server took too long')), SEND_TIMEOUT);
  });
  try {
    return await Promise.race([attempt, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A 5xx answer to the recipient or to the mail itself. */
function isFinal(error: unknown): boolean {
  const { responseCode, command } = error as { readonly responseCode?: unknown; readonly command?: unknown };
  return typeof responseCode === 'number' && responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
}
