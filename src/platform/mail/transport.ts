/**
 * Connection to a mail server (RFC 5321) with nodemailer: one pool per process. Distinguishes permanent refusals from failures that can be retried
 * (RFC 5321 section 4.2.1); problems that the operator can fix, such as a refused login or sender, are retried.
 */
import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { createTransport } from 'nodemailer';
import type SMTPPool from 'nodemailer/lib/smtp-pool/index.js';
import { type MailTimeouts, timings } from '../clock/timings.ts';
import { isLoopbackHost } from '../config/config.ts';
import { guardedLookup, mayConnectTo, OutboundRefused } from '../http/outbound.ts';
import { inSpan, type SpanFacts } from '../telemetry/tracing.ts';

/** An e-mail to one address. */
export interface Message {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The same for every attempt, so that a duplicate can be recognized (RFC 5322 section 3.6.4); without angle brackets. */
  readonly messageId: string;
  /** Sender name if MAIL_FROM has none. */
  readonly senderName: string;
  /** BCP 47. */
  readonly language: string;
}

export interface Mailer {
  /** @throws {MailRefused} a retry would not help */
  send(message: Message): Promise<void>;
  /** @throws the server is unreachable or refuses the credentials */
  verify(): Promise<void>;
  /** @param gently pending e-mails are sent; otherwise they fail and are retried */
  close(gently?: boolean): void;
}

/** The server refuses this e-mail permanently. */
export class MailRefused extends Error {
  override readonly name = 'Refused';
}

/** Maximum connections of one process, and so concurrent e-mails. */
export const MOST_CONNECTIONS = 5;
/** Seconds after which another process can claim an e-mail: longer than any attempt. */
export const MAIL_LEASE_SECONDS = 90;

/** A mail server and the sender of its e-mails. */
export interface SmtpServer {
  /** `smtp://` or `smtps://`, with user and password if the server requires them. */
  readonly url: string;
  /** An address, or a name and an address in angle brackets. */
  readonly from: string;
  /** Reply-To address; absent: replies go to the sender. */
  readonly replyTo?: string;
}

export function smtpMailer({ url, from, replyTo }: SmtpServer, timeouts: MailTimeouts = timings.mail): Mailer {
  const options = {
    url,
    getSocket: guardedSocket(timeouts.connection),
    pool: true as const,
    maxConnections: MOST_CONNECTIONS,
    // Only the outbox retries: with two retries, one could repeat an e-mail that the other has sent.
    maxRequeues: 0,
    connectionTimeout: timeouts.connection,
    greetingTimeout: timeouts.connection,
    socketTimeout: timeouts.silence,
    dnsTimeout: timeouts.connection,
    ...(needsEncryption(url) && { requireTLS: true }),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
  const transport = createTransport(options as SMTPPool.Options);
  const sender = readSender(from);
  const span: SpanFacts = { name: 'SMTP', kind: 'client', attributes: { 'server.address': new URL(url).hostname } };

  return {
    async send({ to, subject, text, html, messageId, senderName, language }) {
      const mail = {
        from: { name: sender.name || senderName, address: sender.address },
        // The address alone: a name would be user input in a header.
        to: { name: '', address: to },
        ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
        subject,
        text,
        html,
        messageId: `<${messageId}>`,
        // RFC 3834 section 5: suppresses automatic replies.
        headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language, 'X-Auto-Response-Suppress': 'All' },
        // Also ends the connection: a hanging one would block another e-mail, and might still send this one.
        signal: AbortSignal.timeout(timeouts.mail),
      };
      try {
        await inSpan(span, () => transport.sendMail(mail));
      } catch (error) {
        throw isFinal(error) ? new MailRefused((error as Error).message, { cause: error }) : error;
      }
    },
    async verify() {
      await inTime(transport.verify(), timeouts.mail);
    },
    close: (gently = false) => (transport as Closing).close({ force: !gently }),
  };
}

/** Missing in nodemailer's types. */
interface Closing {
  close(how: { readonly force: boolean }): void;
}

