/** The rules of an access policy as a table, with each condition in words. */

import type { Piece, TablePart, TableRow } from '../../pages/console/detail-page.ts';
import { piecesOf } from '../../pages/console/downloads.ts';
import { durationOf } from '../../pages/console/durations.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsoleRequest, GoTo, Typed } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages, type Window } from '../../platform/database/paging.ts';
import { type Phrase, phrase, series } from '../../platform/i18n/phrase.ts';
import { namesOf } from '../authorization-servers/references.console.ts';
import type { ServerSubject } from '../authorization-servers/server-page.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import {
  ANY,
  CIBA_GRANT,
  DEVICE_GRANT,
  EVERYONE,
  JWT_BEARER_GRANT,
  type RuleActions,
  type RuleConditions,
  TOKEN_EXCHANGE_GRANT,
} from './access-policy.policy.ts';
import { movesOf, policyStatus } from './ordering.console.ts';
import type { Policy, PolicyRule } from './policies.resource.ts';
import { listRules } from './policy-rules.service.ts';

/** Labels of the grant types in the console. */
export const GRANTS = {
  authorization_code: 'Authorization code',
  implicit: 'Implicit',
  password: 'Password',
  client_credentials: 'Client credentials',
  [DEVICE_GRANT]: 'Device code',
  [CIBA_GRANT]: 'Sign-in request (CIBA)',
  [TOKEN_EXCHANGE_GRANT]: 'Token exchange',
  [JWT_BEARER_GRANT]: 'JWT bearer',
} as const;

/** More names than these are counted. */
const SHOWN = 3;
const short = (names: readonly (string | Phrase)[], count: number): Phrase =>
  count > names.length ? phrase('{names} and {count} more', { names: series(names), count: count - names.length }) : series(names);

const COLUMNS: ListColumns = ['Name', 'Priority', 'For', 'Lifetimes', 'Status'];

/** @param address of the policy's page */
export async function rulesTable(
  visit: ConsoleRequest,
  subject: ServerSubject,
  policy: Policy,
  { address, typed }: { readonly address: string; readonly typed: Typed },
): Promise<TablePart> {
  const all = await listRules(visit.services, { serverId: policy.serverId, policyId: policy.id });
  const { items, total } = inPages(all, pageIn(visit.query, COLUMNS));
  const rows: TableRow[] = [];
  for (const rule of items) rows.push(await rowOf(visit, subject, `${address}/rules/${encodeURIComponent(rule.id)}`, rule, all.length));
  return {
    kind: 'table',
    title: 'Rules',
    lead: 'Evaluated top to bottom. The first matching active rule grants access; if none matches, access is denied.',
    name: 'Rules',
    ...(subject.hasOwnParts && { choosing: choosingAction(visit, address, typed, { kind: 'rules', total }) }),
    rows,
    empty: 'No rules, so its applications get no tokens. Create one.',
    ...(subject.hasOwnParts && { emptyAction: { label: 'Create rule', href: `${address}/rules/new` } }),
    ...paged(address, visit.query, COLUMNS, { total }, 'rule'),
  };
}

/** Drafts the action for the selected rules. @throws {ApiError} validation: no row is selected, or no action */
export function draftForRules(visit: ConsoleRequest, { serverId, id: policyId }: Policy, form: URLSearchParams): Promise<GoTo> {
  const rules = async (window: Window) => inPages(await listRules(visit.services, { serverId, policyId }), window);
  return draftForList(visit, form, {
    kind: 'rules',
    pieces: piecesOf(visit.query, COLUMNS, rules),
    rowOf: ({ id, name }) => ({ name, item: { id, serverId, policyId } }),
  });
}

