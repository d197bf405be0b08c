/** Claims that an authorization server adds to its tokens: list, kind selection, change and deletion. */

import { detailPage, type TableRow } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { formPage } from '../../pages/console/form.ts';
import { countOf, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { phrase, series } from '../../platform/i18n/phrase.ts';
import {
  crumbsBelow,
  type ServerSubject,
  serverPage,
  serverSubject,
  subjectWithParts,
} from '../authorization-servers/server-page.console.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { listServerScopes } from '../scopes/scopes.service.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import {
  CLAIM_KINDS,
  type ClaimOffers,
  claimDestination,
  claimSettingsIn,
  fieldsOfClaim,
  isKind,
  PLACES,
  valueInWords,
} from './claim-fields.console.ts';
import { createServerClaim, deleteServerClaim, getServerClaim, listServerClaims, updateServerClaim } from './claims.service.ts';
import type { ClaimValueType, ServerClaim } from './custom-claims.policy.ts';

const homeOf = ({ home }: ServerSubject): string => `${home}/claims`;
const crumbs = (subject: ServerSubject) => crumbsBelow(subject, { label: 'Claims', href: homeOf(subject) });

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  'Included in',
  'Value',
  'For scopes',
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
];

const list: ConsolePage = {
  path: '/api/servers/:serverId/claims',
  access: 'service',
  async show(visit, typed) {
    const subject = await serverSubject(visit);
    const { services, query } = visit;
    const { items, total } = await listServerClaims(services, subject.server.id, pageIn(query, COLUMNS));
    const create = { label: 'Create claim', href: `${homeOf(subject)}/new`, main: true };
    return serverPage(subject, {
      lead: 'A claim is a statement in a token, e.g. the user’s department. Claims of the standard scopes are not listed here.',
      actions: subject.hasOwnParts ? [create] : [],
      parts: [
        {
          kind: 'table',
          name: 'Claims',
          ...(subject.hasOwnParts && { choosing: choosingAction(visit, homeOf(subject), typed, { kind: 'claims', total }) }),
          rows: items.map((claim) => rowOf(subject, claim)),
          empty: subject.isBuiltIn
            ? 'The built-in authorization server has no claims of its own. Create your own authorization server to add some.'
            : 'No claims yet. Create one, e.g. with the user’s groups.',
          ...(subject.hasOwnParts && { emptyAction: create }),
          ...paged(homeOf(subject), query, COLUMNS, { total }, 'claim'),
          files: fileActions(homeOf(subject), query, total),
        },
      ],
    });
  },
  async receive(visit, form) {
    const { server } = await subjectWithParts(visit);
    return draftForList(visit, form, {
      kind: 'claims',
      pieces: piecesOf(visit.query, COLUMNS, (window) => listServerClaims(visit.services, server.id, window)),
      rowOf: ({ id, name }) => ({ name, item: { id, serverId: server.id } }),
    });
  },
  async download(visit) {
    const { server } = await serverSubject(visit);
    return downloadList(visit, {
      name: 'claims',
      columns: ['id', 'name', 'status', 'claimType', 'alwaysIncludeInToken', 'valueType', 'value', 'groupFilterType', 'scopes'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => listServerClaims(visit.services, server.id, window)),
      recordOf: (claim) => ({ ...claim }),
      of: { id: server.id, type: 'AuthorizationServer', displayName: server.name },
    });
  },
};

function rowOf(subject: ServerSubject, claim: ServerClaim): TableRow {
  const address = `${homeOf(subject)}/${encodeURIComponent(claim.id)}`;
  const actions = [
    { label: 'Edit', href: address, icon: 'edit' as const },
    { label: 'Delete', href: `${address}/delete` },
  ];
  return {
    value: claim.id,
    cells: [
      { text: claim.name, code: true },
      phrase(PLACES[claimDestination(claim)].short),
      valueInWords(claim),
      claim.scopes.length === 0 ? { text: 'All', soft: true } : claim.scopes.map((text) => ({ text, code: true })),
      claim.status === 'ACTIVE' ? { text: 'Active', tone: 'good' } : { text: 'Inactive', tone: 'warning' },
    ],
    ...(subject.hasOwnParts && { actions }),
  };
}

