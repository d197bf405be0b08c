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
  stepInWords,
  verdictOf,
} from '../../../src/pages/console/decision-steps.ts';
import { translatorOf } from '../../../src/platform/i18n/translator.ts';

/** As the page says it in English. */
const { t } = translatorOf({ lang: 'en' });

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
  application: { label: 'A', origin: 'ADMIN', settings: { assignment: 'EVERYONE', consent_method: 'REQUIRED' } },
  user: { login: 'ada' },
  isAssigned: false,
  ...changes,
});

const refused = (error: string, reason: string, changes: Partial<Decided> = {}): string =>
  t(verdictOf(decided({ outcome: 'REFUSED', refusal: { error, reason }, tokens: undefined, ...changes })).sentence);

test('the verdict is one sentence that names the application, the user, what is given, or why nothing is', () => {
  const said = (changes?: Partial<Decided>) => {
    const { tone, sentence } = verdictOf(decided(changes));
    return { tone, sentence: t(sentence) };
  };
  assert.deepEqual(said(), { tone: 'good', sentence: '“A” gets an access token for “ada”.' });
  const all = { accessToken: {}, idToken: {}, userinfo: {}, refreshToken: true, claims: [] };
  assert.equal(said({ tokens: all }).sentence, '“A” gets an access token, an ID token and a refresh token for “ada”.');
  assert.equal(said({ user: undefined, grantType: 'client_credentials' }).sentence, '“A” gets an access token in its own name.');
  const consent = [{ scope: 'x', ask: true, reason: 'not given yet' as const }];
  assert.deepEqual(said({ outcome: 'CONSENT', consent }), {
    tone: 'warning',
    sentence: '“ada” is asked for consent to “x”; having allowed it, “A” gets an access token for “ada”.',
  });
  assert.equal(
    refused('invalid_scope', 'unknown', { scopes: { requested: ['x', 'y'], refused: ['x', 'y'], granted: [] } }),
    '“A” gets no token for “ada”: the scopes “x” and “y” do not exist here, or cannot be granted in this way (invalid_scope).',
  );
  const denied = { ...decided().access, allowed: false, policy: undefined, rule: undefined };
  const noPolicy = 'no access policy of the authorization server allows this request';
  assert.match(
    refused('access_denied', noPolicy, { access: denied }),
    /no active access policy applies to this application \(access_denied\)/,
  );
  assert.match(refused('access_denied', noPolicy), /no active rule of the access policy “P” matches/);
  assert.match(refused('login_required', 'the user is SUSPENDED'), /the user is SUSPENDED \(login_required\)/);
});

test('assignment, policy, rule and consent each have a sentence that tells them apart', () => {
  const closed = { label: 'A', origin: 'ADMIN', settings: { assignment: 'ASSIGNED', consent_method: 'TRUSTED' } } as const;
  const words = [
    decided(),
    decided({ application: closed }),
    decided({ application: closed, isAssigned: true }),
    decided({ user: undefined }),
  ];
  assert.equal(new Set(words.map((one) => t(assignmentInWords(one)))).size, words.length);
  assert.equal(
    t(accessInWords({ allowed: true, policy: { name: 'P' }, rule: { name: 'R' } })),
    'The rule “R” of the access policy “P” allows it.',
  );
  assert.match(t(accessInWords({ allowed: false, policy: { name: 'P' } })), /“P” decides\. None of its active rules matches/);
  const reasons = [
    'scope is granted without a dialog',
    'application is trusted',
    'given before',
    'the request prompts for consent',
    'not given yet',
  ] as const satisfies readonly ConsentReason[];
  assert.equal(new Set(reasons.map((reason) => t(consentRowInWords({ reason })))).size, reasons.length);
  for (const reason of reasons) {
    const ask = reason === 'the request prompts for consent' || reason === 'not given yet';
    assert.match(t(consentRowInWords({ reason })), ask ? /^Asked:/ : /^Not asked:/);
    const told = consentInWords(
      decided({ consent: [{ scope: 'x', ask, reason }], prompts: new Set(ask && reason !== 'not given yet' ? ['consent'] : []) }),
    );
    assert.match(t(told), ask ? /^The consent page asks for “x”/ : /^No consent page/);
  }
  assert.match(t(consentInWords(decided({ consent: undefined, grantType: 'password' }))), /no page to ask on/);
  assert.match(t(consentInWords(decided({ consent: undefined, grantType: 'client_credentials' }))), /there is no user/);
});

test('of each scope it is told whether it is granted, left out or refused', () => {
  const scopes = { requested: ['a', 'b', 'c'], refused: ['b'], granted: ['a'] };
  assert.deepEqual(
    scopes.requested.map((scope) => t(scopeInWords(scope, decided({ scopes })))),
    ['Granted.', 'Refused: it does not exist here.', 'Left out: the application may not refresh tokens in this way.'],
  );
  assert.match(t(scopeInWords('b', decided({ scopes, grantType: 'client_credentials' }))), /or needs a user who can be asked/);
  assert.match(
    t(scopeInWords('a', decided({ scopes, consent: [{ scope: 'a', ask: true, reason: 'not given yet' }] }))),
    /if the user allows it/,
  );
  assert.match(t(scopeInWords('a', decided({ scopes, outcome: 'REFUSED' }))), /Not granted/);
});

test('each step says what came of it', () => {
  assert.equal(t(stepInWords({ policy: 'Q', reason: 'the policy is for other clients' })), 'Skipped: it is for other applications.');
  assert.equal(t(stepInWords({ policy: 'P', rule: 'R', reason: 'the rule is for other people' })), 'Skipped: it is for other users.');
});
