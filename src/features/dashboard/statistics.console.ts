/** Statistics of the dashboard for its view: numbers with their trend, bars, and lists with links. */

import type { Action } from '../../pages/console/page.ts';
import { present } from '../../platform/clock/clock.ts';
import { type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import { DAY_MS } from './activity-counts.service.ts';
import type { Totals } from './dashboard.service.ts';
import { signInChart } from './sign-in-chart.console.ts';
import { type Compared, RANGES, type Range, type Statistics } from './statistics.service.ts';

const LABELS: Readonly<Record<Range, string>> = { '24h': '24 hours', '7d': '7 days', '30d': '30 days', '90d': '90 days' };
const DEFAULT: Range = '30d';
const LENGTHS: Readonly<Record<Range, number>> = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS, '90d': 90 * DAY_MS };

export const rangeIn = (query: URLSearchParams): Range => RANGES.find((range) => range === query.get('range')) ?? DEFAULT;

export const rangeLinks = (current: Range): readonly (Action & { readonly current: boolean })[] =>
  RANGES.map((range) => ({ label: LABELS[range], href: `/admin?range=${range}`, current: range === current }));

/** Change from the previous period: a percentage, if there is a previous value. */
function trendOf({ now, before }: Compared, range: Range): Phrase {
  const time = { range: phrase(LABELS[range]) };
  if (now === before) return phrase('As many as in the {range} before', time);
  if (before === 0) return phrase('None in the {range} before', time);
  const values = { ...time, percent: Math.round((Math.abs(now - before) / before) * 100), before };
  return now > before
    ? phrase('▲ {percent} % more than in the {range} before ({before})', values)
    : phrase('▼ {percent} % fewer than in the {range} before ({before})', values);
}

const share = (part: number, whole: number): string => (whole === 0 ? '–' : `${Math.round((part / whole) * 100)} %`);

const REASONS: Readonly<Record<string, string>> = {
  INVALID_CREDENTIALS: 'Wrong password',
  UNKNOWN_USER: 'Unknown user name',
  LOCKED_OUT: 'Locked after too many wrong passwords',
  USER_NOT_ACTIVE: 'The account is not active',
  PASSWORD_EXPIRED: 'The password had expired',
  PROVIDER_REQUIRED: 'An identity provider is required',
  OVERLOADED: 'Too many password checks at once',
  PASSWORD_NOT_ALLOWED: 'Users do not sign in by password',
  NOT_ASSIGNED: 'Not assigned to the application',
  ACCESS_POLICY: 'Refused by an access policy',
};

const LOG = '/admin/reports/log';
/** A time in the format of the log's search form. */
const typed = (moment: Date): string => moment.toISOString().slice(0, 16);

export function presentTotals({ users, applications, organizations }: Totals) {
  return [
    { label: 'Users', count: users, href: '/admin/users' },
    { label: 'Applications', count: applications, href: '/admin/applications' },
    { label: 'Organizations', count: organizations, href: '/admin/organizations' },
  ];
}

export function presentStatistics({ range, span, slots, signIns, failures, activeUsers, reasons, applications, adoption }: Statistics) {
  const since = typed(new Date(present().getTime() - LENGTHS[range]));
  const log = (fields: Readonly<Record<string, string>>): string => `${LOG}?${new URLSearchParams({ ...fields, since })}`;
  const { users, any, passkey, totp } = adoption;
  const most = applications[0]?.now ?? 0;
  return {
    tiles: [
      { label: 'Sign-ins', count: signIns.now, trend: trendOf(signIns, range), href: log({ type: 'user.session.start' }) },
      {
        label: 'Failed sign-ins',
        count: failures.now,
        trend: trendOf(failures, range),
        href: log({ type: 'user.authentication.failure' }),
      },
      { label: 'Active users', count: activeUsers.now, trend: trendOf(activeUsers, range), href: '/admin/users' },
      {
        label: 'Second factors',
        count: share(any, users),
        trend: users === 0 ? 'No active users' : phrase('{any} of {users} active users', { any, users }),
        href: '/admin/security/sign-in-policy',
      },
    ],
    chart: signInChart(slots),
    unit: span === 'HOUR' ? 'hour' : 'day',
    reasons: reasons.map(({ reason, count }) => ({
      text: REASONS[reason] ?? (reason || 'Not known'),
      count,
      href: log({ outcome: 'FAILURE', q: reason }),
    })),
    applications: applications.map(({ id, label, ...compared }) => ({
      name: label ?? id,
      href: label === null ? undefined : `/admin/applications/${encodeURIComponent(id)}/activity`,
      count: compared.now,
      before: compared.before,
      share: most === 0 ? 0 : Math.max(1, Math.round((compared.now / most) * 100)),
    })),
    adoption: [
      { label: 'Passkey', count: passkey, share: share(passkey, users) },
      { label: 'Authenticator app', count: totp, share: share(totp, users) },
      { label: 'No second factor', count: users - any, share: share(users - any, users) },
    ],
  };
}
