/** The rules of an access policy as a table, each condition in words. */

import type { Piece, TablePart, TableRow } from '../../pages/console/detail-page.ts';
import type { ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { inPages } from '../../platform/database/paging.ts';
import { durationOf } from '../authorization-servers/lifetimes.console.ts';
import { namesOf } from '../authorization-servers/references.console.ts';
import type { ServerSubject } from '../authorization-servers/server-page.console.ts';
import { ANY, EVERYONE, type RuleActions, type RuleConditions } from './access-policy.policy.ts';
import { movesOf, policyStatusPiece } from './ordering.console.ts';
import type { Policy, PolicyRule } from './policies.resource.ts';
import { listRules } from './policy-rules.service.ts';

/** The grants as the console calls them. */
export const GRANTS = {
  authorization_code: 'Authorization code',
  implicit: 'Implicit',
  password: 'Password',
  client_credentials: 'Client credentials',
} as const;

/** More names than these are counted. */
const SHOWN = 3;
const short = (names: readonly string[], count: number): string =>
  names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : '');

export async function rulesTable(visit: ConsoleRequest, subject: ServerSubject, policy: Policy, address: string): Promise<TablePart> {
  const all = await listRules(visit.services, { serverId: policy.serverId, policyId: policy.id });
  const { items, next } = inPages(all, { limit: LIMIT, after: afterIn(visit.query) });
  const rows: TableRow[] = [];
  for (const rule of items) rows.push(await rowOf(visit, subject, `${address}/rules/${encodeURIComponent(rule.id)}`, rule, all.length));
  return {
    kind: 'table',
    title: 'Rules',
    lead: 'Evaluated top to bottom. The first matching active rule grants access; if none matches, access is denied.',
    name: 'Rules',
    columns: ['Name', 'Priority', 'For', 'Lifetimes', 'Status'],
    rows,
    empty: 'No rules, so its applications get no tokens. Create one.',
    ...(subject.hasOwnParts && { emptyAction: { label: 'Create rule', href: `${address}/rules/new` } }),
    pager: pagerOf(address, visit.query, next),
  };
}

async function rowOf(visit: ConsoleRequest, subject: ServerSubject, address: string, rule: PolicyRule, count: number): Promise<TableRow> {
  const actions = [
    { label: 'Edit', href: address },
    rule.status === 'ACTIVE' ? { label: 'Deactivate', href: `${address}/deactivate` } : { label: 'Activate', href: `${address}/activate` },
    { label: 'Delete', href: `${address}/delete` },
  ];
  return {
    cells: [
      rule.name,
      String(rule.priority),
      [
        { text: `${await peopleInWords(visit, rule.conditions)};` },
        { text: `${listInWords('grants', rule.conditions.grantTypes?.include, (name) => GRANTS[name as keyof typeof GRANTS] ?? name)};` },
        { text: listInWords('scopes', rule.conditions.scopes?.include) },
      ],
      lifetimesInWords(rule.actions),
      policyStatusPiece(rule.status),
    ],
    ...(subject.hasOwnParts && { actions, buttons: movesOf(address, rule.priority, count) }),
  };
}

async function peopleInWords(visit: ConsoleRequest, { people }: RuleConditions): Promise<string> {
  if (people === undefined || (people.users === undefined && people.groups === undefined)) return 'everyone';
  const groups = people.groups?.include ?? [];
  if (groups.includes(EVERYONE)) return 'everyone';
  const users = people.users?.include ?? [];
  if (users.length + groups.length === 0) return 'nobody, so it never fits';
  const named = [
    ...(await namesOf(visit, 'user', users.slice(0, SHOWN))),
    ...(await namesOf(visit, 'group', groups.slice(0, SHOWN))).map((name) => `members of “${name}”`),
  ];
  return short(named, named.length + Math.max(0, users.length - SHOWN) + Math.max(0, groups.length - SHOWN));
}

function listInWords(what: 'grants' | 'scopes', include: readonly string[] | undefined, inWords = (name: string): string => name): string {
  if (include === undefined || include.includes(ANY)) return `all ${what}`;
  if (include.length === 0) return `no ${what}, so it never fits`;
  return `${what}: ${short(include.slice(0, 2 * SHOWN).map(inWords), include.length)}`;
}

function lifetimesInWords({ token = {} }: RuleActions): Piece {
  const { accessTokenLifetimeMinutes: access, refreshTokenLifetimeMinutes: refresh, refreshTokenWindowMinutes: window } = token;
  const words = [
    ...(access === undefined ? [] : [`access ${durationOf(access * 60)}`]),
    ...(refresh === undefined ? [] : [refresh === 0 ? 'refresh without end' : `refresh ${durationOf(refresh * 60)}`]),
    ...(window === undefined ? [] : [`unused ${durationOf(window * 60)}`]),
  ];
  return words.length === 0 ? { text: 'The server’s', soft: true } : { text: words.join(', ') };
}
