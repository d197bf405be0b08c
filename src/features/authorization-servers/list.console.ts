/** API → Authorization servers: the list, and the form that creates one. */
import { z } from 'zod';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { type ListColumns, searched } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import type { Window } from '../../platform/database/paging.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { audiencesIn, serverFields } from './authorization-server-fields.service.ts';
import { createAuthorizationServer, pageAuthorizationServers } from './authorization-servers.service.ts';
import { BUILT_IN, issuerOf } from './server-id.policy.ts';
import { addressOfServer, mayChangeServers, SERVERS, SERVERS_HOME, serverStatus } from './server-page.console.ts';
import {
  clientsIn,
  fieldOfAudiences,
  fieldOfDescription,
  fieldsOfClients,
  fieldsOfKeys,
  fieldsOfLifetimes,
  fieldsOfTokens,
  NAME,
  settingsIn,
  typedServerFields,
} from './settings-fields.console.ts';

const LEAD =
  'An authorization server signs in users for applications and issues their tokens. The built-in one is for sign-in only; create your own for each API that you protect.';

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name' },
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
  { label: 'Audience', by: 'audience' },
  'Issuer',
];

const found = ({ services, query }: ConsoleRequest, window: Window) =>
  searched(query, (q) => pageAuthorizationServers(services, { ...window, q }));

const list: ConsolePage = {
  path: '/api/servers',
  access: 'service',
  async show(visit, typed) {
    const { services, query } = visit;
    const { search, items, total } = await found(visit, pageIn(query, COLUMNS));
    const create = { label: 'Create authorization server', href: `${SERVERS_HOME}/new`, main: true };
    const protect = { label: 'Protect an MCP server', href: '/admin/api/mcp', icon: 'verify' } as const;
    return listPage({
      title: 'Authorization servers',
      lead: LEAD,
      crumbs: [{ label: 'API' }],
      actions: mayChangeServers(visit) ? [create, protect] : [],
      list: {
        name: 'Authorization servers',
        ...(mayChangeServers(visit) && { choosing: choosingAction(visit, SERVERS_HOME, typed, { kind: 'servers', total }) }),
        rows: items.map(({ id, name, status, audience, furtherAudiences }) => ({
          ...(id !== BUILT_IN && { value: id }),
          cells: [
            { text: name, href: addressOfServer(id) },
            serverStatus(status),
            { text: furtherAudiences.length === 0 ? audience : `${audience} + ${furtherAudiences.length}`, code: true },
            { text: issuerOf(services.config.baseUrl, id), code: true },
          ],
        })),
        search: { ...search, label: 'Name or audience' },
        empty: 'No authorization servers match. Try other words, or show all.',
        ...paged(SERVERS_HOME, query, COLUMNS, { total }, 'authorization server'),
        files: fileActions(SERVERS_HOME, query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'servers',
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, window)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'authorization-servers',
      columns: [
        'id',
        'name',
        'description',
        'status',
        'issuer',
        'audience',
        'furtherAudiences',
        'profile',
        'signingAlg',
        'created',
        'lastUpdated',
      ],
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, window)),
      recordOf: (server) => ({ ...server, issuer: issuerOf(visit.services.config.baseUrl, server.id) }),
    }),
};

const ID: Field = {
  name: 'id',
  label: 'ID',
  hint: 'The last part of its issuer: a to z, 0 to 9, hyphen and underscore, e.g. “orders”. It cannot be changed later. Empty: the service chooses one.',
};

const FIELDS: readonly Field[] = [
  NAME,
  ID,
  fieldOfDescription(undefined),
  fieldOfAudiences(undefined),
  ...fieldsOfTokens(undefined),
  ...fieldsOfLifetimes(undefined),
  ...fieldsOfClients(undefined),
  ...fieldsOfKeys(undefined),
];

const newServer = z.object({
  ...typedServerFields,
  id: z
    .string()
    .trim()
    .transform((id) => id || undefined),
  audiences: z
    .array(z.string())
    .transform((audiences) => (audiences.length === 0 ? undefined : audiences))
    .pipe(serverFields.audiences.optional()),
});

const create: ConsolePage = {
  path: '/api/servers/new',
  access: 'service',
  verb: 'write',
  async show(_visit, typed) {
    const title = 'Create authorization server';
    const facts = ['It begins with the standard scopes, keys of its own, and an access policy that allows everything.'];
    return formPage({ title, crumbs: SERVERS, facts, fields: FIELDS, submit: title, cancel: SERVERS_HOME }, typed);
  },
  async receive({ services, request }, form) {
    const { id, audiences = [], ...settings } = parse(newServer, clientsIn(typedValues(FIELDS, form)));
    const made = await createAuthorizationServer(
      services,
      { ...settingsIn(settings), ...(id !== undefined && { id }), ...audiencesIn(audiences) },
      request,
    );
    return { goTo: addressOfServer(made.id), notice: 'server-created' };
  },
};

export const serverList: readonly ConsolePage[] = [list, create];
