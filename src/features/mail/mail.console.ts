/**
 * Settings → Mail: the mail server, its effects for users, pending and recently failed e-mails, and a test e-mail. The server in the environment
 * takes precedence over the one that is set here.
 */

import { type Content, detailPage, type Fact, type Part } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { Action, ConsolePage, ConsoleRequest, Drawn, Typed } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { phrase, type Text, type Value } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import type { MailFailure } from '../../platform/mail/transport.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { addressOfEntry } from '../audit/event-links.console.ts';
import { getUser } from '../users/users.service.ts';
import { hasMailAddress } from './mail.service.ts';
import { type MailState, readMailState } from './mail-delivery.service.ts';
import { type MailRoute, mailRoute } from './mail-route.service.ts';
import { editMailServer, SECURITY } from './mail-server.console.ts';
import { portOf } from './mail-settings.resource.ts';
import { readMailSettings, type ShownMailSettings } from './mail-settings.service.ts';
import { sendTestMail, type TestMail } from './test-mail.service.ts';

const HOME = '/admin/settings/mail';
/** The tab of the templates is in features/texts/mail-templates.console.ts. */
export const MAIL_TABS: readonly Action[] = [
  { label: 'Server', href: HOME },
  { label: 'Templates', href: `${HOME}/templates` },
];
const INBOX = '/dev/inbox';
const CRUMBS = [{ label: 'Settings' }, { label: 'Mail', href: HOME }];
const FAILURES = '/admin/reports/log?type=system.email.delivery&outcome=FAILURE';
/** Milliseconds after which a queued e-mail counts as delayed. Without problems, it waits about a second. */
const LATE_MS = 60_000;

type Way = MailRoute['kind'];

const wayOf = async ({ services, request }: ConsoleRequest): Promise<Way> => (await mailRoute(services, request)).kind;
const leadsOut = (way: Way): boolean => way === 'server' || way === 'inbox';

const WITHOUT_SERVER: Readonly<Record<Exclude<Way, 'server'>, readonly string[]>> = {
  inbox: [
    'There is no mail server. To let you try the service on this machine, e-mails stay in the dev inbox for one day. They are not sent to anybody.',
    'Only a browser on this machine can open the dev inbox, and only without a proxy in between, because its links open every account.',
  ],
  'proxied-inbox': [
    'There is no mail server, and you came through a proxy. The dev inbox is only for a browser on the machine itself, so no e-mail is sent for you.',
    'Set up a mail server to send e-mail.',
  ],
  nowhere: ['There is no mail server, so no e-mail is sent. Set one up.'],
};

/** Effects of the state on users. */
const MEANINGS: Readonly<Record<'mail' | 'none', readonly string[]>> = {
  mail: [
    'New users get an invitation link, and users who forgot their password request a link on the sign-in page. You can also see a link yourself and pass it on.',
    'Users are notified of a sign-in with a new browser, and of changes to their password, factors, connected accounts and address.',
    'A link works once: an invitation for seven days, a new password for one hour, the confirmation of an address for one day.',
    'Undelivered e-mails are retried for about a day.',
  ],
  none: [
    'Links to choose a password are shown once to the administrator who creates them. Pass them on yourself.',
    'The sign-in page offers no “Forgot password”: users ask an administrator.',
    'Users are not notified of sign-ins with a new browser or of changes to their account, and no address can be confirmed.',
  ],
};

function serverFacts({ source, environment, ...set }: ShownMailSettings): readonly Fact[] {
  const { host, security, fromAddress, fromName } = environment ?? set;
  const port = portOf(environment ?? set);
  const signsIn =
    environment === null ? set.username : environment.hasCredentials ? phrase('Yes; user name and password are not shown') : null;
  return [
    {
      label: 'Mail server',
      value: [{ text: `${host ?? ''}:${port}`, code: true }, ...(source === 'ENVIRONMENT' ? [FROM_ENVIRONMENT] : [])],
    },
    { label: 'Encryption', value: phrase(SECURITY[security][0]) },
    { label: 'User name', value: signsIn ?? '' },
    { label: 'Sender', value: fromName === null ? (fromAddress ?? '') : `${fromName} <${fromAddress}>` },
    ...(environment === null ? [{ label: 'Replies go to', value: set.replyTo ?? phrase('The sender') }] : []),
  ];
}
const FROM_ENVIRONMENT = { text: 'Set by SMTP_URL', tone: 'plain' as const };

function waitingText({ waiting: { count, isMore, oldest } }: MailState): Content {
  if (oldest === null) return { text: 'None', tone: 'good' };
  const isLate = present().getTime() - oldest.getTime() > LATE_MS;
  const number = phrase(isMore ? 'At least {count}, the oldest since' : '{count}, the oldest since', { count });
  return [{ text: number }, { moment: momentOf(oldest) }, ...(isLate ? [{ text: 'Late', tone: 'warning' as const }] : [])];
}

function stateFacts(state: MailState): readonly Fact[] {
  const { waiting, failed } = state;
  const { last } = failed;
  return [
    { label: 'Queued', value: waitingText(state) },
    ...(waiting.lastError === null ? [] : [{ label: 'Why the last attempt failed', value: waiting.lastError }]),
    {
      label: 'Failed in the last 7 days',
      value: failed.count === 0 ? { text: 'None', tone: 'good' } : [{ text: failed.count, href: FAILURES }],
    },
    ...(last === undefined
      ? []
      : [
          {
            label: 'Latest',
            value: [{ moment: momentOf(last.at) }, { text: last.reason || phrase('Reason unknown'), href: addressOfEntry(last.uuid) }],
          },
        ]),
  ];
}

