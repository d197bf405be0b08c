/** Rules of an access policy: users, grants, scopes and token lifetimes. */

import { z } from 'zod';
import { type Field, formPage, typedValues } from '../../pages/console/form.ts';
import { countOf } from '../../pages/console/list-state.ts';
import { type ConsolePage, type ConsoleRequest, type Crumb, NOTHING_TYPED } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { policyFields, ruleGrantType, tokenActions } from '../authorization-servers/authorization-server-fields.service.ts';
import { idsNamed } from '../authorization-servers/references.console.ts';
import { subjectWithParts } from '../authorization-servers/server-page.console.ts';
import { ANY, type RuleConditions } from './access-policy.policy.ts';
import { placeField, priorityOf, statusSteps } from './ordering.console.ts';
import { crumbsBelowPolicy } from './policies.console.ts';
import type { Policy, PolicyRule } from './policies.resource.ts';
import { addressOfPolicy, policyOf } from './policy-list.console.ts';
import {
  createRule,
  deleteRule,
  getRule,
  listRules,
  moveRule,
  type PolicyPath,
  type RuleInput,
  setRuleStatus,
  updateRule,
} from './policy-rules.service.ts';
import { ruleFields } from './rule-fields.console.ts';

const PATH = '/api/servers/:serverId/policies/:policyId/rules';

interface Place {
  readonly policy: Policy;
  readonly path: PolicyPath;
  /** Address of the policy. */
  readonly address: string;
  readonly crumbs: readonly Crumb[];
}

/** @throws {ApiError} not found; wrong state: the built-in server */
async function placeOf(visit: ConsoleRequest): Promise<Place> {
  const subject = await subjectWithParts(visit);
  const policy = await policyOf(visit, subject);
  const path = { serverId: policy.serverId, policyId: policy.id };
  return { policy, path, address: addressOfPolicy(subject, policy), crumbs: crumbsBelowPolicy(subject, policy) };
}

const ruleOf = ({ services, params }: ConsoleRequest, { path }: Place): Promise<PolicyRule> => getRule(services, path, params.ruleId ?? '');

const which = z.enum(['all', 'some']);
const ruleForm = z.object({
  name: policyFields.name,
  people: which,
  users: z.array(z.string()).max(1000),
  groups: z.array(z.string()).max(1000),
  roles: z.array(z.string().min(1).max(255)).max(100),
  grants: which,
  grantTypes: z.array(ruleGrantType),
  scopesFor: which,
  scopes: z.array(z.string()).max(1000),
  detailsFor: which.default('all'),
  details: z.array(z.string()).max(1000).default([]),
  actorsFor: z.enum(['all', 'any', 'some']),
  actors: z.array(z.string()).max(1000),
});

/** @throws {ApiError} validation */
async function inputIn(visit: ConsoleRequest, fields: readonly Field[], form: URLSearchParams): Promise<RuleInput> {
  const typed = typedValues(fields, form);
  const { name, people, users, groups, roles, grants, grantTypes, scopesFor, scopes, detailsFor, details, actorsFor, actors } = parse(
    ruleForm,
    typed,
  );
  const hookId = typed.inlineHook;
  const hook = hookId === undefined || hookId === '' ? {} : { inlineHook: { id: hookId } };
  const token = parse(tokenActions, { ...lifetimesIn(typed), ...hook });
  const conditions: RuleConditions = {
    ...(people === 'some' && {
      people: {
        users: { include: await idsNamed(visit, 'user', 'users', users) },
        groups: { include: await idsNamed(visit, 'group', 'groups', groups) },
        ...(roles.length > 0 && { roles: { include: roles } }),
      },
    }),
    ...(grants === 'some' && { grantTypes: { include: grantTypes } }),
    ...(scopesFor === 'some' && { scopes: { include: scopes } }),
    ...(detailsFor === 'some' && { authorizationDetails: { include: details } }),
    ...(actorsFor === 'any' && { actors: { include: [ANY] } }),
    ...(actorsFor === 'some' && { actors: { include: await idsNamed(visit, 'application', 'actors', actors) } }),
  };
  return { name, conditions, actions: Object.keys(token).length === 0 ? {} : { token } };
}

const LIFETIMES = ['accessTokenLifetimeMinutes', 'refreshTokenLifetimeMinutes', 'refreshTokenWindowMinutes'] as const;

