/** `apps/{id}/provisioning`: the SCIM target of an application, the state of each user and group there, pushing now, and a dry run. */

import { z } from 'zod';
import { type Endpoint, endpoint, LARGE_BODY, listing } from '../../api/endpoint.ts';
import { idParams, links, time, writeTime, writeTimeOrNull } from '../../api/fields.ts';
import { mapPage } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { PROVISIONED_KINDS, PROVISIONED_STATES, type ProvisionedResource, type ProvisioningTarget } from './provisioning.resource.ts';
import {
  dryRun,
  getProvisioning,
  listProvisioned,
  listProvisioning,
  provisioningState,
  pushNow,
  removeProvisioning,
  setProvisioning,
} from './provisioning.service.ts';
import { provisioningBody } from './provisioning-fields.service.ts';

const target = z.object({
  applicationId: z.string(),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  baseUrl: z.url(),
  auth: z.discriminatedUnion('type', [
    z.object({ type: z.literal('BEARER') }),
    z.object({ type: z.literal('OAUTH'), tokenUrl: z.url(), clientId: z.string(), scope: z.string().optional() }),
  ]),
  mapping: z.record(z.string(), z.string().nullable()),
  leavers: z.enum(['DEACTIVATE', 'DELETE']),
  pushGroups: z.boolean(),
  awaySince: time
    .nullable()
    .meta({ description: 'When the target stopped responding or started to refuse the credentials. Null: no known outage' }),
  awayReason: z.string().nullable(),
  lastOutage: z
    .object({
      since: time,
      until: time,
      reason: z.string(),
      inARow: z.int().meta({ description: 'Outages less than an hour apart' }),
    })
    .nullable()
    .meta({ description: 'The last outage that is over' }),
  counts: z.object({ provisioned: z.int(), deactivated: z.int(), failed: z.int(), waiting: z.int() }),
  created: time,
  lastUpdated: time,
  _links: links,
});

const resource = z.object({
  kind: z.enum(PROVISIONED_KINDS),
  id: z.string(),
  name: z.string(),
  remoteId: z.string().nullable().meta({ description: 'The ID at the target. Null: not at the target' }),
  state: z.enum(PROVISIONED_STATES),
  error: z.string().nullable(),
  lastAttempt: time,
  lastSuccess: time.nullable(),
});

const planned = z.object({
  id: z.string(),
  name: z.string(),
  action: z.enum(['CREATE', 'LINK', 'UPDATE', 'DEACTIVATE', 'DELETE', 'NONE', 'FAIL']),
  resource: z.record(z.string(), z.unknown()).optional().meta({ description: 'The request that a push would send' }),
  error: z.string().optional(),
});

export const provisioningEndpoints: readonly Endpoint[] = [
  listing({
    path: '/provisioning',
    access: 'service',
    summary: 'List the SCIM targets of all applications, oldest first',
    item: target.omit({ counts: true }),
    handler: async ({ services, query }) =>
      mapPage(await listProvisioning(services, query), (one) => presentTarget(one, services.config.baseUrl)),
  }),
  endpoint({
    method: 'GET',
    path: '/apps/:id/provisioning',
    access: 'service',
    summary: 'Read the SCIM target of an application',
    params: idParams,
    response: target,
    handler: async ({ services, params }) => withCounts(services, await getProvisioning(services, params.id)),
  }),
  endpoint({
    method: 'PUT',
    path: '/apps/:id/provisioning',
    access: 'service',
    summary: 'Set the SCIM target of an application. All assigned users and groups are pushed to it',
    params: idParams,
    bodyLimit: LARGE_BODY,
    body: provisioningBody,
    response: target,
    handler: async ({ services, params, body, request }) => withCounts(services, await setProvisioning(services, params.id, body, request)),
  }),
  endpoint({
    method: 'DELETE',
    path: '/apps/:id/provisioning',
    access: 'service',
    summary: 'Remove the SCIM target of an application. Users and groups at the target stay unchanged',
    params: idParams,
    handler: ({ services, params, request }) => removeProvisioning(services, params.id, request),
  }),
  endpoint({
    method: 'POST',
    path: '/apps/:id/provisioning/push',
    access: 'service',
    summary: 'Push everyone to the SCIM target now, or retry one user or group',
    params: idParams,
    bodyOptional: true,
    body: z.strictObject({ kind: z.enum(PROVISIONED_KINDS), id: text({ least: 1 }) }).partial(),
    status: 202,
    response: z.object({ waiting: z.int().meta({ description: 'Users and groups in the queue' }) }),
    handler: async ({ services, params, body: { kind = 'user', id }, request }) => {
      await pushNow(services, params.id, id === undefined ? undefined : { kind, id }, request);
      const { waiting } = await provisioningState(services, await getProvisioning(services, params.id));
      return { waiting: waiting.count };
    },
  }),
  listing({
    path: '/apps/:id/provisioning/resources',
    access: 'service',
    summary: 'List the users and groups that were pushed, with their state and error, oldest first',
    params: idParams,
    query: {
      kind: z.enum(PROVISIONED_KINDS).optional(),
      state: z.enum(PROVISIONED_STATES).optional(),
      q: text().optional().meta({ description: 'Words of the name' }),
    },
    item: resource,
    handler: async ({ services, params, query: { kind, state, q, ...window } }) =>
      mapPage(
        await listProvisioned(
          services,
          params.id,
          { kind, state },
          { ...window, words: q === undefined ? undefined : { by: ['name'], typed: q } },
        ),
        presentResource,
      ),
  }),
  listing({
    path: '/apps/:id/provisioning/plan',
    access: 'service',
    summary: 'Dry run: show what a push of at most ten assigned users would do, without changes',
    params: idParams,
    item: planned,
    handler: async ({ services, params, query }) =>
      mapPage(await dryRun(services, params.id, query), ({ resource: sent, ...one }) => ({
        ...one,
        ...(sent !== undefined && { resource: { ...sent } }),
      })),
  }),
];

const presentTarget = (found: ProvisioningTarget, baseUrl: string): Omit<z.input<typeof target>, 'counts'> => ({
  ...found,
  mapping: { ...found.mapping },
  awaySince: writeTimeOrNull(found.awaySince),
  lastOutage: outageOf(found),
  created: writeTime(found.created),
  lastUpdated: writeTime(found.lastUpdated),
  _links: { self: { href: `${baseUrl}/api/v1/apps/${encodeURIComponent(found.applicationId)}/provisioning` } },
});

function outageOf({ outageSince, outageUntil, outageReason, outagesInARow }: ProvisioningTarget): z.input<typeof target>['lastOutage'] {
  if (outageSince === null || outageUntil === null) return null;
  return { since: writeTime(outageSince), until: writeTime(outageUntil), reason: outageReason ?? '', inARow: outagesInARow };
}

async function withCounts(services: Parameters<typeof provisioningState>[0], found: ProvisioningTarget): Promise<z.input<typeof target>> {
  const { waiting, ...counts } = await provisioningState(services, found);
  return { ...presentTarget(found, services.config.baseUrl), counts: { ...counts, waiting: waiting.count } };
}

const presentResource = ({
  kind,
  id,
  name,
  remoteId,
  state,
  error,
  lastAttempt,
  lastSuccess,
}: ProvisionedResource): z.input<typeof resource> => ({
  ...{ kind, id, name, remoteId, state, error },
  lastAttempt: writeTime(lastAttempt),
  lastSuccess: writeTimeOrNull(lastSuccess),
});
