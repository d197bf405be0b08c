/** Properties of who may do what (policies): access policies, scopes, consent, administration. More rights never allow less, fewer never more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type Access,
  isPersonWithin,
  isWithin,
  mayCall,
  type Role,
  reachOf,
} from '../../src/features/administrators/administration.policy.ts';
import { decideConsent, dependsOnRemembered } from '../../src/features/consents/consent.policy.ts';
import {
  ACCESS_GRANT_TYPES,
  type AccessFacts,
  type AccessPolicy,
  ALL_CLIENTS,
  ANY,
  decideAccess,
  dependsOnGroups,
  EVERYONE,
  inOrder,
  type RuleConditions,
  withoutName,
} from '../../src/features/policies/access-policy.policy.ts';
import { keptSteps, MOST_STEPS } from '../../src/features/policies/decisions.policy.ts';
import {
  authorizationScopes,
  clientCredentialsScopes,
  type OfferedScope,
  passwordScopes,
} from '../../src/features/scopes/granted-scopes.policy.ts';
import {
  decideStep,
  LIFECYCLE_STEPS,
  locksOut,
  possibleSteps,
  USER_STATUSES,
  type UserStatus,
} from '../../src/features/users/user-lifecycle.policy.ts';
import { of, tried } from './checking.ts';

const clientId = fc.constantFrom('app_1', 'app_2');
const userId = fc.constantFrom('usr_1', 'usr_2');
const groupId = fc.constantFrom('grp_1', 'grp_2');
const actor = fc.constantFrom('app_1', 'app_3');
const detailType = fc.constantFrom('payment', 'accounts');
const scope = fc.constantFrom<string>('openid', 'profile', 'offline_access', 'read', 'write');
const grantType = fc.constantFrom(...ACCESS_GRANT_TYPES);
const listed = <T extends string>(one: fc.Arbitrary<T>): fc.Arbitrary<{ include: string[] } | undefined> =>
  fc.option(of({ include: fc.array<string>(one, { maxLength: 3 }) }), { nil: undefined });
const present = <T extends object>(given: T) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

const conditions: fc.Arbitrary<RuleConditions> = of({
  people: fc.option(of({ users: listed(userId), groups: listed(fc.oneof(groupId, groupId, fc.constant(EVERYONE))) }).map(present), {
    nil: undefined,
  }),
  grantTypes: listed(fc.oneof(grantType, grantType, grantType, fc.constant(ANY))),
  scopes: listed(fc.oneof({ weight: 5, arbitrary: scope }, { weight: 1, arbitrary: fc.constant(ANY) })),
  authorizationDetails: listed(fc.oneof({ weight: 3, arbitrary: detailType }, { weight: 1, arbitrary: fc.constant(ANY) })),
  actors: listed(fc.oneof({ weight: 3, arbitrary: actor }, { weight: 1, arbitrary: fc.constant(ANY) })),
}).map(present);

const lifetime = fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined });
const actions = of({
  token: of({ accessTokenLifetimeMinutes: lifetime, refreshTokenLifetimeMinutes: lifetime, refreshTokenWindowMinutes: lifetime }).map(
    present,
  ),
});
const rule = of({ id: fc.uuid(), name: fc.constant('rule'), conditions, actions });
const policy: fc.Arbitrary<AccessPolicy> = of({
  id: fc.uuid(),
  name: fc.constant('policy'),
  clients: fc.array(fc.oneof(clientId, fc.constant(ALL_CLIENTS)), { maxLength: 2 }),
  rules: fc.array(rule, { maxLength: 4 }),
});
const policies = fc.array(policy, { maxLength: 4 });
const facts: fc.Arbitrary<AccessFacts> = of({
  clientId,
  user: fc.option(of({ id: userId, groupIds: fc.uniqueArray(groupId) }), { nil: undefined }),
  grantType,
  scopes: fc.uniqueArray(scope),
  detailTypes: fc.uniqueArray(detailType),
  actor: fc.option(actor, { nil: undefined }),
});
const SERVER = { accessTokenSeconds: 3600, refreshTokenSeconds: 86_400, refreshTokenWindowSeconds: 7200 };
const decide = (given: readonly AccessPolicy[], asked: AccessFacts) => decideAccess(given, asked, SERVER);

/** The rule in other words: the first policy that names the client, in it the first rule whose every condition holds. */
function allowedBy(
  given: readonly AccessPolicy[],
  { clientId: client, user, grantType: type, scopes, detailTypes = [], actor: acting }: AccessFacts,
): string | undefined {
  const first = given.find(({ clients }) => clients.some((one) => one === client || one === 'ALL_CLIENTS'));
  return first?.rules.find(({ conditions: { people, grantTypes, scopes: allowed, authorizationDetails: details, actors } }) => {
    const byType = !grantTypes || new Set(grantTypes.include).has(type) || grantTypes.include.includes('*');
    const names = [...(people?.users?.include ?? []).map((id) => `u ${id}`), ...(people?.groups?.include ?? []).map((id) => `g ${id}`)];
    const own = ['g EVERYONE', ...(user ? [`u ${user.id}`, ...user.groupIds.map((id) => `g ${id}`)] : [])];
    const byPeople = (!people?.users && !people?.groups) || names.some((name) => own.includes(name));
    const others = scopes.filter((one) => !allowed?.include.includes(one));
    const byScopes = !allowed || allowed.include.includes('*') || (allowed.include.length > 0 && others.length === 0);
    const byActor = !actors || (acting !== undefined && [acting, '*'].some((one) => actors.include.includes(one)));
    const byDetails = !details || details.include.includes('*') || !detailTypes.some((one) => !details.include.includes(one));
    return byType && byPeople && byScopes && byActor && byDetails;
  })?.id;
}

