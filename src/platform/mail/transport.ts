/**
 * The way to a mail server (RFC 5321) by nodemailer: one pool of connections a process. It tells what the server will never take from what is worth another
 * attempt (RFC 5321 section 4.2.1); what the operator can mend, a login or a sender that is refused, is worth one.
 */
import { createTransport } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import { type MailPatience, timings } from '../clock/timings.ts';
import { isLoopbackHost } from '../config/config.ts';

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
  /** @throws {MailRefused} when no further attempt is of use */
  send(message: Message): Promise<void>;
  /** @throws when the server cannot be reached, or refuses the login */
  verify(): Promise<void>;
  /** What is under way fails, and is another attempt's. */
  close(): void;
}

/** The server takes this mail neither now nor later. */
export class MailRefused extends Error {
  override readonly name = 'Refused';
}

/** Connections of one process at most, and so mails under way at once. */
export const MOST_CONNECTIONS = 5;
/** Seconds after which a mail that a process took is another's: longer than any attempt. */
export const MAIL_TAKEN_FOR = 90;

/**
 * @param smtpUrl `smtp://` or `smtps://`, with user and password where the server asks for them
 * @param from an address, or a name and an address in angle brackets
 */
export function smtpMailer(smtpUrl: string, from: string, patience: MailPatience = timings.mail): Mailer {
  const options = {
    url: smtpUrl,
    pool: true as const,
    maxConnections: MOST_CONNECTIONS,
    // Another attempt is the outbox's: of two hands that try again, one would send what the other one has sent.
    maxRequeues: 0,
    connectionTimeout: patience.connection,
    greetingTimeout: patience.connection,
    socketTimeout: patience.silence,
    dnsTimeout: patience.connection,
    ...(needsEncryption(smtpUrl) && { requireTLS: true }),
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
        // Ends the connection, too: one that hangs would take the place of another mail, and might send this one after all.
        signal: AbortSignal.timeout(patience.mail),
      };
      try {
        await transport.sendMail(mail);
      } catch (error) {
        throw isFinal(error) ? new MailRefused((error as Error).message, { cause: error }) : error;
      }
    },
    async verify() {
      await inTime(transport.verify(), patience.mail);
    },
    close: () => (transport as Closing).close({ force: true }),
  };
}

/** What the types of nodemailer do not tell yet. */
interface Closing {
  close(how: { readonly force: boolean }): void;
}

/** A password goes to a server elsewhere by TLS alone, or whoever is on the way strips STARTTLS and reads it (RFC 8314 section 3); `?requireTLS=false` says otherwise. */
function needsEncryption(smtpUrl: string): boolean {
  const { username, password, hostname } = new URL(smtpUrl);
  return (username !== '' || password !== '') && !isLoopbackHost(hostname);
}

/** What `MAIL_FROM` may be; it was checked at the start. */
export function readSender(from: string): { readonly name: string; readonly address: string } {
  const [, name = '', bracketed] = /^(.*?)\s*<([^<>]+)>$/.exec(from.trim()) ?? [];
  return { name: name.replace(/^"(.*)"$/, '$1'), address: bracketed ?? from.trim() };
}

/** What went wrong between us and the mail server. */
export interface MailFailure {
  readonly kind: 'no-such-server' | 'not-reached' | 'too-late' | 'not-secure' | 'login' | 'recipient' | 'mail' | 'other';
  /** What the server said, or the network. */
  readonly words: string;
}

const LONGEST_WORDS = 300;

/** @param error what `send` or `verify` threw */
export function failureOf(error: unknown): MailFailure {
  const { code, command, response, message } = (error instanceof MailRefused ? error.cause : error) as Readonly<Record<string, unknown>>;
  const words = String(response ?? message)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return { kind: kindOf(String(code), String(command), String(message)), words: words.slice(0, LONGEST_WORDS) };
}

/** Nodemailer's codes. */
function kindOf(code: string, command: string, message: string): MailFailure['kind'] {
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'login';
  if (code === 'EDNS') return 'no-such-server';
  if (code === 'ETIMEDOUT' || code === 'EABORT' || message === TOO_LATE) return 'too-late';
  if (code === 'ETLS' || code === 'EREQUIRETLS' || /certificate|\bSSL\b|\bTLS\b/i.test(message)) return 'not-secure';
  if (code === 'ECONNECTION' || code === 'ESOCKET') return 'not-reached';
  if (code === 'EENVELOPE' && command === 'RCPT TO') return 'recipient';
  return code === 'EENVELOPE' || code === 'EMESSAGE' ? 'mail' : 'other';
}

const TOO_LATE = 'the mail server took too long';

async function inTime<T>(attempt: Promise<T>, milliseconds: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(TOO_LATE)), milliseconds);
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
