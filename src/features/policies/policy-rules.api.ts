/** `authorizationServers/{id}/policies/{policyId}/rules`, as Okta's Authorization Server Rules API shows them. */
import { z } from 'zod';
import { collection, lifecycleSteps } from '../../api/collection.ts';
import { type Endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { time, writeTime } from '../../api/fields.ts';
import { inPages } from '../../platform/database/paging.ts';
import { text } from '../../platform/validation/text.ts';
import { ruleGrantType, tokenActions } from '../authorization-servers/authorization-server-fields.service.ts';
import { BUILT_IN } from '../authorization-servers/server-id.policy.ts';
import { lifecycleLinks, linksOf, policyParams, presentPolicyList, withPriority } from './policies.api.ts';
import type { PolicyRule } from './policies.resource.ts';
import { createRule, deleteRule, getRule, listRules, setRuleStatus, updateRule } from './policy-rules.service.ts';

const named = text({ least: 1 });

/** An empty object, as Okta's Terraform provider sends it, restricts nothing. */
const listOrNothing = presentPolicyList(named)
  .partial()
  .transform(({ include }) => (include === undefined ? undefined : { include }))
  .exactOptional();

const ruleBody = z.strictObject({
  ...withPriority,
  type: z.literal('RESOURCE_ACCESS').exactOptional(),
  /** An absent condition restricts nothing. */
  conditions: z.strictObject({
    people: z
      .strictObject({
        users: listOrNothing,
        groups: listOrNothing,
        roles: presentPolicyList(named).exactOptional(),
      })
      .exactOptional(),
    grantTypes: presentPolicyList(ruleGrantType).exactOptional(),
    scopes: presentPolicyList(named).exactOptional(),
    /** Names of authorization detail types, or `*`. A request with another type does not match; an empty list matches requests without details. */
    authorizationDetails: presentPolicyList(named).exactOptional(),
    /** Client IDs of applications that act for the user at a token exchange, or `*`. A rule with this condition applies to token exchanges only. */
    actors: presentPolicyList(named).exactOptional(),
  }),
  /** Absent settings default to the server's. */
  actions: z.strictObject({ token: tokenActions.exactOptional() }).exactOptional(),
});

const names = z.object({ include: z.array(z.string()) }).optional();

const rule = z.object({
  id: z.string(),
  type: z.literal('RESOURCE_ACCESS'),
  status: z.enum(['ACTIVE', 'INACTIVE']),
  name: z.string(),
  priority: z.int(),
  /** true: it belongs to the built-in server and cannot be changed. */
  system: z.boolean(),
  conditions: z.object({
    people: z.object({ users: names, groups: names, roles: names }).optional(),
    grantTypes: names,
    scopes: names,
    authorizationDetails: names,
    actors: names,
  }),
  actions: z.object({
    token: z
      .object({
        accessTokenLifetimeMinutes: z.int().optional(),
        refreshTokenLifetimeMinutes: z.int().optional(),
        refreshTokenWindowMinutes: z.int().optional(),
        inlineHook: z.object({ id: z.string() }).optional(),
      })
      .optional(),
  }),
  created: time,
  lastUpdated: time,
  _links: lifecycleLinks,
});

const ruleParams = policyParams.extend({ ruleId: z.string().min(1) });
const policyOf = ({ id, policyId }: z.output<typeof policyParams>) => ({ serverId: id, policyId });

export const authorizationServerPolicyRules: readonly Endpoint[] = [
  ...collection({
    path: '/authorizationServers/:id/policies/:policyId/rules',
    params: policyParams,
    idParam: 'ruleId',
    access: 'service',
    summaries: {
      create:
        'Create a rule of an access policy; without a priority it is the last. An empty list of a condition fits nobody and nothing; of authorizationDetails, requests without details',
      list: 'List the rules of an access policy in the order of their priority: the first that fits decides',
      read: 'Read a rule of an access policy',
      replace: 'Replace a rule of an access policy; priority and status stay where they are not given',
      remove: 'Delete a rule of an access policy',
    },
    bodyLimit: LARGE_BODY,
    body: ruleBody,
    response: rule,
    create: ({ services, params, request }, body) => createRule(services, policyOf(params), inputOf(body), request),
    list: async ({ services, params }, window) => inPages(await listRules(services, policyOf(params)), window),
    read: ({ services, params }, id) => getRule(services, policyOf(params), id),
    replace: ({ services, params, request }, id, body) => updateRule(services, policyOf(params), id, inputOf(body), request),
    remove: ({ services, params, request }, id) => deleteRule(services, policyOf(params), id, request),
    present: (found, { services, params }) => present(found, params.id, services.config.baseUrl),
  }),
  ...lifecycleSteps({
    path: '/authorizationServers/:id/policies/:policyId/rules/:ruleId',
    noun: 'a rule of an access policy',
    access: 'service',
    params: ruleParams,
    set: ({ services, params, request }, status) => setRuleStatus(services, policyOf(params), params.ruleId, status, request),
  }),
];

const inputOf = ({ type: _, actions = {}, ...rest }: z.output<typeof ruleBody>) => ({ ...rest, actions });

/** Okta's Terraform provider reads the users if there are groups; an empty list beside other people has no effect. */
const conditionsOf = ({ people, ...rest }: PolicyRule['conditions']) => ({
  ...rest,
  ...(people !== undefined && { people: people.groups === undefined ? people : { ...people, users: people.users ?? { include: [] } } }),
});

const present = (found: PolicyRule, serverId: string, baseUrl: string) => ({
  id: found.id,
  type: 'RESOURCE_ACCESS' as const,
  status: found.status,
  name: found.name,
  priority: found.priority,
  system: serverId === BUILT_IN,
  // Stored conditions are plain data; the response schema copies only declared fields.
  conditions: conditionsOf(found.conditions) as z.input<typeof rule>['conditions'],
  actions: found.actions,
  created: writeTime(found.created),
  lastUpdated: writeTime(found.lastUpdated),
  _links: linksOf(`${baseUrl}/api/v1/authorizationServers/${serverId}/policies/${found.policyId}/rules/${found.id}`, {
    status: found.status,
    system: serverId === BUILT_IN,
  }),
});
