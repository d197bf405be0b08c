/** The first page of the console: what happens and how the service is doing, who one is here, what one may do, and where to find it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Tone } from '../../pages/console/detail-page.ts';
import { momentOf } from '../../pages/console/moments.ts';
import { menuFor } from '../../pages/console/navigation.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { mayCall, type RoleType } from '../administrators/administration.policy.ts';
import { chartInWords, signInChart } from '../audit/sign-in-chart.console.ts';
import { getOrganization } from '../organizations/organizations.service.ts';
import {
  type Expiry,
  type Health,
  listExpiries,
  listNextSteps,
  listOwnOrganizations,
  type NextStep,
  readCounts,
  readHealth,
  type SignInCounts,
} from './dashboard.service.ts';

const ROLES: Readonly<Record<RoleType, readonly [name: string, meaning: string]>> = {
  SUPER_ADMIN: ['Super administrator', 'You may see and change everything.'],
  READ_ONLY_ADMIN: ['Read-only administrator', 'You see everything and change nothing but what is your own.'],
  ORG_ADMIN: ['Organization administrator', 'You look after this organization, its departments and its people:'],
};

/** What an entry of the menu is for, by its address. */
const PURPOSES: Readonly<Record<string, string>> = {
  '/admin/organizations': 'Organizations with their departments and members',
  '/admin/applications': 'Applications that people sign in to, and services that call your APIs, each with all it needs to connect',
  '/admin/api/servers': 'Authorization servers with their scopes, claims, access policies and keys, and what a request would come to',
  '/admin/users': 'People: profiles, organizations, groups, sessions, consents, factors, roles, and the life of their accounts',
  '/admin/groups': 'Groups of users, by which applications are assigned and which tokens tell',
  '/admin/security/sessions': 'How long browsers stay signed in',
  '/admin/security/administrators': 'Who administers what',
  '/admin/api/event-hooks': 'Other systems that are told of what happens here',
  '/admin/security/identity-providers': 'Sign-in with accounts that people have elsewhere: Google, GitHub, Microsoft, any OpenID provider',
  '/admin/security/sign-in-policy': 'Who needs a second factor',
  '/admin/security/passwords': 'What is asked of new passwords',
  '/admin/settings/branding': 'Name, logo, colours and links on the pages for people, and each application’s',
  '/admin/settings/mail': 'Where mail goes, what waits, what could not be delivered, and a mail to try it',
  '/admin/reports/log': 'Who did what, when and from where, and what decided',
  '/admin/api/tokens': 'Tokens for scripts and tools that call the management API in your name',
};

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')));

/** One's roles in words; those of organizations with the organization. */
function rolesOf({ services, request }: ConsoleRequest) {
  return Promise.all(
    request.roles.map(async ({ type, orgId }) => {
      const [name, meaning] = ROLES[type];
      const organization = orgId === undefined ? undefined : await getOrganization(services, orgId, request);
      return { name, meaning, organization: organization && { name: organization.name, href: `/admin/organizations/${organization.id}` } };
    }),
  );
}

/** What to do first on a fresh installation; the link where it is done. */
const STEPS: Readonly<Record<NextStep, { readonly label: string; readonly href: string; readonly why: string }>> = {
  application: {
    label: 'Create an application',
    href: '/admin/applications/new',
    why: 'Whatever people sign in to, and every program that calls your APIs, is an application.',
  },
  token: {
    label: 'Create an API token',
    href: '/admin/api/tokens/new',
    why: 'Scripts and tools call the management API with one, in your name.',
  },
  branding: { label: 'Set the branding', href: '/admin/settings/branding', why: 'Tells users whose sign-in page it is.' },
  mail: {
    label: 'Set up mail',
    href: '/admin/settings/mail',
    why: 'So that people get invited, choose a forgotten password anew and are told of what happens to their account.',
  },
};

const REASONS: Readonly<Record<string, string>> = {
  INVALID_CREDENTIALS: 'Wrong password',
  UNKNOWN_USER: 'Unknown user name',
  LOCKED_OUT: 'Locked after too many wrong passwords',
  USER_NOT_ACTIVE: 'The account is not active',
  PASSWORD_EXPIRED: 'The password had expired',
};

interface Told {
  readonly label: string;
  readonly text: string;
  readonly tone?: Tone;
  readonly href?: string;
}

/** An entry that is not sealed ten seconds after it is late; some minutes of silence are none. */
const LONG_SILENCE_MS = 5 * 60_000;

const MAIL: Readonly<Record<Health['mail'], Omit<Told, 'label'>>> = {
  server: { text: 'A mail server is configured' },
  inbox: { text: 'Dev inbox: no mail server is configured', tone: 'warning' },
  nowhere: { text: 'Not sent: no mail server is configured', tone: 'warning' },
};

