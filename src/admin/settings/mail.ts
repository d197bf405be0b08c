/** Settings → Mail: how mail is configured, and what follows for people who forgot their password. Nothing is set here: it is the environment's. */
import type { Config } from '../../config.ts';
import type { ConsolePage } from '../page.ts';
import { type Part, sheetPage } from '../sheet.ts';

/** Where it goes, never as whom. */
function relayOf(smtpUrl: string): string {
  const { protocol, hostname, port } = new URL(smtpUrl);
  return `${hostname}${port === '' ? '' : `:${port}`}, ${protocol === 'smtps:' ? 'TLS from the beginning' : 'TLS where the server offers it'}`;
}

function partsOf({ smtpUrl, mailFrom, loopback }: Config): readonly Part[] {
  if (smtpUrl !== undefined) {
    return [
      {
        kind: 'facts',
        facts: [
          { label: 'Mail server (SMTP_URL)', value: relayOf(smtpUrl) },
          { label: 'Signs in there', value: new URL(smtpUrl).username === '' ? 'No' : 'Yes; user name and password are not shown' },
          { label: 'Sender (MAIL_FROM)', value: mailFrom ?? '' },
        ],
      },
      STILL_TO_COME,
    ];
  }
  const meaning = loopback
    ? 'This service runs on this machine alone. There is no mail server, and none is needed to try it.'
    : 'There is no mail server. Set SMTP_URL (smtp://… or smtps://…) and MAIL_FROM, and start the service again.';
  return [{ kind: 'words', tone: 'warning', paragraphs: [meaning] }, STILL_TO_COME];
}

/** What is true until mail is built. */
const STILL_TO_COME: Part = {
  kind: 'words',
  title: 'What this means',
  paragraphs: [
    'This version sends no mail yet, whatever is configured.',
    'Links by which people choose a first or a new password are shown to the administrator who makes them, on the page of the user, once. Hand them over yourself.',
    'The sign-in page offers no “Forgot password”: people ask an administrator.',
  ],
};

const mail: ConsolePage = {
  path: '/settings/mail',
  access: 'service',
  show: async ({ services }) =>
    sheetPage({
      title: 'Mail',
      lead: 'Where mail to people goes. It is configured by the environment of the service (README, “Configuration”).',
      crumbs: [{ label: 'Settings' }],
      parts: partsOf(services.config),
    }),
};

export const mailPages: readonly ConsolePage[] = [mail];
