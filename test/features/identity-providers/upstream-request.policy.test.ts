/** What a provider is asked, and how old its answer may be (OpenID Connect Core 1.0 section 3.1.2.1); whose scopes are scopes (RFC 6749 section 3.3). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeIdentityProvider, type IdentityProviderType } from '../../../src/features/identity-providers/identity-provider.policy.ts';
import {
  areScopes,
  canReauthenticate,
  isFreshResponse,
  upstreamParameters,
} from '../../../src/features/identity-providers/upstream-request.policy.ts';

const settings = (type: IdentityProviderType, authorizationParameters: Record<string, string> = {}) =>
  completeIdentityProvider({ type, protocol: { credentials: { client: { client_id: 'us' } }, settings: { authorizationParameters } } });

test('the application’s wishes go to the provider in its own words, and win over its settings', () => {
  const asked = { loginHint: 'ada', display: 'popup', uiLocales: 'de en', idpScope: 'calendar email', maxAge: 0 };
  assert.deepEqual(upstreamParameters(settings('OIDC', { prompt: 'consent', hd: 'acme.example' }), asked), {
    ...{ scope: 'openid email profile calendar', login_hint: 'ada', display: 'popup', ui_locales: 'de en' },
    ...{ max_age: '0', prompt: 'login', hd: 'acme.example' },
  });
  assert.deepEqual(upstreamParameters(settings('GITHUB'), asked), { scope: 'read:user user:email calendar email', login: 'ada' });
  assert.equal(upstreamParameters(settings('GOOGLE'), asked).prompt, undefined, 'it refuses prompt=login');
  assert.deepEqual(upstreamParameters(settings('OIDC'), { maxAge: 600 }), { scope: 'openid email profile', max_age: '600' });
  assert.deepEqual(upstreamParameters(settings('OIDC'), {}), { scope: 'openid email profile' });
});

test('who can be told to authenticate anew', () => {
  const able = (['OIDC', 'GOOGLE', 'GITHUB', 'MICROSOFT'] as const).filter(canReauthenticate);
  assert.deepEqual(able, ['OIDC', 'MICROSOFT']);
});

test('an authentication is fresh within max_age and the clocks’ difference, and never older than a session may be', () => {
  const limits = { begun: 1000, maxAge: 100, longest: 500, skew: 10 };
  assert.deepEqual(
    [889, 890, 1000].map((at) => isFreshResponse(at, limits)),
    [false, true, true],
  );
  assert.equal(isFreshResponse(undefined, limits), true, 'a provider that does not tell is believed');
  assert.deepEqual(
    [489, 490].map((at) => isFreshResponse(at, { ...limits, maxAge: undefined })),
    [false, true],
  );
});

test('scopes are printable ASCII without quotes and backslashes', () => {
  for (const right of ['a', 'https://www.example.com/auth/calendar', 'a b', '']) assert.ok(areScopes(right), right);
  for (const wrong of ['a"', 'a\\', 'ä', 'a\tb', 'a\u0000']) assert.ok(!areScopes(wrong), wrong);
});
