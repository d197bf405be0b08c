/**
 * Settings → Mail: where mail goes, what follows for people, what waits and what was not delivered of late; and a mail by which an administrator tries it.
 * Nothing is set here: it is the environment's.
 */

import { type Content, detailPage, type Fact, type Part } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import { momentOf } from '../../pages/console/moments.ts';
import type { ConsolePage, ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Config } from '../../platform/config/config.ts';
import type { MailFailure } from '../../platform/mail/transport.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { addressOfEntry } from '../audit/event-links.console.ts';
import { getUser } from '../users/users.service.ts';
import { hasMailAddress, isMailPossible } from './mail.service.ts';
import { type MailState, readMailState } from './mail-state.service.ts';
import { sendTestMail, type TestMail } from './test-mail.service.ts';

const HOME = '/admin/settings/mail';
const INBOX = '/dev/inbox';
const CRUMBS = [{ label: 'Settings' }, { label: 'Mail', href: HOME }];
const FAILURES = '/admin/reports/log?type=system.email.delivery&outcome=FAILURE';
/** A mail that is sent at the first attempt waits for a second or so. */
const LATE_MS = 60_000;

type Way = 'server' | 'inbox' | 'proxied inbox' | 'nowhere';

function wayOf({ services: { config }, request }: ConsoleRequest): Way {
  if (config.smtpUrl !== undefined) return 'server';
  if (isMailPossible(config, request)) return 'inbox';
  return config.loopback ? 'proxied inbox' : 'nowhere';
}

/** Where it goes, never as whom. */
function relayOf(smtpUrl: string): string {
  const { protocol, hostname, port } = new URL(smtpUrl);
  return `${hostname}${port === '' ? '' : `:${port}`}, ${protocol === 'smtps:' ? 'TLS from the beginning' : 'TLS where the server offers it'}`;
}

const WITHOUT_SERVER: Readonly<Record<Exclude<Way, 'server'>, readonly string[]>> = {
  inbox: [
    'There is no mail server. This service runs on this machine alone, so that it can be tried: what it would send lies in its dev inbox for a day. Nobody else gets it.',
    'Only a browser on this machine opens the dev inbox, and only without a proxy in between: whoever reads it could use every link.',
  ],
  'proxied inbox': [
    'There is no mail server, and you came by way of a proxy. The dev inbox is only for a browser on the machine itself, so what you ask for here is not sent.',
    'Set SMTP_URL (smtp://… or smtps://…) and MAIL_FROM, and start the service again.',
  ],
  nowhere: [
    'There is no mail server, so no mail is sent. Set SMTP_URL (smtp://… or smtps://…) and MAIL_FROM, and start the service again.',
  ],
};

/** What is so for people. */
const MEANINGS: Readonly<Record<'mail' | 'none', readonly string[]>> = {
  mail: [
    'New people are invited by a link, and whoever forgot a password asks for a link on the sign-in page. You can have a link shown to you instead, and hand it over yourself.',
    'People are told of a sign-in with a new browser, and of changes of their password, factors, connected accounts and address.',
    'A link works once: an invitation for seven days, a new password for one hour, the confirmation of an address for one day.',
    'What cannot be sent is tried again for a day or so, and given up then.',
  ],
  none: [
    'Links by which people choose a first or a new password are shown to the administrator who makes them, once. Hand them over yourself.',
    'The sign-in page offers no “Forgot password”: people ask an administrator.',
    'Nobody is told of sign-ins with a new browser, nor of changes of an account, and no address can be confirmed.',
  ],
};

const serverFacts = ({ smtpUrl = '', mailFrom = '' }: Config): readonly Fact[] => [
  { label: 'Mail server (SMTP_URL)', value: relayOf(smtpUrl) },
  { label: 'Signs in there', value: new URL(smtpUrl).username === '' ? 'No' : 'Yes; user name and password are not shown' },
  { label: 'Sender (MAIL_FROM)', value: mailFrom },
];

function toldWaiting({ waiting: { count, isMore, oldest } }: MailState): Content {
  if (oldest === null) return { text: 'None', tone: 'good' };
  const isLate = present().getTime() - oldest.getTime() > LATE_MS;
  const number = `${isMore ? 'At least ' : ''}${count.toLocaleString('en')}, the oldest since`;
  return [{ text: number }, { moment: momentOf(oldest) }, ...(isLate ? [{ text: 'Late', tone: 'warning' as const }] : [])];
}

function stateFacts(state: MailState): readonly Fact[] {
  const { waiting, failed } = state;
  const { last } = failed;
  return [
    { label: 'Queued', value: toldWaiting(state) },
    ...(waiting.lastError === null ? [] : [{ label: 'Why the last attempt failed', value: waiting.lastError }]),
    {
      label: 'Failed in the last 7 days',
      value: failed.count === 0 ? { text: 'None', tone: 'good' } : [{ text: failed.count.toLocaleString('en'), href: FAILURES }],
    },
    ...(last === undefined
      ? []
      : [
          {
            label: 'The last of them',
            value: [{ moment: momentOf(last.at) }, { text: last.reason || 'Why is not known', href: addressOfEntry(last.uuid) }],
          },
        ]),
  ];
}