test('access policies: the first policy for the client decides, by its first rule that fits', () => {
  fc.assert(
    fc.property(policies, facts, (given, asked) => {
      const { allowed, rule: by, reasons } = decide(given, asked);
      assert.equal(by?.id, allowedBy(given, asked));
      assert.equal(allowed, by !== undefined);
      assert.equal(reasons.at(-1)?.reason === 'the rule fits', allowed);
      const { steps, left = 0 } = keptSteps({ reasons });
      assert.ok(steps.length <= MOST_STEPS && steps.length + left === reasons.length);
      assert.deepEqual(steps.at(-1), reasons.at(-1));
    }),
    tried(500),
  );
});

test('access policies: who asks for less, or is in more groups, is not refused where it was allowed before', () => {
  fc.assert(
    fc.property(policy, facts, fc.nat(), groupId, (one, asked, at, group) => {
      if (!decide([one], asked).allowed) return;
      const less = { ...asked, scopes: asked.scopes.filter((_, n) => n !== at % Math.max(1, asked.scopes.length)) };
      assert.equal(decide([one], less).allowed, true);
      assert.equal(decide([one], { ...asked, detailTypes: (asked.detailTypes ?? []).slice(1) }).allowed, true);
      const { user } = asked;
      if (user) assert.equal(decide([one], { ...asked, user: { ...user, groupIds: [...user.groupIds, group] } }).allowed, true);
    }),
    tried(500),
  );
});

test('access policies: taking a name out of a rule opens nothing, also where it was the last', () => {
  fc.assert(
    fc.property(policy, facts, userId, groupId, (one, asked, user, group) => {
      const rules = one.rules.map((each) => ({
        ...each,
        conditions: withoutName(withoutName(each.conditions, 'user', user), 'group', group),
      }));
      assert.ok(!decide([{ ...one, rules }], asked).allowed || decide([one], asked).allowed);
      const names = JSON.stringify(rules);
      assert.ok(!names.includes(user) && !names.includes(group));
    }),
    tried(500),
  );
});

test('access policies: groups that need not be read do not matter', () => {
  fc.assert(
    fc.property(policies, facts, (given, asked) => {
      if (asked.user === undefined || dependsOnGroups(given)) return;
      assert.deepEqual(decide(given, { ...asked, user: { ...asked.user, groupIds: [] } }), decide(given, asked));
    }),
    tried(500),
  );
});

test('access policies: no access token lives for more than a day, no refresh token for ever, and a rule’s lifetimes go before the server’s', () => {
  fc.assert(
    fc.property(policies, facts, (given, asked) => {
      const { rule: by, lifetimes } = decide(given, asked);
      assert.ok(lifetimes.accessTokenSeconds <= 86_400 && lifetimes.refreshTokenSeconds > 0);
      const minutes = by?.actions.token?.refreshTokenWindowMinutes;
      assert.equal(lifetimes.refreshTokenWindowSeconds, minutes === undefined ? SERVER.refreshTokenWindowSeconds : minutes * 60);
    }),
    tried(),
  );
});

test('an order is the others’ order, with the one in its place', () => {
  const ids = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(ids, fc.nat(), fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }), (all, at, priority) => {
      const id = all[at % all.length] ?? '';
      const ordered = inOrder(all, id, priority);
      assert.deepEqual(
        ordered.filter((one) => one !== id),
        all.filter((one) => one !== id),
      );
      assert.equal(ordered.indexOf(id) + 1, Math.min(priority ?? all.length, all.length));
      assert.deepEqual(inOrder(ordered, id, priority), ordered);
    }),
    tried(),
  );
});

