/** Properties of what tokens tell, and of what is put in order or in colour by rule: claims, patterns on groups, sizes, sealed events, departments (policies). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type AuditRecord, PSEUDONYM, personalParts, publicForm, withoutParts } from '../../src/features/audit/audit-chain.policy.ts';
import { isRotationDue, nextRotation } from '../../src/features/authorization-servers/signing-keys.policy.ts';
import { LARGEST_PAYLOAD, limitToTokenSize, membersSize } from '../../src/features/authorization-servers/token-size.policy.ts';
import { claimProblems, isProtocolClaim, scopeNameProblem } from '../../src/features/claims/claim-settings.policy.ts';
import { idTokenClaims, opensUserinfo, USER_CLAIMS, userClaims, userinfoClaims } from '../../src/features/claims/claims.policy.ts';
import { type ClaimFacts, claimNeeds, decideClaims, type ServerClaim } from '../../src/features/claims/custom-claims.policy.ts';
import { GIVEN_UP_AFTER, pauseBeforeNext } from '../../src/features/event-hooks/event-hook-retries.policy.ts';
import { groupFilter, patternProblem } from '../../src/features/groups/group-filter.policy.ts';
import { inPreOrder } from '../../src/features/organizations/department-tree.policy.ts';
import {
  checkContrast,
  colourProblem,
  contrastRatio,
  isColour,
  isReadable,
  nearestReadable,
  relativeLuminance,
} from '../../src/features/settings/brand-colours.policy.ts';
import { canonicalJson } from '../../src/platform/validation/canonical-json.policy.ts';
import { anyText, endless, of, tried } from './checking.ts';

const scope = fc.constantFrom<string>('openid', 'profile', 'groups', 'read');
const claim: fc.Arbitrary<ServerClaim> = of({
  id: fc.uuid(),
  name: fc.constantFrom('groups', 'email', 'role', 'org', 'dep'),
  claimType: fc.constantFrom('IDENTITY' as const, 'RESOURCE' as const),
  valueType: fc.constantFrom(...(['USER_ATTRIBUTE', 'GROUPS', 'ORGANIZATION', 'DEPARTMENT', 'STATIC'] as const)),
  value: fc.constantFrom('', 'id', 'name', 'user.profile.department', 'A', 'email'),
  scopes: fc.uniqueArray(scope, { maxLength: 2 }),
  alwaysIncludeInToken: fc.boolean(),
  valueFormat: fc.constantFrom('TEXT' as const, 'JSON' as const),
  groupFilterType: fc.constantFrom('STARTS_WITH' as const, 'EQUALS' as const, 'CONTAINS' as const, 'REGEX' as const, null),
  status: fc.constantFrom('ACTIVE' as const, 'ACTIVE' as const, 'INACTIVE' as const),
});
const person = of({
  login: fc.constant('ada'),
  email: fc.constantFrom('ada@example.com', null),
  profile: fc.constantFrom({ department: 'R&D' }, {}),
  groups: fc.uniqueArray(fc.constantFrom('Admins', 'All', 'Users')),
  memberships: fc.array(
    of({
      orgId: fc.constantFrom('org_1', 'org_2'),
      orgName: fc.constant('One'),
      department: fc.constantFrom(undefined, { depId: 'dep_1', name: 'D' }),
    }),
    { maxLength: 2 },
  ),
});
const claims = fc.array(claim, { maxLength: 5 });
const facts: fc.Arbitrary<ClaimFacts> = of({
  claimType: fc.constantFrom('IDENTITY' as const, 'RESOURCE' as const),
  scopes: fc.uniqueArray(scope),
  person: fc.option(person, { nil: undefined }),
  besideAccessToken: fc.boolean(),
  chosen: fc.option(fc.uniqueArray(fc.constantFrom('groups', 'email', 'role')), { nil: undefined }),
});

test('claims: a token holds what was decided and nothing else, each with a reason; another scope takes none away', () => {
  fc.assert(
    fc.property(claims, facts, scope, (all, asked, another) => {
      const { claims: held, decided, steps } = decideClaims(all, asked);
      assert.ok(Object.keys(held).every((name) => decided.includes(name)));
      assert.deepEqual(new Set(steps.filter(({ reason }) => reason === 'included').map((one) => one.claim)), new Set(Object.keys(held)));
      for (const { name, claimType, scopes, status } of all)
        if (Object.hasOwn(held, name)) continue;
        else if (claimType === asked.claimType && status === 'ACTIVE' && scopes.length === 0) assert.ok(decided.includes(name));
      if (asked.chosen !== undefined) assert.ok(Object.keys(held).every((name) => asked.chosen?.includes(name)));
      const more = decideClaims(all, { ...asked, scopes: [...asked.scopes, another] });
      assert.ok(Object.keys(held).every((name) => Object.hasOwn(more.claims, name)));
      // Standard claims of these names give way to the server's own.
      const told = userinfoClaims({ sub: 'usr_1', email: 'of the user', role: 'of the user' }, { claims: held, decided });
      for (const name of decided) assert.deepEqual(told[name], held[name]);
    }),
    tried(500),
  );
});

test('claims: what need not be read of the user does not matter', () => {
  fc.assert(
    fc.property(claims, facts, (all, asked) => {
      if (asked.person === undefined) return;
      const needs = claimNeeds(all, asked);
      const less = { ...asked.person, ...(!needs.groups && { groups: [] }), ...(!needs.memberships && { memberships: [] }) };
      assert.deepEqual(decideClaims(all, { ...asked, person: less }), decideClaims(all, asked));
    }),
    tried(500),
  );
});

/** Some of those that mean something to whoever reads a token. */
const PROTOCOL = new Set(['sub', 'iss', 'aud', 'exp', 'nonce', 'cnf', 'act', 'client_id', 'scope', 'sid', 'active', '__proto__']);
const protocol = fc.constantFrom(...PROTOCOL);

