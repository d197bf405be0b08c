/** `authorizationServers/{id}/policies`, as Okta's Authorization Server Policies API shows them. Their rules are in policy-rules.api.ts. */
import { z } from 'zod';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { idParams, links, time, unlessEmpty, writeTime } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { policyFields } from '../authorization-servers/authorization-server-fields.service.ts';
import { BUILT_IN } from '../authorization-servers/server-id.policy.ts';
import type { Policy, PolicyStatus } from './policies.resource.ts';
import { createPolicy, deletePolicy, getPolicy, listPolicies, replacePolicy, setPolicyStatus } from './policies.service.ts';

/** Address of the next lifecycle step. */
const step = z.object({ href: z.url(), hints: z.object({ allow: z.tuple([z.literal('POST')]) }) });

/** Links of an object with a status: the step that changes it; none for objects of the service itself. */
export const lifecycleLinks = links.extend({ activate: step.optional(), deactivate: step.optional() });

export function linksOf(href: string, { status, system }: { status: PolicyStatus; system: boolean }): z.input<typeof lifecycleLinks> {
  if (system) return { self: { href } };
  const next = status === 'ACTIVE' ? 'deactivate' : 'activate';
  return { self: { href }, [next]: { href: `${href}/lifecycle/${next}`, hints: { allow: ['POST'] } } };
}

/** A list of names without duplicates. An empty one matches nothing. */
export const presentPolicyList = <T extends z.ZodType<string>>(name: T) =>
  z.strictObject({
    include: z
      .array(name)
      .max(1000)
      .transform((names) => [...new Set(names)]),
  });

/** Shared fields of policies and rules. */
export const withPriority = {
  name: policyFields.name,
  /** From 1 on. */
  priority: policyFields.priority.exactOptional(),
  status: policyFields.status.exactOptional(),
};

const policyBody = z.strictObject({
  ...withPriority,
  type: z.literal('OAUTH_AUTHORIZATION_POLICY').exactOptional(),
  description: policyFields.description.exactOptional(),
  conditions: z.strictObject({ clients: presentPolicyList(text({ least: 1 })) }),
});

const policy = z.object({
  id: z.string(),
  type: z.literal('OAUTH_AUTHORIZATION_POLICY'),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  name: z.string(),
  description: z.string().optional(),
  priority: z.int(),
  /** true: it belongs to the built-in server and cannot be changed. */
  system: z.boolean(),
  conditions: z.object({ clients: z.object({ include: z.array(z.string()) }) }),
  created: time,
  lastUpdated: time,
  _links: lifecycleLinks.extend({ rules: z.object({ href: z.url() }) }),
});

export const policyParams = idParams.extend({ policyId: z.string().min(1) });

export const authorizationServerPolicies: readonly Endpoint[] = [
  ...collection({
    path: '/authorizationServers/:id/policies',
    params: idParams,
    idParam: 'policyId',
    access: 'service',
    summaries: {
      create: 'Create an access policy; without a priority it is the last',
      list: 'List the access policies of an authorization server in the order of their priority: the first that is for the application decides',
      read: 'Read an access policy',
      replace: 'Replace an access policy; its rules stay, and so do priority and status where they are not given',
      remove: 'Delete an access policy with its rules',
    },
    bodyLimit: LARGE_BODY,
    body: policyBody,
    response: policy,
    create: ({ services, params, request }, body) => createPolicy(services, params.id, inputOf(body), request),
    list: async ({ services, params }, window) => inPages(await listPolicies(services, params.id), window),
    read: ({ services, params }, id) => getPolicy(services, params.id, id),
    replace: ({ services, params, request }, id, body) => replacePolicy(services, params.id, id, inputOf(body), request),
    remove: ({ services, params, request }, id) => deletePolicy(services, params.id, id, request),
    present: (found, { services }) => present(found, services.config.baseUrl),
  }),
  ...lifecycleSteps({
    path: '/authorizationServers/:id/policies/:policyId',
    noun: 'an access policy',
    access: 'service',
    params: policyParams,
    set: ({ services, params, request }, status) => setPolicyStatus(services, params.id, params.policyId, status, request),
  }),
];

const inputOf = ({ type: _, conditions, ...rest }: z.output<typeof policyBody>) => ({ ...rest, clients: conditions.clients.include });

function present(found: Policy, baseUrl: string): z.input<typeof policy> {
  const system = found.serverId === BUILT_IN;
  const href = `${baseUrl}/api/v1/authorizationServers/${found.serverId}/policies/${found.id}`;
  return {
    id: found.id,
    type: 'OAUTH_AUTHORIZATION_POLICY',
    status: found.status,
    name: found.name,
    description: unlessEmpty(found.description),
    priority: found.priority,
    system,
    conditions: { clients: { include: [...found.clients] } },
    created: writeTime(found.created),
    lastUpdated: writeTime(found.lastUpdated),
    _links: { ...linksOf(href, { status: found.status, system }), rules: { href: `${href}/rules` } },
  };
}
