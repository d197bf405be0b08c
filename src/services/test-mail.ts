/**
 * A mail by which an administrator tries whether mail goes out. Sent in the request, unlike all others, so that the mail server's answer can be told: for
 * 20 seconds at most, and once. It goes to his own address and to no other, so that nobody makes a relay of it.
 */
import { present } from '../clock.ts';
import { renderMail } from '../mail/templates.ts';
import { failureOf, type MailFailure } from '../mail/transport.ts';
import { browserName } from '../policy/browser-name.ts';
import { languageOf } from '../policy/mail.ts';
import { findUserById } from '../store/users.ts';
import { timings } from '../timings.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';
import { mayMailAgain } from './failure-limits.ts';
import { hasMailAddress, isMailPossible } from './mail.ts';
import { createMailer, deliveryOf } from './mail-delivery.ts';
import { readSettings } from './settings.ts';

export type TestMail =
  /** A mail server, or the dev inbox, has taken it. */
  | { readonly outcome: 'taken' }
  | { readonly outcome: 'failed'; readonly failure: MailFailure }
  | { readonly outcome: 'not-possible' | 'no-address' | 'too-many' };

/** Who acts gets it. That he may is found out before. */
export async function sendTestMail(services: Services, request: RequestContext): Promise<TestMail> {
  const { config, database } = services;
  const user = await findUserById(database.knex, request.actor.id);
  if (!isMailPossible(config, request)) return { outcome: 'not-possible' };
  if (user === undefined || !hasMailAddress(user)) return { outcome: 'no-address' };
  if (!(await mayMailAgain(services, user.id))) return { outcome: 'too-many' };
  const mailer = createMailer(services, timings.testMail);
  if (mailer === undefined) return { outcome: 'not-possible' };

  const brand = await readSettings(services, 'branding');
  const { ipAddress, userAgent = '' } = request;
  const occurred = { at: present(), ipAddress, browser: browserName(userAgent) };
  const mail = renderMail('test', languageOf(user.profile, request.language), { login: user.login, occurred }, brand);
  const messageId = `${crypto.randomUUID()}@${new URL(config.baseUrl).hostname}`;
  let failure: MailFailure | undefined;
  try {
    await mailer.send({ ...mail, to: user.email, messageId, senderName: brand.name });
  } catch (error) {
    failure = failureOf(error);
  } finally {
    mailer.close();
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