test('claims and scopes are judged whatever they are called, and none takes a name of the protocol', () => {
  fc.assert(
    fc.property(claim, fc.oneof(anyText, protocol, fc.constant('*')), anyText, (one, name, value) => {
      const problems = claimProblems({ ...one, name, value }, { scopes: ['read'], claims: [], attributes: ['department'] });
      if (isProtocolClaim(name)) assert.ok(problems.some(({ field }) => field === 'name'));
      if (PROTOCOL.has(name)) assert.ok(isProtocolClaim(name));
      const isScope = scopeNameProblem(name) === undefined;
      if (isScope) assert.ok(!/[\s"\\]/.test(name) && name !== '' && name !== '*');
    }),
    tried(500),
  );
});

test('an ID token’s claims of the user are some of those that userinfo tells, and none is empty', () => {
  const value = fc.oneof(fc.constant(''), fc.constant(undefined), fc.constant(7), anyText);
  const profile = of({ firstName: value, lastName: value, displayName: value, nickName: value, mobilePhone: value, zoneinfo: value });
  fc.assert(
    fc.property(
      profile,
      fc.constantFrom('a@b.example', null),
      fc.uniqueArray(fc.constantFrom('openid', 'profile', 'email', 'phone', 'address', 'x')),
      (of_, email, scopes) => {
        const told = userClaims({ id: 'usr_1', login: 'ada', email, emailVerified: true, profile: of_, lastUpdated: new Date(0) });
        assert.ok(Object.values(told).every((one) => one !== undefined && one !== '' && one !== null));
        assert.ok(Object.keys(told).every((name) => USER_CLAIMS.some((one) => one === name)));
        assert.ok(idTokenClaims(undefined, scopes).every((name) => USER_CLAIMS.some((one) => one === name)));
        assert.equal(
          opensUserinfo('service', new Set(scopes)),
          scopes.some((one) => one !== 'openid' && one !== 'x'),
        );
        assert.ok(!opensUserinfo('service', new Set(scopes)) || opensUserinfo('openid', new Set(scopes)));
      },
    ),
    tried(),
  );
});

test('claims that fit stay; where they do not, what stays fits, and no claim that is left out is smaller than one that is not needed out', () => {
  const big = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 8 }),
    fc.oneof(
      fc.string(),
      fc.integer({ min: 0, max: 9000 }).map((n) => 'x'.repeat(n)),
    ),
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(big, fc.nat({ max: 3000 }), (all, others) => {
      const { claims: kept, omitted } = limitToTokenSize(all, others);
      const size = (names: readonly string[]) => others + membersSize(Object.fromEntries(names.map((name) => [name, all[name]])));
      assert.deepEqual(new Set([...Object.keys(kept), ...omitted]), new Set(Object.keys(all)));
      assert.equal(omitted.length === 0, size(Object.keys(all)) <= LARGEST_PAYLOAD);
      assert.ok(size(Object.keys(kept)) <= LARGEST_PAYLOAD);
      // The last one that was left out would not have fitted.
      if (omitted.length > 0) assert.ok(size([...Object.keys(kept), ...omitted.slice(-1)]) > LARGEST_PAYLOAD);
    }),
    tried(),
  );
});