async function rowOf(visit: ConsoleRequest, subject: ServerSubject, address: string, rule: PolicyRule, count: number): Promise<TableRow> {
  const actions = [
    { label: 'Edit', href: address, icon: 'edit' as const },
    rule.status === 'ACTIVE' ? { label: 'Deactivate', href: `${address}/deactivate` } : { label: 'Activate', href: `${address}/activate` },
    { label: 'Delete', href: `${address}/delete` },
  ];
  return {
    value: rule.id,
    cells: [
      rule.name,
      rule.priority,
      [
        { text: phrase('{condition};', { condition: await peopleInWords(visit, rule.conditions) }) },
        { text: phrase('{condition};', { condition: grantsInWords(rule.conditions.grantTypes?.include) }) },
        { text: scopesInWords(rule.conditions.scopes?.include) },
        ...detailsInWords(rule.conditions.authorizationDetails?.include),
        ...(await actorsInWords(visit, rule.conditions.actors?.include)),
      ],
      lifetimesInWords(rule.actions),
      policyStatus(rule.status),
    ],
    ...(subject.hasOwnParts && { actions, buttons: movesOf(address, rule.priority, count) }),
  };
}

async function peopleInWords(visit: ConsoleRequest, { people }: RuleConditions): Promise<Phrase> {
  if (people === undefined || (people.users === undefined && people.groups === undefined && people.roles === undefined))
    return phrase('everyone');
  const groups = people.groups?.include ?? [];
  if (groups.includes(EVERYONE)) return phrase('everyone');
  const users = people.users?.include ?? [];
  const roles = people.roles?.include ?? [];
  if (users.length + groups.length + roles.length === 0) return phrase('nobody, so it never matches');
  const named = [
    ...(await namesOf(visit, 'user', users.slice(0, SHOWN))),
    ...(await namesOf(visit, 'group', groups.slice(0, SHOWN))).map((name) => phrase('members of “{name}”', { name })),
    ...roles.slice(0, SHOWN).map((name) => phrase('the role “{name}”', { name })),
  ];
  return short(
    named,
    named.length + Math.max(0, users.length - SHOWN) + Math.max(0, groups.length - SHOWN) + Math.max(0, roles.length - SHOWN),
  );
}

function detailsInWords(include: readonly string[] | undefined): readonly Piece[] {
  if (include === undefined || include.includes(ANY)) return [];
  if (include.length === 0) return [{ text: phrase('; no authorization details') }];
  return [{ text: phrase('; authorization details: {names}', { names: short(include.slice(0, 2 * SHOWN), include.length) }) }];
}

async function actorsInWords(visit: ConsoleRequest, include: readonly string[] | undefined): Promise<readonly Piece[]> {
  if (include === undefined) return [];
  if (include.includes(ANY)) return [{ text: phrase('; any actor') }];
  if (include.length === 0) return [{ text: phrase('; no actors, so it never matches') }];
  const named = await namesOf(visit, 'application', include.slice(0, SHOWN));
  return [{ text: phrase('; actors: {names}', { names: short(named, include.length) }) }];
}

function grantsInWords(include: readonly string[] | undefined): Phrase {
  if (include === undefined || include.includes(ANY)) return phrase('all grants');
  if (include.length === 0) return phrase('no grants, so it never matches');
  const names = include.slice(0, 2 * SHOWN).map((name) => phrase(GRANTS[name as keyof typeof GRANTS] ?? name));
  return phrase('grants: {names}', { names: short(names, include.length) });
}

function scopesInWords(include: readonly string[] | undefined): Phrase {
  if (include === undefined || include.includes(ANY)) return phrase('all scopes');
  if (include.length === 0) return phrase('no scopes, so it never matches');
  return phrase('scopes: {names}', { names: short(include.slice(0, 2 * SHOWN), include.length) });
}

function lifetimesInWords({ token = {} }: RuleActions): Piece {
  const { accessTokenLifetimeMinutes: access, refreshTokenLifetimeMinutes: refresh, refreshTokenWindowMinutes: window } = token;
  const words = [
    ...(access === undefined ? [] : [phrase('access {duration}', { duration: durationOf(access * 60) })]),
    ...(refresh === undefined
      ? []
      : [refresh === 0 ? phrase('refresh without end') : phrase('refresh {duration}', { duration: durationOf(refresh * 60) })]),
    ...(window === undefined ? [] : [phrase('unused {duration}', { duration: durationOf(window * 60) })]),
    ...(token.inlineHook === undefined ? [] : [phrase('with an inline hook')]),
  ];
  return words.length === 0 ? { text: 'The server’s', soft: true } : { text: series(words) };
}
