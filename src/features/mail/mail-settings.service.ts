/** Reads and changes the mail server of `settings/mail`. Its password is stored sealed and never returned. */
import type { Services } from '../../platform/database/dependencies.ts';
import { validation } from '../../platform/errors/errors.ts';
import { readSender } from '../../platform/mail/transport.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { decideSettings, readSettings } from '../settings/settings.service.ts';
import {
  MAIL_PASSWORD_CONTEXT,
  type MailServerSettings,
  type MailSettingsBody,
  mailSettingsProblems,
  NO_MAIL_SERVER,
} from './mail-settings.resource.ts';

/** The server of SMTP_URL and MAIL_FROM, without its password. */
interface EnvironmentServer {
  readonly host: string;
  readonly port: number | null;
  readonly security: 'TLS' | 'STARTTLS' | 'OPPORTUNISTIC';
  readonly hasCredentials: boolean;
  readonly fromAddress: string;
  readonly fromName: string | null;
}

export interface ShownMailSettings extends Omit<MailServerSettings, 'password'> {
  /** Source of the mail server; the environment takes precedence. `NONE`: no mail server. */
  readonly source: 'ENVIRONMENT' | 'SETTINGS' | 'NONE';
  readonly passwordSet: boolean;
  /** null: SMTP_URL is not set. */
  readonly environment: EnvironmentServer | null;
}

function environmentServer({ smtpUrl, mailFrom }: Services['config']): EnvironmentServer | null {
  if (smtpUrl === undefined || mailFrom === undefined) return null;
  const { protocol, hostname, port, username, searchParams } = new URL(smtpUrl);
  const { name, address } = readSender(mailFrom);
  const isRequired = searchParams.get('requireTLS') === 'true' || (username !== '' && searchParams.get('requireTLS') !== 'false');
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? null : Number(port),
    security: protocol === 'smtps:' ? 'TLS' : isRequired ? 'STARTTLS' : 'OPPORTUNISTIC',
    hasCredentials: username !== '',
    fromAddress: address,
    fromName: name === '' ? null : name,
  };
}

function shown({ config }: Pick<Services, 'config'>, { password, ...rest }: MailServerSettings): ShownMailSettings {
  const environment = environmentServer(config);
  const source = environment !== null ? 'ENVIRONMENT' : rest.host === null ? 'NONE' : 'SETTINGS';
  return { source, ...rest, passwordSet: password !== null, environment };
}

/** Current settings from the database. */
export async function readMailSettings(services: Pick<Services, 'config' | 'database'>): Promise<ShownMailSettings> {
  return shown(services, await readSettings(services, 'mail'));
}

/**
 * @param body replaces the settings; an absent password is unchanged
 * @throws {ApiError} validation
 */
export async function replaceMailSettings(services: Services, body: MailSettingsBody, request: RequestContext): Promise<ShownMailSettings> {
  const { password, ...rest } = body;
  const after = await decideSettings(
    services,
    'mail',
    (stored) => {
      const before = { ...NO_MAIL_SERVER, ...stored };
      const problems = mailSettingsProblems(before, body);
      if (problems.length > 0) throw validation(problems);
      const isKept = password === undefined && before.password !== null && (rest.username ?? null) !== null;
      const sealed = password ? { sealed: services.keyring.seal(password, MAIL_PASSWORD_CONTEXT) } : isKept ? before.password : null;
      return { ...rest, ...(sealed !== null && { password: sealed }) };
    },
    request,
  );
  return shown(services, after);
}
