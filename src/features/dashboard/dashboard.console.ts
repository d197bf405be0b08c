/** The first page of the console: current activity, the state of the service, the administrator's own role, and links. */

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Tone } from '../../pages/console/detail-page.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { counted, type Phrase, phrase, type Text, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { mayCall, type RoleType } from '../administrators/administration.policy.ts';
import { getOrganization } from '../organizations/organizations.service.ts';
import { WAITING_SIGN_UPS } from '../users/list.console.ts';
import {
  type Expiry,
  type Health,
  listExpiries,
  listNextSteps,
  listOwnOrganizations,
  type NextStep,
  readHealth,
  readTotals,
} from './dashboard.service.ts';
import { presentStatistics, presentTotals, rangeIn, rangeLinks } from './statistics.console.ts';
import { readStatistics } from './statistics.service.ts';

const ROLES: Readonly<Record<RoleType, readonly [name: string, meaning: string]>> = {
  SUPER_ADMIN: ['Super administrator', 'You may see and change everything.'],
  READ_ONLY_ADMIN: ['Read-only administrator', 'You can see everything and change only your own account.'],
  ORG_ADMIN: ['Organization administrator', 'You manage this organization, its departments and its users:'],
};

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8')));

/** The user's own roles in words; those of organizations with the organization. */
function rolesOf({ services, request }: ConsoleRequest) {
  return Promise.all(
    request.roles.map(async ({ type, orgId }) => {
      const [name, meaning] = ROLES[type];
      const organization = orgId === undefined ? undefined : await getOrganization(services, orgId, request);
      return { name, meaning, organization: organization && { name: organization.name, href: `/admin/organizations/${organization.id}` } };
    }),
  );
}

/** First steps on a new installation, with links. */
const STEPS: Readonly<Record<NextStep, { readonly label: string; readonly href: string; readonly why: string }>> = {
  application: {
    label: 'Create an application',
    href: '/admin/applications/new',
    why: 'Every site that users sign in to, and every program that calls your APIs, is an application.',
  },
  token: {
    label: 'Create an API token',
    href: '/admin/api/tokens/new',
    why: 'Scripts and tools call the management API with it.',
  },
  branding: { label: 'Set the branding', href: '/admin/settings/branding', why: 'Users see your name, logo and colours on every page.' },
  mail: {
    label: 'Set up mail',
    href: '/admin/settings/mail',
    why: 'Users get invitations, links to choose a new password, and notices about their account.',
  },
  mcp: {
    label: 'Protect an MCP server',
    href: '/admin/api/mcp',
    why: 'Optional. AI agents then reach it only with the consent of their users.',
  },
};

interface HealthFact {
  readonly label: Text;
  readonly text: Text;
  readonly tone?: Tone;
  readonly href?: string;
}

/** Milliseconds after which a pending delivery is shown as late. */
const LONG_SILENCE_MS = 5 * 60_000;

const MAIL: Readonly<Record<Health['mail'], Omit<HealthFact, 'label'>>> = {
  server: { text: 'A mail server is configured' },
  inbox: { text: 'Dev inbox: no mail server is configured', tone: 'warning' },
  nowhere: { text: 'Not sent: no mail server is configured', tone: 'warning' },
};

/** All steps with their state, while any required one is open. */
async function openSteps(services: Services) {
  const steps = await listNextSteps(services);
  return steps.every(({ isDone, isOptional = false }) => isDone || isOptional)
    ? []
    : steps.map(({ step, isDone }) => ({ ...STEPS[step], isDone }));
}

const failedMails = (count: number): Omit<HealthFact, 'label'> =>
  count === 0
    ? { text: 'None', tone: 'good' }
    : { text: phrase('{count} in the last 7 days', { count }), tone: 'bad', href: '/admin/settings/mail' };

function healthFacts({ databaseMs, outbox, sealed, mail, mailsFailed, waitingSignUps }: Health): readonly HealthFact[] {
  const { count, oldest } = outbox;
  const waiting = phrase(outbox.isMore ? 'at least {count}' : '{count}', { count });
  const isLate = oldest !== null && present().getTime() - oldest.getTime() > LONG_SILENCE_MS;
  return [
    { label: 'Database', text: phrase('Responds in {ms} ms', { ms: Math.max(1, Math.round(databaseMs)) }), tone: 'good' },
    {
      label: 'Delivery queue',
      text: count === 0 ? 'Empty' : oldest === null ? waiting : phrase('{waiting}, the oldest since {oldest}', { waiting, oldest }),
      tone: isLate ? 'warning' : 'good',
    },
    { label: 'Audit log last sealed', text: sealed === undefined ? 'Not yet' : phrase('{sealed}', { sealed }) },
    { label: 'Mail', ...MAIL[mail] },
    { label: 'Undelivered e-mails', ...failedMails(mailsFailed) },
    ...(waitingSignUps === 0
      ? []
      : [
          {
            label: 'Sign-ups',
            text: phrase('{count} waiting for approval', { count: waitingSignUps }),
            tone: 'warning',
            href: WAITING_SIGN_UPS,
          } as const,
        ]),
    { label: 'Version', text: verbatim(version) },
  ];
}

/** Facts about the whole service, for administrators who can see all of it. */
async function serviceFacts({ services, request, query }: ConsoleRequest) {
  const range = rangeIn(query);
  const statistics = await readStatistics(services.database, range);
  return {
    ranges: rangeLinks(range),
    totals: presentTotals(await readTotals(services.database)),
    statistics: statistics && presentStatistics(statistics),
    health: healthFacts(await readHealth(services, request)),
  };
}

const EXPIRIES: Readonly<
  Record<Expiry['what'], (expiry: Expiry) => { readonly what: Phrase; readonly href: string; readonly next: string }>
> = {
  token: ({ name }) => ({
    what: phrase('API token “{name}”', { name }),
    href: '/admin/api/tokens',
    next: 'Expires: what uses it is refused from then on',
  }),
  'key-rotation': ({ id, name }) => ({
    what: phrase('Signing key of “{name}”', { name }),
    href: keysOf(id),
    next: 'Replaced automatically',
  }),
  'retired-key': ({ id, name }) => ({
    what: phrase('Retired signing key of “{name}”', { name }),
    href: keysOf(id),
    next: 'No longer published',
  }),
};

const keysOf = (serverId: string): string => `/admin/api/servers/${encodeURIComponent(serverId)}/keys`;
const presentExpiry = (expiry: Expiry) => ({ ...EXPIRIES[expiry.what](expiry), at: momentOf(expiry.at) });

export const dashboard: ConsolePage = {
  path: '/',
  access: 'own',
  async show(visit) {
    const { person, request, services } = visit;
    const seesAll = mayCall(request.roles, 'service', 'read');
    const locals = {
      steps: mayCall(request.roles, 'service', 'write') ? await openSteps(services) : [],
      ...(seesAll ? await serviceFacts(visit) : { health: undefined }),
      own: (await listOwnOrganizations(services, request)).map(({ id, name, memberCount }) => ({
        name,
        href: `/admin/organizations/${encodeURIComponent(id)}`,
        members: counted(memberCount, '{count} member', '{count} members'),
      })),
      expiries: (await listExpiries(services, person.id, request)).map(presentExpiry),
      roles: await rolesOf(visit),
      version,
      api: `${services.config.baseUrl}/api/v1`,
    };
    const name = person.name || person.login;
    return { view: 'dashboard', title: 'Dashboard', lead: phrase('Welcome, {name}.', { name }), locals };
  },
};
