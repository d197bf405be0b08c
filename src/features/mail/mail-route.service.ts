/**
 * Destination of e-mail: the server from the environment (it takes precedence), the server from `settings/mail`, or the dev inbox, which is available
 * only on the machine itself (management-api.md, "How it is started and configured").
 */
import type { Config } from '../../platform/config/config.ts';
import type { Keyring } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { wrongState } from '../../platform/errors/errors.ts';
import type { SmtpServer } from '../../platform/mail/transport.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { readMailServer } from '../settings/settings.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import type { User } from '../users/users.resource.ts';
import { hasMailAddress } from './mail.service.ts';
import { MAIL_PASSWORD_CONTEXT, type MailServerSettings, NO_MAIL_SERVER, smtpUrlOf } from './mail-settings.resource.ts';

export type MailRoute =
  | { readonly kind: 'server'; readonly source: 'ENVIRONMENT' | 'SETTINGS'; readonly server: SmtpServer }
  /** `proxied-inbox`: the inbox exists, but not for this request, because it came through a proxy. */
  | { readonly kind: 'inbox' | 'proxied-inbox' | 'nowhere' };

type Parts = Pick<Services, 'config' | 'database' | 'keyring' | 'notifications'>;
type Way = Pick<RequestContext, 'isForwarded'>;

/**
 * @param settings as stored
 * @param request absent: sent by the service itself
 */
export function routeOf(
  { smtpUrl, mailFrom, loopback }: Pick<Config, 'smtpUrl' | 'mailFrom' | 'loopback'>,
  keyring: Keyring,
  settings: MailServerSettings,
  request?: Way,
): MailRoute {
  if (smtpUrl !== undefined && mailFrom !== undefined)
    return { kind: 'server', source: 'ENVIRONMENT', server: { url: smtpUrl, from: mailFrom } };
  const { password, fromAddress, fromName, replyTo } = settings;
  const url = smtpUrlOf(settings, password === null ? undefined : keyring.open(password.sealed, MAIL_PASSWORD_CONTEXT));
  if (url !== undefined && fromAddress !== null) {
    const from = fromName === null ? fromAddress : `"${fromName}" <${fromAddress}>`;
    return { kind: 'server', source: 'SETTINGS', server: { url, from, ...(replyTo !== null && { replyTo }) } };
  }
  if (!loopback) return { kind: 'nowhere' };
  return { kind: request?.isForwarded === true ? 'proxied-inbox' : 'inbox' };
}

/** Cached in this process: local changes apply immediately, others on notification. */
export async function mailRoute(services: Parts, request?: Way): Promise<MailRoute> {
  const { config, keyring } = services;
  const settings = config.smtpUrl === undefined ? await currentSettings(services, 'mail') : NO_MAIL_SERVER;
  return routeOf(config, keyring, settings, request);
}

const leadsOut = ({ kind }: MailRoute): boolean => kind === 'server' || kind === 'inbox';

/**
 * Can e-mail be sent?
 * @param request absent: sent by the service itself
 * @param trx current transaction, so that no second connection is needed
 */
export async function isMailPossible(services: Parts, request?: Way, trx?: Executor): Promise<boolean> {
  if (trx === undefined) return leadsOut(await mailRoute(services, request));
  return leadsOut(routeOf(services.config, services.keyring, await readMailServer(trx), request));
}

/** @returns the user, if a link can be sent to them by e-mail @throws {ApiError} wrong state: it cannot */
export async function requireMail<U extends Pick<User, 'email'>>(
  trx: Executor,
  services: Parts,
  user: U,
  request: RequestContext,
): Promise<U & { readonly email: string }> {
  if (!(await isMailPossible(services, request, trx)))
    throw wrongState('this service cannot send e-mail. Request the link with sendEmail=false');
  if (!hasMailAddress(user)) throw wrongState('the user has no e-mail address. Request the link with sendEmail=false');
  return user;
}
