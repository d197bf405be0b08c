/** The mail server of `settings/mail`: its settings and URL. */
import { z } from 'zod';
import { isLoopbackHost } from '../../platform/config/config.ts';
import { shownText, text } from '../../platform/validation/text.ts';
import { isMailable } from './mail.policy.ts';

/**
 * Encryption of the connection (RFC 8314 section 3). `TLS`: from the start. `STARTTLS`: required. `OPPORTUNISTIC`: STARTTLS if the server offers it.
 */
export const MAIL_SECURITY = ['STARTTLS', 'TLS', 'OPPORTUNISTIC'] as const;
export type MailSecurity = (typeof MAIL_SECURITY)[number];

/** The server that is set in the console or by the API. Without one, the host is null. */
export interface MailServerSettings {
  readonly host: string | null;
  /** null: the default port, 465 for TLS, otherwise 587. */
  readonly port: number | null;
  readonly security: MailSecurity;
  readonly username: string | null;
  /** Sealed in the context `MAIL_PASSWORD_CONTEXT`. */
  readonly password: { readonly sealed: string } | null;
  readonly fromAddress: string | null;
  /** null: the service's name. */
  readonly fromName: string | null;
  readonly replyTo: string | null;
}

export const NO_MAIL_SERVER: MailServerSettings = {
  host: null,
  port: null,
  security: 'STARTTLS',
  username: null,
  password: null,
  fromAddress: null,
  fromName: null,
  replyTo: null,
};

export const MAIL_PASSWORD_CONTEXT = 'settings mail password';

export const portOf = ({ port, security }: Pick<MailServerSettings, 'port' | 'security'>): number =>
  port ?? (security === 'TLS' ? 465 : 587);

const isIpv6 = (value: string): boolean => value.includes(':') && /^[\da-f:.]+$/i.test(value) && URL.canParse(`http://[${value}]`);
const isIpv4 = (value: string): boolean => /^\d+(\.\d+){3}$/.test(value) && URL.canParse(`http://${value}`);

const isHost = (value: string): boolean =>
  isIpv6(value) || isIpv4(value) || (/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(value) && !value.includes('..') && !/\.\d+$/.test(value));

const address = z.string().trim().refine(isMailable, 'must be one e-mail address').nullable().exactOptional();

/** The body of `PUT settings/mail`. Absent fields return to their defaults, except the password, which is unchanged. */
export const mailSettingsBody = z.strictObject({
  host: text({ least: 1, most: 253 })
    .refine(isHost, 'must be a host name or an IP address, without a scheme or port')
    .nullable()
    .exactOptional()
    .meta({ description: 'The mail server; null: there is none' }),
  port: z.int().min(1).max(65_535).nullable().exactOptional().meta({ description: 'null: 465 with TLS, else 587' }),
  security: z.enum(MAIL_SECURITY).exactOptional().meta({
    description: 'TLS from the beginning, STARTTLS (without it no mail is sent), or OPPORTUNISTIC: STARTTLS where the server offers it',
  }),
  username: text({ least: 1 }).nullable().exactOptional().meta({ description: 'null: the server asks for no sign-in' }),
  password: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^\P{Cc}*$/u, 'must not contain control characters')
    .nullable()
    .exactOptional()
    .meta({ description: 'Never returned. Absent: it stays as it is; null: it is removed' }),
  fromAddress: address.meta({ description: 'The sender; required with a host' }),
  fromName: shownText({ least: 1, most: 100 })
    .refine((value) => !/[<>"]/.test(value), 'must not contain <, > or "')
    .nullable()
    .exactOptional()
    .meta({ description: 'Shown as the sender; null: the name of `settings/branding`' }),
  replyTo: address.meta({ description: 'Where replies go; null: to the sender' }),
});

export type MailSettingsBody = z.output<typeof mailSettingsBody>;

interface Problem {
  readonly field: string;
  readonly message: string;
}

/**
 * @param before current settings
 * @param body new settings
 * @returns their problems; none: they are valid
 */
export function mailSettingsProblems(before: MailServerSettings, body: MailSettingsBody): readonly Problem[] {
  const after = { ...NO_MAIL_SERVER, ...body };
  const { host, username, security } = after;
  const keeps = body.password === undefined && before.password !== null;
  const problems: Problem[] = [];
  if (host !== null && after.fromAddress === null)
    problems.push({ field: 'fromAddress', message: 'is required: e-mails are sent from this address' });
  if (username !== null && !keeps && !body.password) problems.push({ field: 'password', message: 'is required with a user name' });
  if (username === null && body.password) problems.push({ field: 'username', message: 'is required with a password' });
  // Otherwise a kept password would be sent to a server for which it was not given.
  if (username !== null && keeps && (host !== before.host || username !== before.username || portOf(after) !== portOf(before))) {
    problems.push({ field: 'password', message: 'must be entered again: the server or the user name has changed' });
  }
  if (username !== null && host !== null && security === 'OPPORTUNISTIC' && !isLoopbackHost(host)) {
    problems.push({ field: 'security', message: 'must be STARTTLS or TLS, to protect the password' });
  }
  return problems;
}

/**
 * @param password in clear text
 * @returns the server in the format of SMTP_URL; undefined: there is none
 */
export function smtpUrlOf(settings: MailServerSettings, password: string | undefined): string | undefined {
  const { host, security, username } = settings;
  if (host === null) return undefined;
  const login = username === null ? '' : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? '')}@`;
  const where = `${isIpv6(host) ? `[${host}]` : host}:${portOf(settings)}`;
  return security === 'TLS' ? `smtps://${login}${where}` : `smtp://${login}${where}?requireTLS=${security === 'STARTTLS'}`;
}
