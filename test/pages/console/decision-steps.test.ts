/** The words of decisions: each of them, for every kind of decision that policies make (explanation.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConsentReason } from '../../../src/features/consents/consent.policy.ts';
import {
  accessInWords,
  assignmentInWords,
  consentInWords,
  consentRowInWords,
  type Decided,
  scopeInWords,
  sentencesOf,
  stepInWords,
  verdictOf,
} from '../../../src/pages/console/decision-steps.ts';

const LIFETIMES = { accessTokenSeconds: 60, refreshTokenSeconds: 60, refreshTokenWindowSeconds: 60 };

/** A request that gets an access token, but for what is said. */
const decided = (changes: Partial<Decided> = {}): Decided => ({
  outcome: 'TOKENS',
  refusal: undefined,
  responseType: 'code',
  scopes: { requested: ['openid'], refused: [], granted: ['openid'] },
  access: {
    allowed: true,
    policy: { id: 'p', name: 'P', clients: [], rules: [] },
    rule: { id: 'r', name: 'R', conditions: {}, actions: {} },
    lifetimes: LIFETIMES,
    reasons: [
      { policy: 'P', reason: 'the policy is for this client' },
      { policy: 'P', rule: 'R', reason: 'the rule fits' },
    ],
  },
  consent: [],
  tokens: { accessToken: {}, idToken: undefined, userinfo: undefined, refreshToken: false, claims: [] },
  grantType: 'authorization_code',
  prompts: new Set(),
  server: { name: 'S' },
  application: { label: 'A', settings: { assignment: 'EVERYONE', consent_method: 'REQUIRED' } },
  user: { login: 'ada' },
  isAssigned: false,
  ...changes,
});

const refused = (error: string, reason: string, changes: Partial<Decided> = {}): string =>
  verdictOf(decided({ outcome: 'REFUSED', refusal: { error, reason }, tokens: undefined, ...changes })).sentence;

test('the verdict is one sentence that names the application, the user, what is given, or why nothing is', () => {
  assert.deepEqual(verdictOf(decided()), { tone: 'good', sentence: '“A” gets an access token for “ada”.' });
  const all = { accessToken: {}, idToken: {}, userinfo: {}, refreshToken: true, claims: [] };
  assert.equal(verdictOf(decided({ tokens: all })).sentence, '“A” gets an access token, an ID token and a refresh token for “ada”.');
  assert.equal(
    verdictOf(decided({ user: undefined, grantType: 'client_credentials' })).sentence,
    '“A” gets an access token in its own name.',
  );
  const consent = [{ scope: 'x', ask: true, reason: 'not given yet' as const }];
  assert.deepEqual(verdictOf(decided({ outcome: 'CONSENT', consent })), {
    tone: 'warning',
    sentence: '“ada” is asked for consent to “x”; having allowed it, “A” gets an access token for “ada”.',
  });
  assert.equal(
    refused('invalid_scope', 'unknown', { scopes: { requested: ['x', 'y'], refused: ['x', 'y'], granted: [] } }),
    '“A” gets no token for “ada”: the scopes “x” and “y” do not exist here, or cannot be granted in this way (invalid_scope).',
  );
  const denied = { ...decided().access, allowed: false, policy: undefined, rule: undefined };
  const noPolicy = 'no access policy of the authorization server allows this';
  assert.match(refused('access_denied', noPolicy, { access: denied }), /no active access policy is for this application \(access_denied\)/);
  assert.match(refused('access_denied', noPolicy), /no active rule of the access policy “P” fits/);
  assert.match(refused('login_required', 'the user is SUSPENDED'), /the user is SUSPENDED \(login_required\)/);
});

test('assignment, policy, rule and consent each have a sentence that tells them apart', () => {
  const closed = { label: 'A', settings: { assignment: 'ASSIGNED', consent_method: 'TRUSTED' } } as const;
  const words = [
    decided(),
    decided({ application: closed }),
    decided({ application: closed, isAssigned: true }),
    decided({ user: undefined }),
  ];
  assert.equal(new Set(words.map(assignmentInWords)).size, words.length);
  assert.equal(
    accessInWords({ allowed: true, policy: { name: 'P' }, rule: { name: 'R' } }),
    'The rule “R” of the access policy “P” allows it.',
  );
  assert.match(accessInWords({ allowed: false, policy: { name: 'P' } }), /“P” decides, and none of its active rules fits/);
  const reasons = [
    'scope is granted without a dialog',
    'application is trusted',
    'given before',
    'the request prompts for consent',
    'not given yet',
  ] as const satisfies readonly ConsentReason[];
  assert.equal(new Set(reasons.map((reason) => consentRowInWords({ reason }))).size, reasons.length);
  for (const reason of reasons) {
    const ask = reason === 'the request prompts for consent' || reason === 'not given yet';
    assert.match(consentRowInWords({ reason }), ask ? /^Asked:/ : /^Not asked:/);
    const told = consentInWords(
      decided({ consent: [{ scope: 'x', ask, reason }], prompts: new Set(ask && reason !== 'not given yet' ? ['consent'] : []) }),
    );
    assert.match(told, ask ? /^The consent page asks for “x”/ : /^No consent page/);
  }
  assert.match(consentInWords(decided({ consent: undefined, grantType: 'password' })), /no page to ask on/);
  assert.match(consentInWords(decided({ consent: undefined, grantType: 'client_credentials' })), /there is no user/);
});

test('of each scope it is told whether it is granted, left out or refused', () => {
  const scopes = { requested: ['a', 'b', 'c'], refused: ['b'], granted: ['a'] };
  assert.deepEqual(
    scopes.requested.map((scope) => scopeInWords(scope, decided({ scopes }))),
    ['Granted.', 'Refused: it does not exist here.', 'Left out: the application may not refresh tokens in this way.'],
  );
  assert.match(scopeInWords('b', decided({ scopes, grantType: 'client_credentials' })), /or needs a user who can be asked/);
  assert.match(
    scopeInWords('a', decided({ scopes, consent: [{ scope: 'a', ask: true, reason: 'not given yet' }] })),
    /if the user allows it/,
  );
  assert.match(scopeInWords('a', decided({ scopes, outcome: 'REFUSED' })), /Not granted/);
});

test('all sentences together tell each step with its policy and rule', () => {
  const reasons = [
    { policy: 'Q', reason: 'the policy is for other clients' },
    { policy: 'P', rule: 'R', reason: 'the rule is for other people' },
    { reason: 'no policy is for this client' },
  ] as const;
  const sentences = sentencesOf(decided({ access: { ...decided().access, reasons } }));
  assert.ok(sentences.includes('“Q”: Passed over: it is for other applications.'), sentences.join('\n'));
  assert.ok(sentences.includes('“P”, “R”: Passed over: it is for other people.'));
  assert.ok(sentences.includes(stepInWords(reasons[2])));
  assert.equal(sentences[0], '“A” gets an access token for “ada”.');
});