/** Connection request of nodemailer, and its callback. */
type SocketWanted = { readonly host?: string; readonly port?: number; readonly secure?: boolean };
type SocketOpened = (error: Error | null, opened?: { readonly connection: Socket }) => void;

/** Mail servers in private networks are common; metadata addresses of clouds are still refused. */
const REACHABLE = { allowPrivateNetwork: true };
const lookup = guardedLookup(REACHABLE);

/**
 * Opens the connection itself, so that the checked address is the one that is used (http/outbound.ts).
 * @param timeouts milliseconds
 */
const guardedSocket =
  (timeouts: number) =>
  ({ host = 'localhost', port, secure = false }: SocketWanted, done: SocketOpened): void => {
    const bare = host.replace(/^\[|\]$/g, '');
    if (isIP(bare) !== 0 && !mayConnectTo(bare, REACHABLE)) {
      done(new OutboundRefused(`${bare} is not an address of a mail server`));
      return;
    }
    const connection = connect({ host: bare, port: port ?? (secure ? 465 : 587), lookup: lookup as LookupFunction });
    const end = (error: Error | null): void => {
      clearTimeout(late);
      connection.off('error', end).off('connect', opened);
      if (error !== null) connection.on('error', () => undefined).destroy();
      done(error, error === null ? { connection } : undefined);
    };
    const opened = (): void => end(null);
    const late = setTimeout(() => end(Object.assign(new Error('Connection timeout'), { code: 'ETIMEDOUT' })), timeouts);
    connection.once('error', end).once('connect', opened);
  };

/**
 * A password is sent to a remote server only by TLS. Otherwise an attacker on the network could strip STARTTLS and read it (RFC 8314
 * section 3). `?requireTLS=false` disables this.
 */
function needsEncryption(smtpUrl: string): boolean {
  const { username, password, hostname } = new URL(smtpUrl);
  return (username !== '' || password !== '') && !isLoopbackHost(hostname);
}

/** Parses `MAIL_FROM`; it was validated at start. */
export function readSender(from: string): { readonly name: string; readonly address: string } {
  const [, name = '', bracketed] = /^(.*?)\s*<([^<>]+)>$/.exec(from.trim()) ?? [];
  return { name: name.replace(/^"(.*)"$/, '$1'), address: bracketed ?? from.trim() };
}

/** Failure of the connection to the mail server. */
export interface MailFailure {
  readonly kind: 'no-such-server' | 'not-reached' | 'too-late' | 'not-secure' | 'login' | 'recipient' | 'mail' | 'other';
  /** Message of the server or network. */
  readonly words: string;
}

const LONGEST_WORDS = 300;

/** @param error of `send` or `verify` */
export function failureOf(error: unknown): MailFailure {
  const { code, command, response, message } = (error instanceof MailRefused ? error.cause : error) as Readonly<Record<string, unknown>>;
  const words = String(response ?? message)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return { kind: kindOf(String(code), String(command), String(message)), words: words.slice(0, LONGEST_WORDS) };
}

/** Network error codes. Refusals of the outbound guard have no code. */
const NOT_REACHED = new Set(['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'EPIPE']);

/** Nodemailer's codes, and those of the connection. */
function kindOf(code: string, command: string, message: string): MailFailure['kind'] {
  if (code === 'EAUTH' || code === 'ENOAUTH') return 'login';
  if (code === 'EDNS' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'no-such-server';
  if (code === 'ETIMEDOUT' || code === 'EABORT' || message === TOO_LATE) return 'too-late';
  if (code === 'ETLS' || code === 'EREQUIRETLS' || /certificate|\bSSL\b|\bTLS\b/i.test(message)) return 'not-secure';
  if (code === 'ECONNECTION' || code === 'ESOCKET' || NOT_REACHED.has(code)) return 'not-reached';
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

/** A 5xx response to the recipient or to the e-mail itself. */
function isFinal(error: unknown): boolean {
  const { responseCode, command } = error as { readonly responseCode?: unknown; readonly command?: unknown };
  return typeof responseCode === 'number' && responseCode >= 500 && (command === 'RCPT TO' || command === 'DATA');
}
