/** Would mail leave? The mail server is greeted and logged in to; nothing is sent. */
import { failureOf, readSender, smtpMailer } from '../../platform/mail/transport.ts';
import { Broken, must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Milliseconds. */
const PATIENCE = { connection: 5000, silence: 10_000, mail: 15_000 };

function configured(ground: CheckContext): { readonly smtpUrl: string; readonly mailFrom: string } {
  const { smtpUrl, mailFrom } = ownConfig(ground);
  if (smtpUrl === undefined || mailFrom === undefined) throw new Skipped('there is no SMTP_URL: no mail is sent');
  return { smtpUrl, mailFrom };
}

export const mail: readonly Rule<CheckContext>[] = section('Mail', [
  {
    id: 'mail.server',
    sentence: 'The mail server greets, encrypts where a password goes to it, and takes the login.',
    async run(ground) {
      const { smtpUrl, mailFrom } = configured(ground);
      const mailer = smtpMailer(smtpUrl, mailFrom, PATIENCE);
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
    id: 'mail.from',
    sentence: 'MAIL_FROM is an address that answers can come to.',
    async run(ground) {
      const { address } = readSender(configured(ground).mailFrom);
      const domain = address.split('@')[1] ?? '';
      must(/^[^.]+(\.[^.]+)+$/.test(domain) && !/\.(invalid|test|example|localhost)$|^localhost\b/.test(domain), `nobody is at ${domain}`);
    },
  },
]);
