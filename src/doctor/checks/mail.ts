/** Can e-mail be sent? Connects to the mail server and signs in; nothing is sent. */
import { routeOf } from '../../features/mail/mail-route.service.ts';
import { readMailServer, readSettings } from '../../features/settings/settings.service.ts';
import { failureOf, readSender, type SmtpServer, smtpMailer } from '../../platform/mail/transport.ts';
import { Broken, must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig, readStored } from './check-context.ts';

/** Milliseconds. */
const TIMEOUTS_MS = { connection: 5000, silence: 10_000, mail: 15_000 };

const storedServer = (context: CheckContext) => readStored(context, ({ knex }) => readMailServer(knex));

/** The server of the environment, otherwise of `settings/mail`. */
async function configured(context: CheckContext): Promise<SmtpServer> {
  const config = ownConfig(context);
  const { smtpUrl: url, mailFrom: from } = config;
  if (url !== undefined && from !== undefined) return { url, from };
  const settings = await storedServer(context);
  const route = settings.host === null ? undefined : routeOf(config, await context.keyring(), settings);
  if (route?.kind !== 'server') throw new Skipped('no mail server is configured: no e-mail is sent');
  return route.server;
}

/** Settings that require e-mail. */
const needsOfMail = (context: CheckContext): Promise<readonly string[]> =>
  readStored(context, async (database) => {
    const { enabled } = await readSettings({ database }, 'registration');
    const { methods, messageFactors } = await readSettings({ database }, 'sign-in');
    return [
      ...(enabled ? ['settings/registration allows sign-up'] : []),
      ...(messageFactors.includes('email') ? ['settings/sign-in allows codes by e-mail as a second factor'] : []),
      ...(methods.includes('email') ? ['settings/sign-in allows sign-in by e-mail'] : []),
    ];
  });

export const mail: readonly Rule<CheckContext>[] = section('Mail', [
  {
    id: 'mail.server',
    sentence: 'The mail server is reachable, encrypts the connection and accepts the credentials.',
    async run(context) {
      const mailer = smtpMailer(await configured(context), TIMEOUTS_MS);
      try {
        await mailer.verify();
      } catch (error) {
        const { kind, words } = failureOf(error);
        throw new Broken(`${kind}: ${words}. Check SMTP_URL or settings/mail`);
      } finally {
        mailer.close();
      }
    },
  },
  {
    id: 'mail.sign-up',
    sentence: 'If users sign up, sign in or get codes by e-mail, a mail server is configured.',
    async run(context) {
      const [need] = await needsOfMail(context);
      if (need === undefined) throw new Skipped('sign-up, sign-in and codes by e-mail are off');
      const route = routeOf(ownConfig(context), await context.keyring(), await storedServer(context));
      must(
        route.kind === 'server' || route.kind === 'inbox',
        `${need}, but no mail server is configured: set SMTP_URL and MAIL_FROM, or settings/mail`,
      );
    },
  },
  {
    id: 'mail.from',
    sentence: 'The sender address of e-mails can receive replies.',
    async run(context) {
      const { address } = readSender((await configured(context)).from);
      const domain = address.split('@')[1] ?? '';
      must(
        /^[^.]+(\.[^.]+)+$/.test(domain) && !/\.(invalid|test|example|localhost)$|^localhost\b/.test(domain),
        `${domain} cannot receive e-mail: set MAIL_FROM or settings/mail to an address of yours`,
      );
    },
  },
]);
