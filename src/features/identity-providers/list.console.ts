/** Security → Identity providers: the list. */

import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type ListColumns, searched } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import type { Window } from '../../platform/database/paging.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { IDENTITY_PROVIDER_TYPES } from './identity-provider.policy.ts';
import {
  IDENTITY_PROVIDER_KINDS,
  IDENTITY_PROVIDERS_PATH,
  identityProviderPath,
  identityProviderStatus,
} from './identity-provider-page.console.ts';
import { listIdentityProviders } from './identity-providers.service.ts';

const mayWrite = ({ request }: ConsoleRequest): boolean => mayCall(request.roles, 'service', 'write');

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name' },
  { label: 'Kind', by: 'type', codes: IDENTITY_PROVIDER_TYPES },
  { label: 'Status', by: 'status', codes: ['ACTIVE', 'INACTIVE'] },
  { label: 'Added', by: 'created', descending: true },
];

const kindIn = (query: URLSearchParams) => IDENTITY_PROVIDER_TYPES.find((one) => one === query.get('type'));

const found = ({ services, query }: ConsoleRequest, window: Window) =>
  searched(query, (q) => listIdentityProviders(services, { q, type: kindIn(query) }, window));

export const identityProviderList: ConsolePage = {
  path: '/security/identity-providers',
  access: 'service',
  async show(visit, typed) {
    const { query } = visit;
    const type = kindIn(query);
    const { search, items, total } = await found(visit, pageIn(query, COLUMNS));
    const isNarrowed = search.isNarrowed || type !== undefined;
    const add = { label: 'Add identity provider', href: `${IDENTITY_PROVIDERS_PATH}/new`, main: true };
    return listPage({
      title: 'Identity providers',
      lead: 'Users sign in with an account at another service. Each active provider is a button on the sign-in pages.',
      crumbs: [{ label: 'Security' }],
      actions: mayWrite(visit) ? [add] : [],
      list: {
        name: 'identity providers',
        ...(mayWrite(visit) && { choosing: choosingAction(visit, IDENTITY_PROVIDERS_PATH, typed, { kind: 'identity-providers', total }) }),
        rows: items.map((provider) => ({
          value: provider.id,
          cells: [
            { text: provider.name, href: identityProviderPath(provider.id) },
            phrase(IDENTITY_PROVIDER_KINDS[provider.type].name),
            identityProviderStatus(provider),
            { moment: momentOf(provider.created) },
          ],
        })),
        empty: isNarrowed
          ? 'No identity providers match. Try fewer or shorter words, or show all.'
          : 'There is no identity provider yet. Users sign in with the password that they have here.',
        emptyAction: isNarrowed || !mayWrite(visit) ? undefined : add,
        search: {
          ...search,
          label: 'Name',
          fields: [
            {
              name: 'type',
              label: 'Kind',
              value: type ?? '',
              options: [
                { value: '', label: 'Any' },
                ...IDENTITY_PROVIDER_TYPES.map((one) => ({ value: one, label: IDENTITY_PROVIDER_KINDS[one].name })),
              ],
            },
          ],
          isNarrowed,
        },
        ...paged(IDENTITY_PROVIDERS_PATH, query, COLUMNS, { total }, 'identity provider'),
        files: fileActions(IDENTITY_PROVIDERS_PATH, query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, {
      kind: 'identity-providers',
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, window)),
      rowOf: ({ id, name }) => ({ name, item: { id } }),
    }),
  download: (visit) =>
    downloadList(visit, {
      name: 'identity-providers',
      columns: ['id', 'name', 'type', 'status', 'issuer', 'clientId', 'created', 'lastUpdated'],
      pieces: piecesOf(visit.query, COLUMNS, (window) => found(visit, window)),
      recordOf: ({ protocol, ...provider }) => ({
        ...provider,
        issuer: protocol.issuer?.url ?? null,
        clientId: protocol.credentials.client.client_id,
      }),
    }),
};
