/** Form of a rule: users, grants, scopes and token lifetimes. */

import { applicationsIn, groupsIn, roleNamesIn, usersIn } from '../../pages/console/candidates.ts';
import type { DurationField, Field } from '../../pages/console/form.ts';
import type { ConsoleRequest, Typed } from '../../pages/console/page.ts';
import { pickManyField } from '../../pages/console/picker.ts';
import { verbatim } from '../../platform/i18n/phrase.ts';
import type { DetailType } from '../authorization-details/detail-types.resource.ts';
import { listServerDetailTypes } from '../authorization-details/detail-types.service.ts';
import { TOKENS_TRANSFORM } from '../inline-hooks/inline-hooks.resource.ts';
import { listInlineHooks } from '../inline-hooks/inline-hooks.service.ts';
import { listServerScopes } from '../scopes/scopes.service.ts';
import { ACCESS_GRANT_TYPES, ANY, EVERYONE, type RuleConditions } from './access-policy.policy.ts';
import type { PolicyRule } from './policies.resource.ts';
import { GRANTS } from './rules-table.console.ts';

const NAMED_PEOPLE = { field: 'people', value: 'some' };

const chosen = (include: readonly string[] | undefined): 'all' | 'some' =>
  include === undefined || include.includes(ANY) ? 'all' : 'some';

const isForEveryone = ({ people }: RuleConditions): boolean =>
  people === undefined ||
  (people.users === undefined && people.groups === undefined && people.roles === undefined) ||
  people.groups?.include.includes(EVERYONE) === true;

const minutes = (name: string, label: string, hint: string, now: number | undefined): DurationField => ({
  name,
  label,
  hint,
  kind: 'duration',
  unit: 'minute',
  advanced: true,
  group: 'Lifetimes',
  value: now === undefined ? '' : String(now),
});

/** A server without types has no such condition. */
function detailFields({ items }: { readonly items: readonly DetailType[] }, { authorizationDetails }: RuleConditions): readonly Field[] {
  if (items.length === 0 && authorizationDetails === undefined) return [];
  const include = authorizationDetails?.include;
  return [
    {
      name: 'detailsFor',
      label: 'Authorization details',
      group: 'Authorization details',
      kind: 'radios',
      advanced: true,
      value: chosen(include),
      options: [
        { value: 'all', label: 'With any details or none' },
        {
          value: 'some',
          label: 'Requests with details of these types, and of no others',
          hint: 'Also requests without details. If none is selected: only those.',
        },
      ],
    },
    {
      kind: 'checks',
      name: 'details',
      label: 'Types',
      group: 'Authorization details',
      when: { field: 'detailsFor', value: 'some' },
      advanced: true,
      values: (include ?? []).filter((name) => name !== ANY),
      options: items.map(({ name }) => ({ value: name, label: verbatim(name) })),
      alias: 'conditions.authorizationDetails.include',
    },
  ];
}