/** The lifetimes that were entered. */
const lifetimesIn = (typed: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(LIFETIMES.flatMap((name) => (typed[name] === undefined ? [] : [[name, typed[name]]])));

const create: ConsolePage = {
  path: `${PATH}/new`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const place = await placeOf(visit);
    const fields = await ruleFields(visit, place.path.serverId, undefined, typed);
    const [title, facts] = ['Create rule', ['It is evaluated last, after the existing ones.']];
    return formPage({ title, crumbs: place.crumbs, facts, fields, submit: title, cancel: place.address }, typed);
  },
  async receive(visit, form) {
    const place = await placeOf(visit);
    const input = await inputIn(visit, await ruleFields(visit, place.path.serverId, undefined, NOTHING_TYPED), form);
    await createRule(visit.services, place.path, input, visit.request);
    return { goTo: place.address, notice: 'rule-created' };
  },
};

const edit: ConsolePage = {
  path: `${PATH}/:ruleId`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const place = await placeOf(visit);
    const rule = await ruleOf(visit, place);
    const fields = await ruleFields(visit, place.path.serverId, rule, typed);
    return formPage(
      { title: phrase('Rule {rule}', { rule: rule.name }), crumbs: place.crumbs, fields, submit: 'Save', cancel: place.address },
      typed,
    );
  },
  async receive(visit, form) {
    const place = await placeOf(visit);
    const rule = await ruleOf(visit, place);
    const input = await inputIn(visit, await ruleFields(visit, place.path.serverId, rule, NOTHING_TYPED), form);
    await updateRule(visit.services, place.path, rule.id, input, visit.request);
    return { goTo: place.address, notice: 'rule-changed' };
  },
};

const move: ConsolePage = {
  path: `${PATH}/:ruleId/move`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const place = await placeOf(visit);
    const rule = await ruleOf(visit, place);
    const fields = [placeField(await listRules(visit.services, place.path), rule)];
    const page = {
      title: phrase('Move “{rule}”', { rule: rule.name }),
      crumbs: place.crumbs,
      facts: ['The first matching rule decides.'],
      fields,
    };
    return formPage({ ...page, submit: 'Move', cancel: place.address }, typed);
  },
  async receive(visit, form) {
    const place = await placeOf(visit);
    await moveRule(visit.services, place.path, visit.params.ruleId ?? '', priorityOf(form), visit.request);
    return { goTo: place.address, notice: 'rule-moved' };
  },
};

const [activate, deactivate] = statusSteps({
  path: `${PATH}/:ruleId`,
  what: 'rule',
  passedOver: 'The next rules decide the requests that it allowed. If none matches, access is denied.',
  notices: ['rule-activated', 'rule-deactivated'],
  async find(visit) {
    const place = await placeOf(visit);
    const { name } = await ruleOf(visit, place);
    return { name, crumbs: place.crumbs, address: place.address };
  },
  change: ({ services, params, request }, status) =>
    setRuleStatus(services, { serverId: params.serverId ?? '', policyId: params.policyId ?? '' }, params.ruleId ?? '', status, request),
});

const remove: ConsolePage = {
  path: `${PATH}/:ruleId/delete`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const place = await placeOf(visit);
    const { id, name } = await ruleOf(visit, place);
    const all = await listRules(visit.services, place.path);
    const next = all.slice(all.findIndex((rule) => rule.id === id) + 1).filter(({ status }) => status === 'ACTIVE');
    const facts = [
      phrase('Requests that it allowed are then decided by {rules} after it. If none matches, access is denied.', {
        rules: countOf(next.length, 'rule'),
      }),
      'This cannot be undone.',
    ];
    const page = { title: phrase('Delete the rule “{name}”?', { name }), crumbs: place.crumbs, facts };
    return formPage({ ...page, submit: 'Delete rule', danger: true, cancel: place.address }, typed);
  },
  async receive(visit) {
    const place = await placeOf(visit);
    await deleteRule(visit.services, place.path, visit.params.ruleId ?? '', visit.request);
    return { goTo: place.address, notice: 'rule-deleted' };
  },
};

export const serverRules: readonly ConsolePage[] = [create, edit, move, activate, deactivate, remove];
