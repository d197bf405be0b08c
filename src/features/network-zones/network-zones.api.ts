/** `zones`, as Okta's Network Zones API shows zones of type IP: named lists of networks, for the rules of the sign-in policy. */
import { z } from 'zod';
import { collection } from '../../api/collection.ts';
import { type Endpoint, endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime } from '../../api/fields.ts';
import { MOST_NETWORKS, type NetworkZone, network, zoneName } from './network-zones.resource.ts';
import { createZone, deleteZone, getZone, listZones, updateZone, type ZoneFields } from './network-zones.service.ts';

const gateways = z
  .array(z.strictObject({ type: z.literal('CIDR'), value: network }))
  .min(1)
  .max(MOST_NETWORKS);

const zoneBody = z.strictObject({
  type: z.literal('IP'),
  name: zoneName,
  gateways,
  status: z.literal('ACTIVE').optional(),
  proxies: z.null().optional().meta({ description: 'Always null: trusted proxies are set by TRUST_PROXY' }),
});

const zone = z.object({
  id: z.string(),
  type: z.literal('IP'),
  name: z.string(),
  status: z.literal('ACTIVE'),
  usage: z.literal('POLICY'),
  system: z.literal(false),
  gateways: z.array(z.object({ type: z.literal('CIDR'), value: z.string() })),
  proxies: z.null(),
  created: time,
  lastUpdated: time,
  _links: links,
});

const fieldsOf = ({ name, gateways: listed }: z.output<typeof zoneBody>): ZoneFields => ({
  name,
  networks: [...new Set(listed.map(({ value }) => value))],
});

const zoneCollection: readonly Endpoint[] = collection({
  path: '/zones',
  idParam: 'id',
  access: 'service',
  status: 200,
  bodyLimit: LARGE_BODY,
  summaries: {
    create: 'Create a network zone: a named list of networks, for the rules of the sign-in policy',
    list: 'List the network zones, oldest first',
    read: 'Read a network zone',
    replace: 'Replace a network zone; one that a rule names keeps its name',
    remove: 'Delete a network zone that no rule names',
  },
  body: zoneBody,
  response: zone,
  create: ({ services, request }, body) => createZone(services, fieldsOf(body), request),
  list: ({ services }, window) => listZones(services, window),
  read: ({ services }, id) => getZone(services, id),
  replace: ({ services, request }, id, body) => updateZone(services, id, fieldsOf(body), request),
  remove: ({ services, request }, id) => deleteZone(services, id, request),
  present: (found, { services }) => present(found, services.config.baseUrl),
});

export const zoneEndpoints: readonly Endpoint[] = [
  ...zoneCollection,
  endpoint({
    method: 'POST',
    path: '/zones/:id/lifecycle/activate',
    access: 'service',
    summary: 'Read a network zone: each is active from the start, and clients of Okta activate it all the same',
    params: idParams,
    response: zone,
    handler: async ({ services, params }) => present(await getZone(services, params.id), services.config.baseUrl),
  }),
];

const present = ({ id, name, networks, created, lastUpdated }: NetworkZone, baseUrl: string): z.input<typeof zone> => ({
  ...{ id, type: 'IP', name, status: 'ACTIVE', usage: 'POLICY', system: false, proxies: null },
  gateways: networks.map((value) => ({ type: 'CIDR', value })),
  created: writeTime(created),
  lastUpdated: writeTime(lastUpdated),
  _links: { self: { href: `${baseUrl}/api/v1/zones/${id}` } },
});