/** @param now undefined: a new rule */
export async function ruleFields(
  visit: ConsoleRequest,
  serverId: string,
  now: PolicyRule | undefined,
  typed: Typed,
): Promise<readonly Field[]> {
  const { conditions = {}, actions: { token = {} } = {} } = now ?? {};
  const isOpen = isForEveryone(conditions);
  const scopes = await listServerScopes(visit.services, serverId, undefined, { limit: 1000 });
  const hooks = (await listInlineHooks(visit.services, { limit: 200 })).items.filter(({ type }) => type === TOKENS_TRANSFORM);
  const named = (include: readonly string[] | undefined) => (include ?? []).filter((name) => name !== ANY);
  return [
    { name: 'name', label: 'Name', required: true, value: now?.name },
    {
      name: 'people',
      label: 'Applies to',
      group: 'Users',
      kind: 'radios',
      value: isOpen ? 'all' : 'some',
      options: [
        { value: 'all', label: 'Everyone', hint: 'Also an application without a user (client credentials).' },
        {
          value: 'some',
          label: 'These users and the members of these groups',
          hint: 'Never a client without a user. If empty, the rule never matches.',
        },
      ],
    },
    await pickManyField(
      usersIn(visit),
      {
        name: 'users',
        label: 'Users',
        what: 'users',
        group: 'Users',
        when: NAMED_PEOPLE,
        ids: isOpen ? [] : (conditions.people?.users?.include ?? []),
        alias: 'conditions.people.users.include',
      },
      typed,
    ),
    await pickManyField(
      groupsIn(visit),
      {
        name: 'groups',
        label: 'Groups',
        what: 'groups',
        group: 'Users',
        when: NAMED_PEOPLE,
        ids: isOpen ? [] : (conditions.people?.groups?.include ?? []),
        alias: 'conditions.people.groups.include',
      },
      typed,
    ),
    await pickManyField(
      roleNamesIn(visit),
      {
        name: 'roles',
        label: 'Roles at the application',
        what: 'application-roles',
        byName: true,
        group: 'Users',
        when: NAMED_PEOPLE,
        hint: 'Users with one of these roles match, too.',
        ids: isOpen ? [] : (conditions.people?.roles?.include ?? []),
        alias: 'conditions.people.roles.include',
      },
      typed,
    ),
    {
      name: 'grants',
      label: 'Grants',
      group: 'Grants',
      kind: 'radios',
      value: chosen(conditions.grantTypes?.include),
      options: [
        { value: 'all', label: 'All grants' },
        { value: 'some', label: 'Only these grants', hint: 'If none is selected, the rule never matches.' },
      ],
    },
    {
      kind: 'checks',
      name: 'grantTypes',
      label: 'Grants',
      group: 'Grants',
      when: { field: 'grants', value: 'some' },
      hint: 'A refresh counts as the grant that it continues.',
      values: named(conditions.grantTypes?.include),
      options: ACCESS_GRANT_TYPES.map((type) => ({ value: type, label: GRANTS[type] })),
      alias: 'conditions.grantTypes.include',
    },
    {
      name: 'scopesFor',
      label: 'Scopes',
      group: 'Scopes',
      kind: 'radios',
      value: chosen(conditions.scopes?.include),
      options: [
        { value: 'all', label: 'All scopes' },
        {
          value: 'some',
          label: 'Requests for these scopes, and for no others',
          hint: 'If none is selected, the rule never matches.',
        },
      ],
    },
    {
      kind: 'checks',
      name: 'scopes',
      label: 'Scopes',
      group: 'Scopes',
      when: { field: 'scopesFor', value: 'some' },
      values: named(conditions.scopes?.include),
      options: scopes.items.map(({ name }) => ({ value: name, label: verbatim(name) })),
      alias: 'conditions.scopes.include',
    },
    ...detailFields(await listServerDetailTypes(visit.services, serverId, undefined, { limit: 1000 }), conditions),
    {
      name: 'actorsFor',
      label: 'Actors',
      group: 'Actors',
      kind: 'radios',
      advanced: true,
      value: conditions.actors === undefined ? 'all' : conditions.actors.include.includes(ANY) ? 'any' : 'some',
      options: [
        { value: 'all', label: 'With an actor or without' },
        { value: 'any', label: 'Any actor', hint: 'Token exchanges alone.' },
        { value: 'some', label: 'Only these applications', hint: 'Token exchanges in which one of them acts for the user.' },
      ],
    },
    await pickManyField(
      applicationsIn(visit),
      {
        name: 'actors',
        label: 'Actors',
        what: 'applications',
        group: 'Actors',
        when: { field: 'actorsFor', value: 'some' },
        ids: named(conditions.actors?.include),
        advanced: true,
        alias: 'conditions.actors.include',
      },
      typed,
    ),
    minutes('accessTokenLifetimeMinutes', 'Access tokens', 'At most one day. Empty: as the server.', token.accessTokenLifetimeMinutes),
    minutes(
      'refreshTokenLifetimeMinutes',
      'Refresh tokens, from the sign-in on',
      'Empty: as the server. 0: the longest possible lifetime.',
      token.refreshTokenLifetimeMinutes,
    ),
    minutes(
      'refreshTokenWindowMinutes',
      'Refresh tokens, from the last use on',
      'Empty: as the server. At most the lifetime from sign-in.',
      token.refreshTokenWindowMinutes,
    ),
    {
      name: 'inlineHook',
      label: 'Inline hook',
      group: 'Lifetimes',
      advanced: true,
      value: token.inlineHook?.id ?? '',
      hint: 'Called before tokens are issued. It adds, changes and removes claims and shortens lifetimes.',
      suggest: '',
      options: [{ value: '', label: 'No hook' }, ...hooks.map(({ id, name }) => ({ value: id, label: verbatim(name) }))],
      alias: 'actions.token.inlineHook.id',
    },
  ];
}
