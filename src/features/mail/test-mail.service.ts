/**
 * A test e-mail for administrators. Unlike all others, it is sent during the request, so that the mail server's response can be shown: one attempt of
 * at most 20 seconds. It is only sent to the administrator's own address, so that nobody can use the service as a relay.
 */
import { present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { failureOf, type MailFailure } from '../../platform/mail/transport.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { browserName } from '../sessions/browser-name.policy.ts';
import { type Branding, readSettings } from '../settings/settings.service.ts';
import { currentTexts } from '../settings/settings-cache.service.ts';
import { mayMailAgain } from '../sign-in/failure-limits.service.ts';
import { findUserById } from '../users/users.store.ts';
import { languageOf } from './mail.policy.ts';
import { hasMailAddress } from './mail.service.ts';
import { createMailer, deliveryOf } from './mail-delivery.service.ts';
import { isMailPossible } from './mail-route.service.ts';
import { type Mail, renderMail } from './templates.ts';

export type TestMail =
  /** A mail server, or the dev inbox, has accepted it. */
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'failed'; readonly failure: MailFailure }
  | { readonly outcome: 'not-possible' | 'no-address' | 'too-many' };

/**
 * Sends the e-mail to the caller, whose permission was checked before.
 * @param render e-mail with example values instead of the plain test
 * @param login of the recipient
 */
export async function sendTestMail(
  services: Services,
  request: RequestContext,
  render?: (login: string, brand: Branding) => Mail,
): Promise<TestMail> {
  const { config, database } = services;
  const user = await findUserById(database.knex, request.actor.id);
  if (!(await isMailPossible(services, request))) return { outcome: 'not-possible' };
  if (user === undefined || !hasMailAddress(user)) return { outcome: 'no-address' };
  if (!(await mayMailAgain(services, user.id))) return { outcome: 'too-many' };
  const current = createMailer(services, timings.testMail);
  const mailer = await current.now();
  if (mailer === undefined) return { outcome: 'not-possible' };

  const brand = await readSettings(services, 'branding');
  const texts = await currentTexts(services);
  const { ipAddress, userAgent = '' } = request;
  const occurred = { at: present(), ipAddress, browser: browserName(userAgent) };
  const plain = () => renderMail('test', languageOf(user.profile, request.language), { login: user.login, occurred }, { brand, texts });
  const mail = render === undefined ? plain() : render(user.login, brand);
  const messageId = `${crypto.randomUUID()}@${new URL(config.baseUrl).hostname}`;
  let failure: MailFailure | undefined;
  try {
    const { subject, text, html, language } = mail;
    await mailer.send({ subject, text, html, language, to: user.email, messageId, senderName: brand.name });
  } catch (error) {
    failure = failureOf(error);
  } finally {
    current.close();
  }
  await database.transaction((trx) =>
    recordEvent(trx, {
      ...deliveryOf('test', user),
      request,
      after: { kind: 'test', to: user.email },
      ...(failure !== undefined && { failure: failure.words }),
    }),
  );
  return failure === undefined ? { outcome: 'taken' } : { outcome: 'failed', failure };
}