test('groups: each way to choose them is what its name says', () => {
  const name = fc.string({ unit: fc.constantFrom(...'aAbB.*-é'), maxLength: 5 });
  fc.assert(
    fc.property(name, name, (value, group) => {
      assert.equal(groupFilter('EQUALS', value)(group), group === value);
      assert.equal(groupFilter('STARTS_WITH', value)(group), group.slice(0, value.length) === value);
      assert.equal(groupFilter('CONTAINS', value)(group), group.split(value).length > 1 || value === '');
      const quoted = value.replace(/[.*+?^${}()|[\]\\-]/g, '\\$&');
      if (patternProblem(quoted) === undefined) assert.equal(groupFilter('REGEX', quoted)(group), group === value);
    }),
    tried(500),
  );
});

test('groups: a pattern that is taken is compared with any names in bounded time, and one that is not taken fits nothing', () => {
  const piece = fc.constantFrom(
    'a',
    '.',
    '.*',
    'a+',
    '[ab]',
    '[^a]*',
    '\\w',
    '\\d+',
    '|',
    'a{2,}',
    '?',
    '(',
    '(a+)+',
    '\\1',
    '\\u{61}',
    '[',
    '*',
    '^',
    '$',
    '\\p{L}*',
    'é',
    '{',
    '}',
  );
  const pattern = fc.oneof(
    fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join('')),
    anyText,
  );
  fc.assert(
    fc.property(
      pattern,
      fc.array(
        fc.oneof(
          endless,
          endless.map((text) => `${'a'.repeat(255)}${text.at(-1)}`),
          anyText,
        ),
        { maxLength: 3 },
      ),
      (text, names) => {
        const ofOneDecision = groupFilter('REGEX', text);
        const problem = patternProblem(text);
        for (const name of names) {
          // One decision has one allowance of time: a very long name may use up what later names would need.
          const inTime = ofOneDecision(name);
          const alone = groupFilter('REGEX', text)(name);
          if (problem !== undefined) assert.deepEqual([inTime, alone], [false, false]);
          else if (name.length < 300) assert.equal(alone, new RegExp(`^(?:${text})$`, 'su').test(name));
          assert.ok(alone || !inTime);
        }
      },
    ),
    tried(),
  );
});

test('one text for one value, and it is read back as the value (RFC 8785)', () => {
  const shuffled = (value: unknown, turn: number): unknown => {
    if (Array.isArray(value)) return value.map((one) => shuffled(one, turn));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(([name, one]) => [name, shuffled(one, turn)] as const);
    return Object.fromEntries(turn % 2 === 0 ? entries.reverse() : entries.sort(([a], [b]) => a.length - b.length));
  };
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), fc.nat({ max: 3 }), fc.jsonValue(), (value, turn, other) => {
      assert.equal(canonicalJson(shuffled(value, turn)), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), JSON.parse(JSON.stringify(value)));
      assert.equal(canonicalJson(value) === canonicalJson(other), isSame(value, other));
    }),
    tried(500),
  );
});

function isSame(one: unknown, other: unknown): boolean {
  try {
    assert.deepEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
    return true;
  } catch {
    return false;
  }
}

const party = of({
  id: fc.constantFrom('usr_1', 'usr_2', 'app_1', 'unknown'),
  type: fc.constantFrom('User', 'AppInstance'),
  displayName: fc.constantFrom('Ada Secret', 'Bob Secret'),
});
const things = fc.constantFrom({ ipAddress: 'Secret 1' }, { before: { name: 'Secret 2' } }, {});
const event: fc.Arbitrary<AuditRecord> = of({
  seq: fc.nat(),
  uuid: fc.uuid(),
  published: fc.constant(new Date(0)),
  eventType: fc.constant('user.session.start'),
  severity: fc.constant('INFO'),
  displayMessage: fc.constant('x'),
  actor: party,
  client: things,
  outcome: fc.constant({ result: 'SUCCESS' }),
  target: fc.array(party, { maxLength: 3 }),
  transactionId: fc.constant(null),
  debugContext: things,
});