const page: ConsolePage = {
  path: '/settings/mail',
  access: 'service',
  async show(visit) {
    const { services, request } = visit;
    const way = wayOf(visit);
    const isPossible = way === 'server' || way === 'inbox';
    const where: Part =
      way === 'server'
        ? { kind: 'facts', facts: serverFacts(services.config) }
        : { kind: 'words', tone: 'warning', paragraphs: WITHOUT_SERVER[way] };
    const state: Part = { kind: 'facts', title: 'How it fares', facts: stateFacts(await readMailState(services)) };
    return detailPage({
      title: 'Mail',
      lead: 'Where mail to people goes. Set SMTP_URL and MAIL_FROM in the environment of the service.',
      crumbs: CRUMBS.slice(0, 1),
      actions: [
        ...(way === 'inbox' ? [{ label: 'Open the dev inbox', href: INBOX }] : []),
        ...(isPossible && mayCall(request.roles, 'service', 'write')
          ? [{ label: 'Send test e-mail', href: `${HOME}/test`, main: true }]
          : []),
      ],
      parts: [
        where,
        ...(way === 'nowhere' ? [] : [state]),
        { kind: 'words', title: 'What this means', paragraphs: MEANINGS[isPossible ? 'mail' : 'none'] },
      ],
    });
  },
};

const FAILED: Readonly<Record<MailFailure['kind'], string>> = {
  'no-such-server': 'There is no mail server of this name: look at SMTP_URL',
  'not-reached': 'The mail server cannot be reached: look at name and port in SMTP_URL, at the firewall, and whether the server runs',
  'too-late': 'The mail server did not answer in time: look at name and port in SMTP_URL, and at the firewall',
  'not-secure':
    'There is no secure connection to the mail server: look at its certificate, and whether SMTP_URL begins with smtps:// where its port asks for it',
  login: 'The mail server does not accept the user name and password in SMTP_URL, or wants some',
  recipient: 'The mail server takes no mail for your address',
  mail: 'The mail server does not take the mail: look whether it lets the sender in MAIL_FROM send by way of it',
  other: 'The mail could not be handed over',
};

const NOT_SENT: Readonly<Record<Exclude<TestMail['outcome'], 'taken' | 'failed'>, string>> = {
  'not-possible': 'No mail can be sent from here.',
  'no-address': 'Your account has no address that mail can be sent to.',
  'too-many': 'Many mails were sent to you of late. Try again in an hour.',
};

function testForm(address: string, typed: Typed): Drawn {
  return formPage(
    {
      title: 'Send test e-mail',
      crumbs: CRUMBS,
      facts: [
        `It goes to ${address}, the address of your own account, and nowhere else.`,
        'It is sent at once, and you are told what the mail server answers. That may take up to 20 seconds.',
      ],
      submit: 'Send test e-mail',
      cancel: HOME,
    },
    typed,
  );
}

/** @returns undefined when there is none that mail can be sent to */
async function ownAddress({ services, person, request }: ConsoleRequest): Promise<string | undefined> {
  const user = await getUser(services, person.id, request);
  return hasMailAddress(user) ? user.email : undefined;
}

const test: ConsolePage = {
  path: '/settings/mail/test',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const way = wayOf(visit);
    const address = await ownAddress(visit);
    const isPossible = way === 'server' || way === 'inbox';
    if (isPossible && address !== undefined) return testForm(address, typed);
    return detailPage({
      title: 'Send test e-mail',
      crumbs: CRUMBS,
      parts: [
        {
          kind: 'words',
          tone: 'warning',
          paragraphs: isPossible
            ? [
                'Your account has no address that mail can be sent to, and a test mail goes to your own address alone. Give your account one first.',
              ]
            : [NOT_SENT['not-possible']],
        },
      ],
      actions: isPossible
        ? [{ label: 'Edit your profile', href: `/admin/users/${encodeURIComponent(visit.person.id)}/edit`, main: true }]
        : [{ label: 'Back', href: HOME }],
    });
  },
  async receive(visit, form) {
    const sent = await sendTestMail(visit.services, visit.request);
    if (sent.outcome === 'taken') return { goTo: HOME, notice: wayOf(visit) === 'server' ? 'test-mail-taken' : 'test-mail-in-inbox' };
    const message = sent.outcome === 'failed' ? `${FAILED[sent.failure.kind]}. It says: ${sent.failure.words}` : NOT_SENT[sent.outcome];
    return testForm((await ownAddress(visit)) ?? 'your address', { values: form, problems: [{ message }] });
  },
};

export const mailPages: readonly ConsolePage[] = [page, test];