const toldFailed = (count: number): Omit<Told, 'label'> =>
  count === 0
    ? { text: 'None', tone: 'good' }
    : { text: `${count.toLocaleString('en')} in the last 7 days`, tone: 'bad', href: '/admin/settings/mail' };

function toldHealth({ databaseMs, outbox, sealed, mail, mailsFailed }: Health): readonly Told[] {
  const waiting = `${outbox.isMore ? 'at least ' : ''}${outbox.count.toLocaleString('en')}`;
  const since = outbox.oldest === null ? '' : `, the oldest since ${momentOf(outbox.oldest).text}`;
  const isLate = outbox.oldest !== null && present().getTime() - outbox.oldest.getTime() > LONG_SILENCE_MS;
  return [
    { label: 'Database', text: `Answers, in ${Math.max(1, Math.round(databaseMs))} ms`, tone: 'good' },
    {
      label: 'Delivery queue',
      text: outbox.count === 0 ? 'Nothing' : `${waiting}${since}`,
      tone: isLate ? 'warning' : 'good',
    },
    { label: 'Audit log last sealed', text: sealed === undefined ? 'Not yet' : momentOf(sealed).text },
    { label: 'Mail', ...MAIL[mail] },
    { label: 'Undelivered e-mails', ...toldFailed(mailsFailed) },
    { label: 'Version', text: version },
  ];
}

function toldCounts({ activity: { days, reasons }, totals }: SignInCounts) {
  const today = days.at(-1)?.day ?? '';
  const failures = '/admin/reports/log?type=user.authentication.failure';
  return {
    chart: signInChart(days),
    inWords: chartInWords(days),
    failures,
    reasons: reasons.map(({ reason, count }) => ({
      text: REASONS[reason] ?? (reason || 'Not known'),
      count: count.toLocaleString('en'),
      href: `${failures}&q=${encodeURIComponent(reason)}&since=${today}T00:00`,
    })),
    totals: [
      { label: 'Users', count: totals.users.toLocaleString('en'), href: '/admin/users' },
      { label: 'Applications', count: totals.applications.toLocaleString('en'), href: '/admin/applications' },
      { label: 'Organizations', count: totals.organizations.toLocaleString('en'), href: '/admin/organizations' },
    ],
  };
}

/** Of the whole service; for those who see all of it. */
async function serviceFacts({ services, request }: ConsoleRequest) {
  const counted = await readCounts(services);
  return {
    health: toldHealth(await readHealth(services, request)),
    counted: counted && toldCounts(counted),
    uncounted: counted === undefined,
  };
}

const EXPIRIES: Readonly<
  Record<Expiry['what'], (expiry: Expiry) => { readonly what: string; readonly href: string; readonly next: string }>
> = {
  token: ({ name }) => ({ what: `API token “${name}”`, href: '/admin/api/tokens', next: 'Expires: what uses it is refused from then on' }),
  'key-rotation': ({ id, name }) => ({ what: `Signing key of “${name}”`, href: keysOf(id), next: 'Is replaced by itself' }),
  'retired-key': ({ id, name }) => ({ what: `Retired signing key of “${name}”`, href: keysOf(id), next: 'Is published no more' }),
};

const keysOf = (serverId: string): string => `/admin/api/servers/${encodeURIComponent(serverId)}/keys`;
const toldExpiry = (expiry: Expiry) => ({ ...EXPIRIES[expiry.what](expiry), at: momentOf(expiry.at) });

export const dashboard: ConsolePage = {
  path: '/',
  access: 'own',
  async show(visit) {
    const { person, request, services } = visit;
    const entries = menuFor(request.roles, '').flatMap(({ label: section, entries: those }) =>
      those.map(({ label, href }) => ({ section, label, href, purpose: PURPOSES[href] })),
    );
    const seesAll = mayCall(request.roles, 'service', 'read');
    const locals = {
      steps: mayCall(request.roles, 'service', 'write') ? (await listNextSteps(services)).map((step) => STEPS[step]) : [],
      ...(seesAll ? await serviceFacts(visit) : { health: undefined, counted: undefined }),
      own: (await listOwnOrganizations(services, request)).map(({ id, name, memberCount }) => ({
        name,
        href: `/admin/organizations/${encodeURIComponent(id)}`,
        members: memberCount === 1 ? '1 member' : `${memberCount.toLocaleString('en')} members`,
      })),
      expiries: (await listExpiries(services, person.id, request)).map(toldExpiry),
      roles: await rolesOf(visit),
      entries,
      version,
      api: `${services.config.baseUrl}/api/v1`,
    };
    const name = person.name || person.login;
    return { view: 'dashboard', title: 'Dashboard', lead: `Welcome, ${name}.`, locals };
  },
};