const page: ConsolePage = {
  path: '/settings/mail',
  access: 'service',
  async show(visit) {
    const { services, request } = visit;
    const way = await wayOf(visit);
    const isPossible = leadsOut(way);
    const settings = await readMailSettings(services);
    const mayWrite = mayCall(request.roles, 'service', 'write');
    const where: readonly Part[] = [
      ...(settings.environment === null
        ? []
        : [
            {
              kind: 'words',
              paragraphs: ['The environment variables SMTP_URL and MAIL_FROM name the mail server. They win over these settings.'],
            } as const,
          ]),
      way === 'server'
        ? { kind: 'facts', facts: serverFacts(settings) }
        : { kind: 'words', tone: 'warning', paragraphs: WITHOUT_SERVER[way] },
    ];
    const state: Part = { kind: 'facts', title: 'Delivery', facts: stateFacts(await readMailState(services)) };
    const edit =
      settings.environment !== null || !mayWrite
        ? []
        : [{ label: way === 'server' ? 'Edit' : 'Set up a mail server', href: `${HOME}/edit`, main: way !== 'server' }];
    return detailPage({
      title: 'Mail',
      lead: 'The mail server that sends e-mails to users.',
      crumbs: CRUMBS.slice(0, 1),
      tabs: MAIL_TABS,
      actions: [
        ...(way === 'inbox' ? [{ label: 'Open the dev inbox', icon: 'mail' as const, href: INBOX }] : []),
        ...edit,
        ...(isPossible && mayWrite ? [{ label: 'Send test e-mail', href: `${HOME}/test`, main: way === 'server' }] : []),
      ],
      parts: [
        ...where,
        ...(way === 'nowhere' ? [] : [state]),
        { kind: 'words', title: 'Explanation', paragraphs: MEANINGS[isPossible ? 'mail' : 'none'] },
      ],
    });
  },
};

const FAILED: Readonly<Record<MailFailure['kind'], string>> = {
  'no-such-server': 'There is no mail server of this name. Check the host',
  'not-reached': 'The mail server cannot be reached. Check host, port and firewall, and whether the server runs',
  'too-late': 'The mail server did not answer in time. Check host, port, encryption and firewall',
  'not-secure': 'There is no secure connection to the mail server. Check its certificate, and whether its port needs TLS or STARTTLS',
  login: 'The mail server does not accept the user name and password, or needs them',
  recipient: 'The mail server does not accept e-mail for your address',
  mail: 'The mail server refused the e-mail. Check whether it accepts the sender',
  other: 'The e-mail could not be sent',
};

const NOT_SENT: Readonly<Record<Exclude<TestMail['outcome'], 'taken' | 'failed'>, string>> = {
  'not-possible': 'This service cannot send e-mail.',
  'no-address': 'Your account has no usable e-mail address.',
  'too-many': 'Many e-mails were sent to you recently. Try again in an hour.',
};

function testForm(address: Value, typed: Typed): Drawn {
  return formPage(
    {
      title: 'Send test e-mail',
      crumbs: CRUMBS,
      facts: [
        phrase('It goes to {address}, the address of your own account, and nowhere else.', { address }),
        'It is sent immediately, and you see the response of the mail server. This may take up to 20 seconds.',
      ],
      submit: 'Send test e-mail',
      cancel: HOME,
    },
    typed,
  );
}

/** The caller's e-mail address. @returns undefined if there is none to which e-mail can be sent */
async function ownAddress({ services, person, request }: ConsoleRequest): Promise<string | undefined> {
  const user = await getUser(services, person.id, request);
  return hasMailAddress(user) ? user.email : undefined;
}

const test: ConsolePage = {
  path: '/settings/mail/test',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const isPossible = leadsOut(await wayOf(visit));
    const address = await ownAddress(visit);
    if (isPossible && address !== undefined) return testForm(address, typed);
    return detailPage({
      title: 'Send test e-mail',
      crumbs: CRUMBS,
      parts: [
        {
          kind: 'words',
          tone: 'warning',
          paragraphs: isPossible
            ? ['Your account has no usable e-mail address. A test e-mail goes only to your own address, so add one first.']
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
    if (sent.outcome === 'taken') return { goTo: HOME, notice: await testMailNotice(visit) };
    const message = testMailProblem(sent);
    return testForm((await ownAddress(visit)) ?? phrase('your address'), { values: form, problems: [{ message }] });
  },
};

/** Result of a test e-mail for the administrator. */
export const testMailProblem = (sent: Exclude<TestMail, { outcome: 'taken' }>): Text =>
  sent.outcome === 'failed'
    ? phrase('{problem}. It says: {words}', { problem: phrase(FAILED[sent.failure.kind]), words: sent.failure.words })
    : NOT_SENT[sent.outcome];

export const testMailNotice = async (visit: ConsoleRequest): Promise<PageNotice> =>
  (await wayOf(visit)) === 'server' ? 'test-mail-taken' : 'test-mail-in-inbox';

export const mailPages: readonly ConsolePage[] = [page, editMailServer, test];