const choose: ConsolePage = {
  path: '/api/servers/:serverId/claims/new',
  access: 'service',
  verb: 'write',
  async show(visit) {
    const subject = await subjectWithParts(visit);
    const rows = Object.entries(CLAIM_KINDS).map(([kind, { label, hint }]) => ({
      cells: [{ text: phrase(label), href: `${homeOf(subject)}/new/${kind}` }, phrase(hint)],
    }));
    return detailPage({
      title: 'Create claim',
      lead: 'First choose where its value comes from.',
      crumbs: crumbs(subject),
      parts: [{ kind: 'table', name: 'Kinds of claims', columns: ['Kind', 'Content'], rows, empty: '' }],
    });
  },
};

async function offersOf({ services }: ConsoleRequest, { server }: ServerSubject): Promise<ClaimOffers> {
  const { items } = await listServerScopes(services, server.id, undefined, { limit: 1000 });
  const { attributes } = await currentUserSchema(services);
  return { scopes: items.map(({ name }) => name), attributes: attributes.map(({ name }) => name) };
}

const NO_OFFERS: ClaimOffers = { scopes: [], attributes: [] };

/** @throws {ApiError} not found */
function kindIn({ params }: ConsoleRequest): ClaimValueType {
  const { kind = '' } = params;
  if (!isKind(kind)) throw notFound(kind, 'kind of claim');
  return kind;
}

const create: ConsolePage = {
  path: '/api/servers/:serverId/claims/new/:kind',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const kind = kindIn(visit);
    const fields = fieldsOfClaim(kind, undefined, await offersOf(visit, subject));
    const title = phrase('Create claim: {kind}', { kind: phrase(CLAIM_KINDS[kind].label) });
    const way = [...crumbs(subject), { label: 'Create claim', href: `${homeOf(subject)}/new` }];
    return formPage({ title, lead: CLAIM_KINDS[kind].hint, crumbs: way, fields, submit: 'Create claim', cancel: homeOf(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    const kind = kindIn(visit);
    const settings = claimSettingsIn(kind, fieldsOfClaim(kind, undefined, NO_OFFERS), form);
    await createServerClaim(visit.services, subject.server.id, settings, visit.request);
    return { goTo: homeOf(subject), notice: 'claim-created' };
  },
};

const claimOf = ({ services, params }: ConsoleRequest, { server }: ServerSubject): Promise<ServerClaim> =>
  getServerClaim(services, server.id, params.claimId ?? '');

const edit: ConsolePage = {
  path: '/api/servers/:serverId/claims/:claimId',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const claim = await claimOf(visit, subject);
    const fields = fieldsOfClaim(claim.valueType, claim, await offersOf(visit, subject));
    const page = {
      title: phrase('Claim {claim}', { claim: claim.name }),
      lead: CLAIM_KINDS[claim.valueType].hint,
      crumbs: crumbs(subject),
      fields,
    };
    return formPage({ ...page, submit: 'Save', cancel: homeOf(subject) }, typed);
  },
  async receive(visit, form) {
    const subject = await subjectWithParts(visit);
    const claim = await claimOf(visit, subject);
    const settings = claimSettingsIn(claim.valueType, fieldsOfClaim(claim.valueType, claim, NO_OFFERS), form);
    await updateServerClaim(visit.services, subject.server.id, claim.id, settings, visit.request);
    return { goTo: homeOf(subject), notice: 'claim-changed' };
  },
};

const remove: ConsolePage = {
  path: '/api/servers/:serverId/claims/:claimId/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const subject = await subjectWithParts(visit);
    const { name, scopes } = await claimOf(visit, subject);
    const facts = [
      scopes.length === 0
        ? 'New tokens do not contain it, whatever their scopes. Applications and APIs that rely on it fail.'
        : phrase('New tokens with {scopes} ({names}) do not contain it. Applications and APIs that rely on it fail.', {
            scopes: countOf(scopes.length, 'scope'),
            names: series(scopes),
          }),
      'This cannot be undone.',
    ];
    const page = { title: phrase('Delete the claim “{name}”?', { name }), crumbs: crumbs(subject), facts };
    return formPage({ ...page, submit: 'Delete claim', danger: true, cancel: homeOf(subject) }, typed);
  },
  async receive(visit) {
    const subject = await subjectWithParts(visit);
    await deleteServerClaim(visit.services, subject.server.id, visit.params.claimId ?? '', visit.request);
    return { goTo: homeOf(subject), notice: 'claim-deleted' };
  },
};

export const claimPages: readonly ConsolePage[] = [list, choose, create, edit, remove];
