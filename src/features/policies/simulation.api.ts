/** `authorizationServers/{id}/simulate`: simulates a token request. An extension: Okta only has a preview of tokens. */

import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { type Endpoint, endpoint, LARGE_BODY } from '../../api/endpoint.ts';
import { idParams } from '../../api/fields.ts';
import { text } from '../../platform/validation/text.ts';
import { consentMethodOf } from '../applications/application-settings.policy.ts';
import { MOST_DETAILS, readDetails } from '../authorization-details/detail-types.service.ts';
import { MOST_AUDIENCES } from '../authorization-servers/audience.policy.ts';
import { MESSAGE_TYPES } from '../message-factors/message-factors.policy.ts';
import { organizationPolicyResponse } from '../organization-policy/organization-policy.resource.ts';
import { spaceSeparated } from '../scopes/granted-scopes.policy.ts';
import { SIGN_IN_ACTIONS } from '../sign-in-rules/sign-in-rules.policy.ts';
import { ACCESS_GRANT_TYPES } from './access-policy.policy.ts';
import { type SimulatedResult, simulateRequest } from './simulation.service.ts';

const PROMPTS = ['none', 'login', 'consent'] as const;

const simulatedRequest = z.strictObject({
  client_id: text({ least: 1 }),
  /** ID or user name. */
  user: text({ least: 1 }).exactOptional(),
  grant_type: z.enum(ACCESS_GRANT_TYPES),
  /** Token exchange: client ID of the acting application. Absent: the requesting one. */
  actor: text({ least: 1 }).exactOptional(),
  /** Absent: the server's default ones. */
  scopes: z
    .array(text({ least: 1 }))
    .max(1000)
    .default([]),
  /** The parameter `resource` of the request (RFC 8707). Absent: the server's first audience. */
  resources: z
    .array(text({ least: 1 }))
    .max(MOST_AUDIENCES)
    .default([]),
  /** The parameter `authorization_details` of the request (RFC 9396). */
  authorization_details: z
    .array(z.looseObject({ type: text({ least: 1 }) }))
    .max(MOST_DETAILS)
    .superRefine((details, ctx) => {
      const read = readDetails(JSON.stringify(details));
      if ('problem' in read) ctx.addIssue({ code: 'custom', message: read.problem });
    })
    .default([]),
  authorization_detail_types: z
    .array(text({ least: 1 }))
    .max(MOST_DETAILS)
    .default([])
    .meta({ description: 'Types of authorization details whose content is not known' }),
  /** The parameter `organization` of the request: an ID or a name. */
  organization: text({ least: 1, most: 255 }).exactOptional(),
  /** Space-separated as in an authorization request. */
  prompt: z
    .string()
    .transform((prompt) => spaceSeparated(prompt))
    .pipe(z.array(z.enum(PROMPTS, `must be a list of ${PROMPTS.join(', ')}`)))
    .refine((prompts) => prompts.length < 2 || !prompts.includes('none'), 'cannot combine none with other values')
    .default([]),
  /** Call the rule's inline hook? Its response affects only the simulation. */
  run_inline_hook: z.boolean().default(false),
  /** Circumstances of the sign-in, for the rules of the sign-in policy. */
  sign_in: z
    .strictObject({
      ip_address: z.union([z.ipv4(), z.ipv6()], { error: 'must be an IP address' }).exactOptional(),
      new_browser: z.boolean().default(false),
      new_country: z.boolean().exactOptional().meta({ description: 'Absent: as the database of countries says of ip_address' }),
      days_since_last_sign_in: z.int().min(0).max(36_500).exactOptional(),
    })
    .exactOptional(),
});

const claims = z.record(z.string(), z.unknown());
const named = z.object({ id: z.string(), name: z.string() }).nullable();

const simulation = z.object({
  /** CONSENT: the dialog is shown; the rest applies if the user allows everything. */
  outcome: z.enum(['TOKENS', 'CONSENT', 'REFUSED']),
  /** Why the request is refused: the first of the reasons. */
  refusal: z.object({ error: z.string(), reason: z.string() }).nullable(),
  server: z.object({ id: z.string(), name: z.string(), status: z.string() }),
  application: z.object({ client_id: z.string(), label: z.string(), status: z.string() }),
  user: z.object({ id: z.string(), login: z.string(), status: z.string() }).nullable(),
  assignment: z.object({ setting: z.enum(['EVERYONE', 'ASSIGNED']), assigned: z.boolean() }).nullable(),
  /** The user’s roles at the application, by their own assignment or by those of groups. */
  roles: z.array(z.object({ name: z.string(), direct: z.boolean(), groups: z.array(z.string()) })).nullable(),
  /** response_type for the authorize endpoint. */
  response_type: z.string().nullable(),
  scopes: z.object({ requested: z.array(z.string()), refused: z.array(z.string()), granted: z.array(z.string()) }),
  access: z.object({
    allowed: z.boolean(),
    policy: named,
    rule: named,
    /** Evaluated policies and rules in order. */
    steps: z.array(z.object({ policy: z.string().optional(), rule: z.string().optional(), reason: z.string() })),
  }),
  /** Deciding rule of the sign-in policy; null without `sign_in`. */
  sign_in: z
    .object({
      action: z.enum(SIGN_IN_ACTIONS),
      rule: z.string().nullable(),
      steps: z.array(z.object({ rule: z.string(), reason: z.string() })),
      second_factors: z
        .array(z.enum(['TOTP', ...MESSAGE_TYPES, 'PASSKEY']))
        .meta({ description: 'Those that the user can be asked for after a password' }),
    })
    .nullable(),
  required_provider: named.meta({ description: 'The identity provider that the user must sign in by. null: any way will do' }),
  organization_policy: organizationPolicyResponse
    .nullable()
    .meta({ description: 'What the organization demands that the user signs in for. null: nothing, or there is none' }),
  /** null without user interaction. */
  consent: z
    .object({
      asked: z.boolean(),
      consent_method: z.enum(['TRUSTED', 'REQUIRED', 'ALWAYS']),
      prompted: z.boolean(),
      scopes: z.array(z.object({ scope: z.string(), consent: z.string(), ask: z.boolean(), reason: z.string() })),
      authorization_details: z.array(z.object({ type: z.string(), ask: z.boolean(), reason: z.string() })),
    })
    .nullable(),
  /** The rule's, or by default the server's. */
  lifetimes: z.object({
    accessTokenSeconds: z.int(),
    idTokenSeconds: z.int(),
    refreshTokenSeconds: z.int(),
    refreshTokenWindowSeconds: z.int(),
  }),
  /** null when the request is refused or the rule has none. */
  inline_hook: z
    .object({
      id: z.string(),
      outcome: z.enum(['NOT_RUN', 'CHANGED', 'UNCHANGED', 'DENIED', 'FAILED']),
      reason: z.string().nullable().meta({ description: 'Why it failed, or its words when it denied' }),
    })
    .nullable(),
  /** null when the request is refused, by the inline hook too. */
  tokens: z
    .object({
      access_token: z.object({ format: z.enum(['opaque', 'jwt']), claims }).nullable(),
      id_token: z.object({ claims }).nullable(),
      /** Response of the userinfo endpoint for the access token. */
      userinfo: z.object({ claims }).nullable(),
      refresh_token: z.boolean(),
    })
    .nullable(),
});

