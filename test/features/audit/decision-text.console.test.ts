/** What decided, in sentences: one row for each kind of decision and each reason there is; and what a change changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeDecision } from '../../../src/features/audit/decision-text.console.ts';
import { changedFields } from '../../../src/features/audit/entry.console.ts';
import type { AccessStep } from '../../../src/features/policies/access-policy.policy.ts';
import { type Decision, keptSteps, MOST_STEPS } from '../../../src/features/policies/decisions.policy.ts';
import { translatorOf } from '../../../src/platform/i18n/translator.ts';

const { t, v } = translatorOf({ lang: 'en' });
const lockedUntil = '2026-11-21T14:15:00.000Z';
const UNTIL = '21 Nov 2026, 14:15\u00a0UTC';
const request = { clientId: 'app', serverId: 'srv', grantType: 'authorization_code', scopes: ['openid'] } as const;
const password = { kind: 'password', status: 'ACTIVE', failures: 3, knownBrowser: false } as const;
const policy = { policyId: 'pol_1', policy: 'Staff' };

const TABLE: readonly (readonly [what: string, decision: Decision, ...told: readonly RegExp[]])[] = [
  ['an unknown user', { kind: 'password', reason: 'UNKNOWN_USER' }, /No account has the user name/, /not in the log/],
  [
    'a wrong password',
    { ...password, reason: 'WRONG_PASSWORD' },
    /Wrong passwords in a row: 3; 10 lock/,
    /had not signed in with this browser/,
  ],
  ['in a known browser', { ...password, reason: 'WRONG_PASSWORD', knownBrowser: true }, /are counted separately/],
  [
    'one that locks',
    { ...password, reason: 'WRONG_PASSWORD', failures: 0, lockedUntil },
    new RegExp(`The limit was reached: .* until ${UNTIL}`),
  ],
  [
    'a locked account',
    { ...password, reason: 'LOCKED', lockedUntil },
    new RegExp(`locked until ${UNTIL}\\. Until then even the correct password`),
  ],
  ['a suspended one', { ...password, reason: 'NOT_ACTIVE', status: 'SUSPENDED' }, /password was right.*it is suspended.*“Unsuspend”/],
  ['a status without words', { ...password, reason: 'NOT_ACTIVE', status: 'ODD' }, /its status was ODD/],
  ['an expired password', { ...password, reason: 'EXPIRED' }, /has expired/],
  [
    'where passwords are no method',
    { kind: 'password', reason: 'NOT_A_METHOD' },
    /do not sign in by password.*not checked/,
    /Sign-in policy/,
  ],
  [
    'not compared',
    { ...password, reason: 'NOT_COMPARED' },
    /was not compared: too many.*does not count as a failed attempt/,
    /in a few seconds/,
  ],
  ['changed meanwhile', { ...password, reason: 'CHANGED_MEANWHILE' }, /at the same moment/],
  ['a right code', { kind: 'second-factor', reason: 'RIGHT', method: 'code', failures: 0 }, /^The code from the app was correct/],
  [
    'a wrong one',
    { kind: 'second-factor', reason: 'WRONG', method: 'recovery', failures: 2 },
    /recovery code was wrong.*Wrong codes in a row: 2/,
  ],
  [
    'the last one',
    { kind: 'second-factor', reason: 'WRONG', method: 'code', failures: 0, lockedUntil },
    new RegExp(`every code is refused until ${UNTIL}`),
  ],
  [
    'locked codes',
    { kind: 'second-factor', reason: 'LOCKED', method: 'code', failures: 0, lockedUntil },
    new RegExp(`until ${UNTIL}, even a correct one`),
  ],
  ['a barred address', { kind: 'address', failures: 100, seconds: 870 }, /100 sign-ins.*15 minutes/],
  [
    'a session by password',
    { kind: 'session', amr: ['pwd'], secondFactor: { enrolled: false } },
    /by a password\..*No second factor was asked/,
  ],
  [
    'a factor set up meanwhile',
    { kind: 'session', amr: ['fed'], secondFactor: { enrolled: true, demandedBy: 'EVERYONE' } },
    /external identity provider.*set up a second factor during this sign-in/,
  ],
  [
    'one that the API could not set up',
    { kind: 'session', amr: ['pwd'], secondFactor: { enrolled: false, demandedBy: 'ADMINISTRATORS' } },
    /by a password\..*administrators.*cannot set one up through the API/,
  ],
  [
    'by two factors',
    { kind: 'session', amr: ['pwd', 'otp', 'mfa'], secondFactor: { enrolled: true } },
    /a password and a one-time code.*was used: the user has one/,
  ],
  ['not assigned', { kind: 'not-assigned', request }, /Only assigned users and groups.*This user is not assigned/],
  [
    'a second factor in vain',
    { kind: 'second-factor-needed', request, demandedBy: 'APPLICATION' },
    /the application requires it of all its users/,
  ],
  [
    'consent forbidden',
    { kind: 'consent-required', request, scopes: [{ scope: 'email', ask: true, reason: 'not given yet' }] },
    /prompt=none.*email.*Asked: the user has not allowed it yet/,
  ],
  [
    'consent given',
    {
      kind: 'consent',
      scopes: [
        { scope: 'openid', ask: false, reason: 'scope is granted without a dialog' },
        { scope: 'email', ask: true, reason: 'the request prompts for consent' },
      ],
    },
    /for one scope.*openid.*Not asked.*email.*prompt=consent/,
  ],
  [
    'no rule',
    {
      kind: 'access-policy',
      request,
      steps: [
        { policyId: 'pol_0', policy: 'Others', reason: 'the policy is for other clients' },
        { ...policy, reason: 'the policy is for this client' },
        { ...policy, ruleId: 'rul_1', rule: 'Night', reason: 'the rule is for other people' },
        { ...policy, reason: 'no rule of the policy fits' },
      ],
      left: 2,
    },
    /has no rule that matches.*2 more policies.*“Others”.*other applications.*Rule “Night” of “Staff”.*other users/,
  ],
  [
    'no policy',
    { kind: 'access-policy', request, steps: [{ reason: 'no policy is for this client' }] },
    /No access policy .* applies to this application.*Result/,
  ],
];

const wordsOf = (decision: Decision, eventType = 'x'): string => {
  const told = describeDecision({ eventType, debugContext: { decision } });
  assert(told);
  const steps = told.steps.map(({ what, outcome }) => `${what.map(({ text = '' }) => v(text)).join(' ')} ${t(outcome)}`);
  return [...told.sentences.map(t), ...steps, ...told.advice.map(t)].join(' ');
};

for (const [what, decision, ...told] of TABLE) {
  test(`told: ${what}`, () => {
    const words = wordsOf(decision);
    for (const expected of told) assert.match(words, expected);
    assert.doesNotMatch(words, /undefined|null|NaN|\[object/);
  });
}

test('a lock is told by what the event says; an event without a decision by nothing', () => {
  const lock = (locks: number) => describeDecision({ eventType: 'user.account.lock', debugContext: { after: { lockedUntil, locks } } });
  assert.match(lock(1)?.sentences.map(t).join(' ') ?? '', new RegExp(`until ${UNTIL}.*first lock`));
  assert.match(lock(12)?.sentences.map(t).join(' ') ?? '', /Locks in a row: 12\./);
  assert.equal(describeDecision({ eventType: 'user.session.start', debugContext: {} }), undefined);
  assert.equal(describeDecision({ eventType: 'user.session.start', debugContext: { decision: { kind: 'of tomorrow' } } }), undefined);
});

test('a request can be asked about again, and what was looked at leads to its policy', () => {
  const steps = [{ ...policy, reason: 'the policy is for this client' } as const];
  const told = describeDecision({ eventType: 'x', debugContext: { decision: { kind: 'access-policy', request, steps } } });
  assert.deepEqual(told?.request, request);
  assert.equal(told?.steps[0]?.what[0]?.href, '/admin/api/servers/srv/policies/pol_1');
});

test('of many steps the first and the last are kept', () => {
  const reasons = Array.from(
    { length: MOST_STEPS + 5 },
    (_, n): AccessStep => ({ policy: String(n), reason: 'the policy is for other clients' }),
  );
  const { steps, left } = keptSteps({ reasons });
  assert.deepEqual([steps.length, left, steps[0], steps.at(-1)], [MOST_STEPS, 5, reasons[0], reasons.at(-1)]);
  assert.deepEqual(keptSteps({ reasons: reasons.slice(0, 3) }), { steps: reasons.slice(0, 3) });
});

const CHANGES: readonly (readonly [what: string, before: unknown, after: unknown, changed: ReturnType<typeof changedFields>])[] = [
  ['nothing', { a: 1, b: [1] }, { a: 1, b: [1] }, []],
  ['one field', { a: 'x', b: 1 }, { a: 'y', b: 1 }, [{ field: 'a', before: 'x', after: 'y' }]],
  ['deep down', { p: { q: { r: true } } }, { p: { q: { r: false } } }, [{ field: 'p.q.r', before: 'true', after: 'false' }]],
  [
    'what came and went',
    { a: 1 },
    { b: null },
    [
      { field: 'a', before: '1', after: undefined },
      { field: 'b', before: undefined, after: 'null' },
    ],
  ],
  ['a list as one value', { a: [1, 2] }, { a: [2, 1] }, [{ field: 'a', before: '[1,2]', after: '[2,1]' }]],
  ['an object for a text', { a: 'x' }, { a: { b: 1 } }, [{ field: 'a', before: 'x', after: '{"b":1}' }]],
  ['a new thing', undefined, { a: { b: 'x' } }, [{ field: 'a.b', before: undefined, after: 'x' }]],
  ['a thing that is gone', { a: 'x' }, undefined, [{ field: 'a', before: 'x', after: undefined }]],
  ['a value without fields', 'x', 'y', [{ field: '', before: 'x', after: 'y' }]],
];
for (const [what, before, after, changed] of CHANGES) {
  test(`changed: ${what}`, () => assert.deepEqual(changedFields(before, after), changed));
}