const orgId = fc.constantFrom<string>('org_1', 'org_2', 'org_3');
const role: fc.Arbitrary<Role> = fc.oneof(
  fc.constant({ type: 'SUPER_ADMIN' as const }),
  fc.constant({ type: 'READ_ONLY_ADMIN' as const }),
  orgId.map((id) => ({ type: 'ORG_ADMIN' as const, orgId: id })),
);
const roles = fc.array(role, { maxLength: 3 });
const access = fc.constantFrom<Access>('service', 'organizations', 'own');
const verb = fc.constantFrom('read' as const, 'write' as const);

test('administration: another role takes nothing away, and whoever may write may read', () => {
  fc.assert(
    fc.property(roles, role, access, verb, orgId, (some, another, to, how, org) => {
      const more = [...some, another];
      if (mayCall(some, to, how)) assert.ok(mayCall(more, to, how));
      if (mayCall(some, to, 'write')) assert.ok(mayCall(some, to, 'read'));
      if (isWithin(reachOf(some, how), org)) assert.ok(isWithin(reachOf(more, how), org));
      if (isWithin(reachOf(some, 'write'), org)) assert.ok(isWithin(reachOf(some, 'read'), org));
      assert.equal(mayCall([], to, how), false);
      assert.equal(isWithin(reachOf([], how), org), false);
    }),
    tried(500),
  );
});

test('administration: beyond what is his own nobody writes but SUPER_ADMIN, and ORG_ADMIN in his organizations', () => {
  fc.assert(
    fc.property(roles, access, verb, orgId, (some, to, how, org) => {
      const has = (type: Role['type'], at?: string) => some.some((one) => one.type === type && (at === undefined || one.orgId === at));
      const reads = has('SUPER_ADMIN') || has('READ_ONLY_ADMIN');
      const whole = how === 'read' ? reads : has('SUPER_ADMIN');
      assert.equal(mayCall(some, to, how), whole || (to === 'own' && some.length > 0) || (to === 'organizations' && has('ORG_ADMIN')));
      assert.equal(isWithin(reachOf(some, how), org), whole || has('ORG_ADMIN', org));
    }),
    tried(500),
  );
});

test('administration: a narrower reach changes nobody whom a wider one does not, and never somebody with more rights', () => {
  const person = of({ orgIds: fc.uniqueArray(orgId), roles, isJoined: fc.boolean() });
  fc.assert(
    fc.property(fc.uniqueArray(orgId), orgId, person, (orgs, another, whom) => {
      const [narrow, wide] = [new Set(orgs), new Set([...orgs, another])];
      if (!isPersonWithin(narrow, whom)) return;
      assert.ok(isPersonWithin(wide, whom) && isPersonWithin('everything', whom));
      assert.ok(whom.orgIds.length > 0 && whom.orgIds.every((id) => narrow.has(id)));
      // Whatever he may write, the one who changes him may write as well.
      const his = reachOf(whom.roles, 'write');
      assert.ok(his !== 'everything' && [...his].every((id) => narrow.has(id)));
      assert.ok(reachOf(whom.roles, 'read') !== 'everything');
    }),
    tried(500),
  );
});

const offered: fc.Arbitrary<OfferedScope[]> = fc.uniqueArray(
  of({ name: scope, consent: fc.constantFrom('IMPLICIT' as const, 'REQUIRED' as const, 'FLEXIBLE' as const), isDefault: fc.boolean() }),
  { selector: ({ name }) => name },
);
const asked = fc.array(fc.oneof(scope, fc.constantFrom('unknown', '*')), { maxLength: 5 });

test('scopes: what is granted was asked for and is offered, in the order it was asked for, each once; what is refused is not granted', () => {
  const ways = fc.constantFrom(
    (names: string[], all: OfferedScope[]) => authorizationScopes(names, all, { refreshable: true, origin: 'ADMIN' }),
    (names: string[], all: OfferedScope[]) => authorizationScopes(names, all, { refreshable: false, origin: 'ADMIN' }),
    (names: string[], all: OfferedScope[]) => passwordScopes(names, all, { consentMethod: 'TRUSTED', refreshable: true }),
    (names: string[], all: OfferedScope[]) => passwordScopes(names, all, { consentMethod: 'REQUIRED', refreshable: false }),
    clientCredentialsScopes,
  );
  fc.assert(
    fc.property(ways, asked, offered, (way, names, all) => {
      const { requested, refused, granted } = way(names, all);
      const order = (part: readonly string[]) =>
        assert.deepEqual(
          part,
          requested.filter((name) => part.includes(name)),
        );
      order(refused);
      order(granted);
      assert.ok(granted.every((name) => all.some((one) => one.name === name) && !refused.includes(name)));
      if (names.length > 0) assert.deepEqual(requested, [...new Set(names)]);
      else assert.ok(refused.length === 0 && requested.every((name) => all.some((one) => one.name === name && one.isDefault)));
      assert.ok(names.every((name) => name !== 'unknown' || refused.includes(name)));
      // What was granted is granted again, and no more.
      if (granted.length > 0) assert.deepEqual(way([...granted], all), { requested: granted, refused: [], granted });
    }),
    tried(500),
  );
});