export const authorizationServerSimulation: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/authorizationServers/:id/simulate',
    access: 'service',
    summary: 'Simulate a token request and explain the result; nothing is issued or changed',
    params: idParams,
    bodyLimit: LARGE_BODY,
    body: simulatedRequest,
    response: simulation,
    handler: async ({ services, params, body, request: caller }) => {
      const {
        client_id: clientId,
        user,
        grant_type: grantType,
        actor,
        scopes,
        resources,
        authorization_details: details,
        authorization_detail_types: detailTypes,
        organization,
        prompt,
        run_inline_hook: runHook,
        sign_in: signsIn,
      } = body;
      const signIn = signsIn && {
        ipAddress: signsIn.ip_address,
        newBrowser: signsIn.new_browser,
        newCountry: signsIn.new_country,
        daysSinceLastSignIn: signsIn.days_since_last_sign_in,
      };
      const asked = { scopes, organization, resources, details, detailTypes, prompts: new Set(prompt) };
      const request = { clientId, user, grantType, actor, ...asked, runHook, signIn };
      return present(await simulateRequest(services, params.id, request, caller), request.prompts.has('consent'));
    },
  }),
];

function present(found: SimulatedResult, prompted: boolean): z.input<typeof simulation> {
  const { server, application, user, access, consent, tokens, scopes } = found;
  const { settings } = application;
  return {
    outcome: found.outcome,
    refusal: found.refusal ?? null,
    server: { id: server.id, name: server.name, status: server.status },
    application: { client_id: application.id, label: application.label, status: application.status },
    user: user === undefined ? null : { id: user.id, login: user.login, status: user.status },
    assignment: found.isAssigned === undefined ? null : { setting: settings.assignment, assigned: found.isAssigned },
    roles: found.heldRoles?.map(({ name, direct, groups }) => ({ name, direct, groups: [...groups] })) ?? null,
    response_type: found.responseType ?? null,
    scopes: { requested: [...scopes.requested], refused: [...scopes.refused], granted: [...scopes.granted] },
    access: {
      allowed: access.allowed,
      policy: access.policy ?? null,
      rule: access.rule ?? null,
      steps: [...access.reasons],
    },
    sign_in:
      found.signIn === undefined
        ? null
        : {
            action: found.signIn.action,
            rule: found.signIn.rule?.name ?? null,
            steps: [...found.signIn.steps],
            second_factors: [...(found.factors ?? [])],
          },
    required_provider: found.requiredProvider === undefined ? null : { id: found.requiredProvider.id, name: found.requiredProvider.name },
    organization_policy: found.organizationPolicy ?? null,
    consent:
      consent === undefined
        ? null
        : {
            asked: consent.some(({ ask }) => ask),
            consent_method: consentMethodOf(application),
            prompted,
            scopes: consent
              .filter(({ detail }) => detail === undefined)
              .map((decision) => ({ ...decision, consent: found.offered.find(({ name }) => name === decision.scope)?.consent ?? '' })),
            authorization_details: consent.flatMap(({ detail, ask, reason }) =>
              detail === undefined ? [] : { type: detail.type, ask, reason },
            ),
          },
    lifetimes: {
      ...access.lifetimes,
      accessTokenSeconds: found.hookedLifetimes.access ?? access.lifetimes.accessTokenSeconds,
      idTokenSeconds: found.hookedLifetimes.identity ?? LIFETIMES.idToken,
    },
    inline_hook: found.hook === undefined ? null : { ...found.hook, reason: found.hook.reason ?? null },
    tokens:
      tokens === undefined
        ? null
        : {
            access_token: tokens.accessToken === undefined ? null : { format: server.accessTokenFormat, claims: { ...tokens.accessToken } },
            id_token: tokens.idToken === undefined ? null : { claims: { ...tokens.idToken } },
            userinfo: tokens.userinfo === undefined ? null : { claims: { ...tokens.userinfo } },
            refresh_token: tokens.refreshToken,
          },
  };
}
