/** Security → Network zones: named lists of networks, for the rules of the sign-in policy. */
import { z } from 'zod';
import { listPage } from '../../pages/console/detail-page.ts';
import { downloadList, fileActions, piecesOf } from '../../pages/console/downloads.ts';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { countOf, type ListColumns } from '../../pages/console/list-state.ts';
import type { ConsolePage, ConsoleRequest, Crumb } from '../../pages/console/page.ts';
import { paged, pageIn } from '../../pages/console/paging.ts';
import { phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOf } from '../../platform/i18n/times.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { mayCall } from '../administrators/administration.policy.ts';
import { choosingAction, draftForList } from '../bulk/choose-action.console.ts';
import { readSettings } from '../settings/settings.service.ts';
import { zonesOf } from '../sign-in-rules/sign-in-rules.policy.ts';
import { MOST_NETWORKS, network, zoneName } from './network-zones.resource.ts';
import { createZone, deleteZone, getZone, listZones, updateZone, type ZoneFields } from './network-zones.service.ts';

const HOME = '/admin/security/zones';
const CRUMBS: readonly Crumb[] = [{ label: 'Security' }, { label: 'Network zones', href: HOME }];
const addressOf = (id: string): string => `${HOME}/${encodeURIComponent(id)}`;

const SHOWN = 3;

const COLUMNS: ListColumns = [
  { label: 'Name', by: 'name', searched: true },
  { label: 'Networks', searchedBy: 'networks' },
  { label: 'Last change', by: 'lastUpdated', descending: true },
];

const zonesIn = ({ services, query }: ConsoleRequest) => piecesOf(query, COLUMNS, (window) => listZones(services, window));

const list: ConsolePage = {
  path: '/security/zones',
  access: 'service',
  async show(visit, typed) {
    const { services, request, query } = visit;
    const { items, total } = await listZones(services, pageIn(query, COLUMNS));
    const mayChange = mayCall(request.roles, 'service', 'write');
    const create = { label: 'Create zone', href: `${HOME}/new`, main: true };
    return listPage({
      title: 'Network zones',
      lead: 'Named lists of networks. The rules of the sign-in policy refer to them.',
      crumbs: CRUMBS.slice(0, 1),
      actions: mayChange ? [create] : [],
      list: {
        name: 'Network zones',
        ...(mayChange && { choosing: choosingAction(visit, HOME, typed, { kind: 'zones', total }) }),
        rows: items.map(({ id, name, networks, lastUpdated }) => ({
          value: id,
          cells: [
            mayChange ? { text: name, href: addressOf(id) } : name,
            [
              ...networks.slice(0, SHOWN).map((text) => ({ text, code: true })),
              ...(networks.length > SHOWN ? [{ text: phrase('and {count} more', { count: networks.length - SHOWN }), soft: true }] : []),
            ],
            { moment: momentOf(lastUpdated) },
          ],
          actions: mayChange ? [{ label: 'Delete', href: `${addressOf(id)}/delete` }] : [],
        })),
        empty: 'No network zones. Create one for your offices or VPN, and name it in a rule of the sign-in policy.',
        emptyAction: mayChange ? create : undefined,
        ...paged(HOME, query, COLUMNS, { total }, 'zone'),
        files: fileActions(HOME, query, total),
      },
    });
  },
  receive: (visit, form) =>
    draftForList(visit, form, { kind: 'zones', pieces: zonesIn(visit), rowOf: ({ id, name }) => ({ name, item: { id } }) }),
  download: (visit) =>
    downloadList(visit, {
      name: 'zones',
      columns: ['id', 'name', 'networks', 'created', 'lastUpdated'],
      pieces: zonesIn(visit),
      recordOf: (zone) => ({ ...zone }),
    }),
};

const fieldsOf = (now: Partial<ZoneFields> = {}): readonly Field[] => [
  { name: 'name', label: 'Name', required: true, value: now.name, hint: 'Rules refer to it. The name cannot be changed while one does.' },
  {
    name: 'networks',
    alias: 'gateways',
    label: 'Networks',
    kind: 'lines',
    required: true,
    value: now.networks?.join('\n'),
    hint: phrase('CIDR, one per line, at most {most}: 192.0.2.0/24 or 2001:db8::/32. One address: 192.0.2.7/32.', { most: MOST_NETWORKS }),
  },
];

const fieldsIn = (form: URLSearchParams): ZoneFields => {
  const { name, networks } = parse(
    z.object({ name: zoneName, networks: z.array(network).min(1).max(MOST_NETWORKS) }),
    typedValues(fieldsOf(), form),
  );
  return { name, networks: [...new Set(networks)] };
};

const create: ConsolePage = {
  path: '/security/zones/new',
  access: 'service',
  verb: 'write',
  show: async (_visit, typed) =>
    formPage({ title: 'Create zone', crumbs: CRUMBS, fields: fieldsOf(), submit: 'Create zone', cancel: HOME }, typed),
  async receive({ services, request }, form) {
    await createZone(services, fieldsIn(form), request);
    return { goTo: HOME, notice: 'zone-created' };
  },
};

const zoneOf = ({ services, params }: ConsoleRequest) => getZone(services, params.id ?? '');

const edit: ConsolePage = {
  path: '/security/zones/:id',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const zone = await zoneOf(visit);
    return formPage({ title: verbatim(zone.name), crumbs: CRUMBS, fields: fieldsOf(zone), submit: 'Save', cancel: HOME }, typed);
  },
  async receive(visit, form) {
    await updateZone(visit.services, (await zoneOf(visit)).id, fieldsIn(form), visit.request);
    return { goTo: HOME, notice: 'zone-changed' };
  },
};

const remove: ConsolePage = {
  path: '/security/zones/:id/delete',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const { name } = await zoneOf(visit);
    const title = phrase('Delete “{zone}”?', { zone: name });
    const { rules } = await readSettings(visit.services, 'sign-in');
    const uses = rules.filter((rule) => zonesOf(rule).includes(name)).map((rule) => rule.name);
    const facts = [
      uses.length === 0
        ? 'No rule of the sign-in policy uses it.'
        : phrase('It is used by {rules} of the sign-in policy: {names}. Change them first.', {
            rules: countOf(uses.length, 'rule'),
            names: series(uses),
          }),
      'This cannot be undone.',
    ];
    return formPage({ title, crumbs: CRUMBS, facts, submit: 'Delete zone', danger: true, cancel: HOME }, typed);
  },
  async receive(visit) {
    await deleteZone(visit.services, (await zoneOf(visit)).id, visit.request);
    return { goTo: HOME, notice: 'zone-deleted' };
  },
};

export const zonePages: readonly ConsolePage[] = [list, create, edit, remove];
