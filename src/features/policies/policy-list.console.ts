/** The access policies of an authorization server in their order, and what pages about one policy share. */
import type { Piece, TableRow } from '../../pages/console/detail-page.ts';
import { piecesOf } from '../../pages/console/downloads.ts';
import type { ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { inPages, type Window } from '../../platform/database/paging.ts';
import { type Phrase, phrase, series } from '../../platform/i18n/phrase.ts';
import { namesOf } from '../authorization-servers/references.console.ts';
import {
  crumbsBelow,
  type ServerSubject,
  serverPage,
  serverSubject,
  subjectWithParts,
} from '../authorization-servers/server-page.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { ALL_CLIENTS } from './access-policy.policy.ts';
import { movesOf, policyStatus } from './ordering.console.ts';
import type { Policy } from './policies.resource.ts';
import { getPolicy, listPolicies } from './policies.service.ts';
import { listRules } from './policy-rules.service.ts';

export const homeOfPolicies = ({ home }: ServerSubject): string => `${home}/policies`;
export const addressOfPolicy = (subject: ServerSubject, { id }: Policy): string => `${homeOfPolicies(subject)}/${encodeURIComponent(id)}`;
export const crumbsOfPolicies = (subject: ServerSubject) =>
  crumbsBelow(subject, { label: 'Access policies', href: homeOfPolicies(subject) });

export const policyOf = ({ services, params }: ConsoleRequest, { server }: ServerSubject): Promise<Policy> =>
  getPolicy(services, server.id, params.policyId ?? '');

/** More names than these are counted. */
const SHOWN = 3;

/** The first names, and how many there are besides. */
const namesInWords = (names: readonly string[], count: number): Phrase =>
  count > names.length ? phrase('{names} and {count} more', { names: series(names), count: count - names.length }) : series(names);

/** Description of the policy's clients. */
export async function clientsInWords(visit: ConsoleRequest, { clients }: Policy): Promise<Piece> {
  if (clients.includes(ALL_CLIENTS)) return { text: 'All applications', soft: true };
  if (clients.length === 0) return { text: 'No application', soft: true };
  const names = await namesOf(visit, 'application', clients.slice(0, SHOWN));
  return { text: namesInWords(names, clients.length) };
}

const COLUMNS: ListColumns = ['Name', 'Priority', 'For', 'Rules', 'Status'];

export const policyList: ConsolePage = {
  path: '/api/servers/:serverId/policies',
  access: 'service',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const all = await listPolicies(visit.services, subject.server.id);
    const { items, total } = inPages(all, pageIn(visit.query, COLUMNS));
    const rows: TableRow[] = [];
    for (const policy of items) rows.push(await rowOf(visit, subject, policy, all.length));
    const create = { label: 'Create access policy', href: `${homeOfPolicies(subject)}/new`, main: true };
    return serverPage(subject, {
      lead: 'Policies decide which tokens are issued. The first active policy that applies to the application decides, by its first active rule that matches. If none matches, access is denied.',
      actions: subject.hasOwnParts ? [create] : [],
      parts: [
        {
          kind: 'table',
          name: 'Access policies',
          ...(subject.hasOwnParts && { choosing: choosingAction(visit, homeOfPolicies(subject), typed, { kind: 'policies', total }) }),
          rows,
          empty: 'No access policies, so no application gets tokens here. Create one.',
          ...(subject.hasOwnParts && { emptyAction: create }),
          ...paged(homeOfPolicies(subject), visit.query, COLUMNS, { total }, 'access policy', 'access policies'),
        },
      ],
    });
  },
  async receive(visit, form) {
    const { server } = await subjectWithParts(visit);
    const policies = async (window: Window) => inPages(await listPolicies(visit.services, server.id), window);
    return draftForList(visit, form, {
      kind: 'policies',
      pieces: piecesOf(visit.query, COLUMNS, policies),
      rowOf: ({ id, name }) => ({ name, item: { id, serverId: server.id } }),
    });
  },
};

async function rowOf(visit: ConsoleRequest, subject: ServerSubject, policy: Policy, count: number): Promise<TableRow> {
  const address = addressOfPolicy(subject, policy);
  const rules = await listRules(visit.services, { serverId: policy.serverId, policyId: policy.id });
  const shownNames = rules.slice(0, SHOWN).map(({ name }) => name);
  return {
    value: policy.id,
    cells: [
      { text: policy.name, href: address },
      policy.priority,
      await clientsInWords(visit, policy),
      namesInWords(shownNames, rules.length),
      policyStatus(policy.status),
    ],
    ...(subject.hasOwnParts && { buttons: movesOf(address, policy.priority, count) }),
  };
}