test('scopes: an unknown client that refreshes is granted offline_access with what it asks for; one that cannot is not', () => {
  const offline = { name: 'offline_access', consent: 'IMPLICIT' as const, isDefault: false };
  const origins = fc.constantFrom('REGISTERED' as const, 'INTRODUCED' as const);
  fc.assert(
    fc.property(asked, offered, origins, (names, all, origin) => {
      const scopes = [...all.filter(({ name }) => name !== offline.name), offline];
      const { requested, granted } = authorizationScopes(names, scopes, { refreshable: true, origin });
      assert.equal(granted.includes(offline.name), requested.length > 0);
      const { granted: once } = authorizationScopes(names, scopes, { refreshable: false, origin });
      assert.deepEqual(
        once,
        granted.filter((name) => name !== offline.name),
      );
    }),
    tried(500),
  );
});

test('scopes: nothing that a user has to allow without one, and nothing of his', () => {
  fc.assert(
    fc.property(asked, offered, (names, all) => {
      const { granted } = clientCredentialsScopes(names, all);
      assert.ok(granted.every((name) => name !== 'openid' && name !== 'offline_access'));
      const asks = all.filter(({ consent }) => consent === 'REQUIRED').map(({ name }) => name);
      assert.ok(!granted.some((name) => asks.includes(name)));
      const byPassword = passwordScopes(names, all, { consentMethod: 'REQUIRED', refreshable: true }).granted;
      assert.ok(!byPassword.some((name) => asks.includes(name)));
      const trusted = passwordScopes(names, all, { consentMethod: 'TRUSTED', refreshable: true }).granted;
      if (names.length > 0)
        assert.ok(
          byPassword.every((name) => trusted.includes(name)),
          'trust grants no less',
        );
    }),
    tried(500),
  );
});

test('consent: the table of decisions.md; who has allowed more is asked for no more', () => {
  const method = fc.constantFrom('TRUSTED' as const, 'REQUIRED' as const);
  fc.assert(
    fc.property(method, fc.boolean(), offered, fc.uniqueArray(scope), scope, (how, prompted, scopes, remembered, another) => {
      const given = { method: how, prompted, scopes, remembered: new Set(remembered) };
      const decided = decideConsent(given);
      for (const [n, { name, consent }] of scopes.entries()) {
        const shown = consent !== 'IMPLICIT' && (prompted || (how === 'REQUIRED' && !remembered.includes(name)));
        assert.deepEqual([decided[n]?.scope, decided[n]?.ask], [name, shown]);
      }
      const askedFor = (with_: readonly string[]) => decideConsent({ ...given, remembered: new Set(with_) }).filter(({ ask }) => ask);
      assert.ok(askedFor([...remembered, another]).length <= askedFor(remembered).length);
      if (!dependsOnRemembered(given)) assert.deepEqual(decideConsent({ ...given, remembered: new Set() }), decided);
    }),
    tried(500),
  );
});

test('life cycles: whatever steps are taken, nobody ends himself and the last SUPER_ADMIN can always sign in', () => {
  const life = fc.array(of({ step: fc.constantFrom(...LIFECYCLE_STEPS), isSelf: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(life, fc.boolean(), fc.boolean(), (steps, hasPassword, isLastSuperAdmin) => {
      let status: UserStatus = 'ACTIVE';
      for (const { step, isSelf } of steps) {
        const decided = decideStep(step, {
          status,
          hasPassword,
          awaitsApproval: true,
          hasWayToSignIn: hasPassword,
          isSelf,
          isLastSuperAdmin,
        });
        const isPossible = possibleSteps({ status, hasPassword, awaitsApproval: true }).includes(step);
        if ('refused' in decided) continue;
        assert.ok(isPossible && USER_STATUSES.includes(decided.to));
        assert.ok(!isLastSuperAdmin || !locksOut(step));
        assert.ok(!isSelf || (decided.to !== 'SUSPENDED' && decided.to !== 'DEPROVISIONED'));
        status = decided.to;
      }
      if (isLastSuperAdmin) assert.ok(status === 'ACTIVE' || status === 'PASSWORD_EXPIRED');
    }),
    tried(500),
  );
});