test('an event without the parts of people tells nothing of them, and taking out twice is taking out once', () => {
  fc.assert(
    fc.property(event, (one) => {
      const parts = personalParts(one);
      const names = new Set(parts.map(({ name }) => name));
      const without = withoutParts(one, names);
      assert.deepEqual(withoutParts(without, names), without);
      assert.deepEqual(publicForm(without), publicForm(one), 'what is sealed stays as it is');
      const isAbout = ({ type, id }: { type: string; id: string }) => type === 'User' && id !== 'unknown';
      for (const { type, id, displayName } of [without.actor, ...without.target])
        if (isAbout({ type, id })) assert.equal(displayName, PSEUDONYM);
      if (one.target.some(isAbout)) assert.deepEqual(without.debugContext, {});
      if (isAbout(one.actor)) assert.deepEqual(without.client, {});
      assert.deepEqual(
        parts.map(({ name }) => name),
        personalParts(without).map(({ name }) => name),
        'whatever is in them',
      );
    }),
    tried(500),
  );
});

test('departments: each once, directly after those that it is below or beside, however deep (pre-order)', () => {
  const forest = fc
    .array(fc.nat(), { maxLength: 60 })
    .map((above) => above.map((parent, n) => ({ id: `${n}`, parentId: parent % (n + 1) === n ? null : `${parent % (n + 1)}` })));
  fc.assert(
    fc.property(forest, (all) => {
      const below = (id: string | null): string[] =>
        all.filter(({ parentId }) => parentId === id).flatMap((one) => [one.id, ...below(one.id)]);
      assert.deepEqual(
        inPreOrder(all).map(({ id }) => id),
        below(null),
      );
    }),
    tried(),
  );
  const deep = Array.from({ length: 100_000 }, (_, n) => ({ id: `${n}`, parentId: n === 0 ? null : `${n - 1}` }));
  assert.equal(inPreOrder(deep).length, deep.length);
});

test('colours: contrast is the same from both sides, the nearest readable one is readable, and itself the nearest', () => {
  const colour = fc.nat({ max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
  fc.assert(
    fc.property(fc.constantFrom('light' as const, 'dark' as const), colour, colour, anyText, (scheme, one, other, text) => {
      assert.equal(contrastRatio(one, other), contrastRatio(other, one));
      assert.ok(contrastRatio(one, other) >= 1 && contrastRatio(one, other) <= 21.0001 && contrastRatio(one, one) === 1);
      assert.ok(relativeLuminance(one) >= 0 && relativeLuminance(one) <= 1);
      const near = nearestReadable(scheme, one);
      assert.ok(isColour(near) && isReadable(scheme, near));
      assert.equal(nearestReadable(scheme, near), near);
      assert.equal(near === one, isReadable(scheme, one));
      // It goes no further than it must.
      if (near !== one) assert.ok(Math.min(...checkContrast(scheme, near).map(({ ratio, needed }) => ratio - needed)) < 1);
      assert.equal(colourProblem(scheme, one) === undefined, isReadable(scheme, one));
      assert.equal(isColour(text), /^#[0-9A-Fa-f]{6}$/.test(text) && text.length === 7);
    }),
    tried(),
  );
});

test('keys: none signs before it was announced for long enough, and an automatic rotation comes at last', () => {
  const times = of({ signingKey: fc.integer({ min: 1, max: 10_000_000 }), nextKeyKnown: fc.integer({ min: 0, max: 1_000_000 }) });
  const moment = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(moment, fc.option(moment, { nil: undefined }), times, moment, (activated, nextCreated, spans, now) => {
      const ages = { activated, nextCreated };
      const due = nextRotation('AUTO', ages, spans);
      assert.ok(due !== undefined && due.getTime() >= activated.getTime() + spans.signingKey * 1000);
      assert.equal(isRotationDue('MANUAL', ages, spans, now), false);
      const is = isRotationDue('AUTO', ages, spans, now);
      assert.equal(is, nextCreated !== undefined && now.getTime() >= due.getTime());
      if (is && nextCreated) assert.ok(now.getTime() - nextCreated.getTime() >= spans.nextKeyKnown * 1000);
    }),
    tried(),
  );
});

test('hooks: pauses grow up to hours, and nothing is given up within its three days or its three attempts', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 100 }),
      fc.nat({ max: 2 * GIVEN_UP_AFTER }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, age, chance) => {
        const pause = pauseBeforeNext(attempts, age, chance);
        assert.equal(pause === undefined, age >= GIVEN_UP_AFTER && attempts >= 3);
        if (pause === undefined) return;
        assert.ok(pause > 0 && pause <= 4 * 3600 * 1.1);
        assert.ok((pauseBeforeNext(attempts + 1, 0, 0.5) ?? 0) >= (pauseBeforeNext(attempts, 0, 0.5) ?? 0));
      },
    ),
    tried(),
  );
});
