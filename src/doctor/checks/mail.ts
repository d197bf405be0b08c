/** Would mail leave? The mail server is greeted and logged in to; nothing is sent. */
import { routeOf } from '../../features/mail/mail-route.service.ts';
import { readMailServer, readSettings } from '../../features/settings/settings.service.ts';
import { failureOf, readSender, type SmtpServer, smtpMailer } from '../../platform/mail/transport.ts';
import { Blocked, Broken, must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Milliseconds. */
const PATIENCE = { connection: 5000, silence: 10_000, mail: 15_000 };

/** Other rules report a database that is away. @throws {Skipped} */
async function storedSettings(ground: CheckContext) {
  try {
    return await readMailServer((await ground.database()).knex);
  } catch (error) {
    if (error instanceof Skipped || error instanceof Blocked) throw error;
    throw new Skipped('the settings cannot be read from the database');
  }
}

/** The server of the environment, otherwise of `settings/mail`. */
async function configured(ground: CheckContext): Promise<SmtpServer> {
  const config = ownConfig(ground);
  const { smtpUrl: url, mailFrom: from } = config;
  if (url !== undefined && from !== undefined) return { url, from };
  const settings = await storedSettings(ground);
  const route = settings.host === null ? undefined : routeOf(config, await ground.keyring(), settings);
  if (route?.kind !== 'server') throw new Skipped('there is no mail server in the environment or the settings: no mail is sent');
  return route.server;
}

/** Settings that require e-mail. @throws {Skipped} as `storedSettings` */
async function needsOfMail(ground: CheckContext): Promise<readonly string[]> {
  await storedSettings(ground);
  const parts = { database: await ground.database() };
  const { enabled } = await readSettings(parts, 'registration');
  const { methods, messageFactors } = await readSettings(parts, 'sign-in');
  return [
    ...(enabled ? ['settings/registration lets people sign up'] : []),
    ...(messageFactors.includes('email') ? ['settings/sign-in has codes by e-mail as a second factor'] : []),
    ...(methods.includes('email') ? ['settings/sign-in has the method email'] : []),
  ];
}

export const mail: readonly Rule<CheckContext>[] = section('Mail', [
  {
    id: 'mail.server',
    sentence: 'The mail server greets, encrypts where a password goes to it, and takes the login.',
    async run(ground) {
      const mailer = smtpMailer(await configured(ground), PATIENCE);
      try {
        await mailer.verify();
      } catch (error) {
        const { kind, words } = failureOf(error);
        throw new Broken(`${kind}: ${words}`);
      } finally {
        mailer.close();
      }
    },
  },
  {
    id: 'mail.sign-up',
    sentence: 'Where people sign up or sign in by e-mail, or get codes by it, mail can be sent.',
    async run(ground) {
      const [need] = await needsOfMail(ground);
      if (need === undefined) throw new Skipped('nobody signs up, signs in or gets codes by e-mail');
      const route = routeOf(ownConfig(ground), await ground.keyring(), await storedSettings(ground));
      must(route.kind === 'server' || route.kind === 'inbox', `${need}, but there is no mail server in the environment or the settings`);
    },
  },
  {
    id: 'mail.from',
    sentence: 'The sender of mail is an address that answers can come to.',
    async run(ground) {
      const { address } = readSender((await configured(ground)).from);
      const domain = address.split('@')[1] ?? '';
      must(/^[^.]+(\.[^.]+)+$/.test(domain) && !/\.(invalid|test|example|localhost)$|^localhost\b/.test(domain), `nobody is at ${domain}`);
    },
  },
]);
