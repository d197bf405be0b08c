/** Which address a provider has verified, by each one's own rule, and what its claims fill (management-api.md, `idps`, policy). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { completeIdentityProvider, type IdentityProviderType } from '../../../src/features/identity-providers/identity-provider.policy.ts';
import {
  combinedClaims,
  knownAs,
  mappedAttributes,
  mappedLogin,
  type UpstreamClaims,
  verifiedEmail,
} from '../../../src/features/identity-providers/upstream-claims.policy.ts';
import { isSameAddress } from '../../../src/platform/dns/address-spelling.ts';

const policyOf = (type: IdentityProviderType, policy: Record<string, unknown> = {}) =>
  completeIdentityProvider({ type, protocol: { credentials: { client: { client_id: 'us' } } }, policy }).policy;
const verified = (type: IdentityProviderType, claims: UpstreamClaims, policy = policyOf(type)) => verifiedEmail(type, policy, claims);

test('verified is what the provider itself calls so, in its own way', () => {
  const email = 'ada@acme.example';
  for (const yes of [true, 'true', 1, '1']) assert.equal(verified('OIDC', { email, email_verified: yes }), email);
  for (const no of [false, 'false', 0, '0', null, undefined, 'yes', {}, []])
    assert.equal(verified('OIDC', { email, email_verified: no }), undefined);
  assert.equal(verified('GOOGLE', { email, email_verified: true }), undefined);
  assert.equal(verified('GOOGLE', { email, email_verified: true, hd: 'acme.example' }), email);
  assert.equal(verified('GOOGLE', { email: 'a@GMail.com', email_verified: true }), 'a@GMail.com');
  assert.equal(verified('GOOGLE', { email: 'a@gmail.com.evil.example', email_verified: true }), undefined);
  assert.equal(verified('MICROSOFT', { email, email_verified: true }), undefined);
  assert.equal(verified('MICROSOFT', { email, xms_edov: '1' }), email);
});

test('and what its policy lets it vouch for: the domain after the last @', () => {
  const policy = policyOf('OIDC', { subject: { emailDomains: ['acme.example'] } });
  assert.equal(verified('OIDC', { email: 'a@ACME.example', email_verified: true }, policy), 'a@ACME.example');
  assert.equal(verified('OIDC', { email: 'a@acme.example@evil.example', email_verified: true }, policy), undefined);
  assert.equal(verified('OIDC', { email: 'a@sub.acme.example', email_verified: true }, policy), undefined);
});

test('no address at all: of another type, empty, with control characters, or in another spelling than mail servers read', () => {
  for (const email of [
    undefined,
    null,
    7,
    '',
    ' ',
    'nobody',
    'a\u0000@b.example',
    { toString: 'x' },
    'a@evil\u3002example',
    '=?utf-8?q?x?=@b.example',
  ]) {
    assert.equal(verified('OIDC', { email, email_verified: true }), undefined);
  }
});

test('attributes are filled by claims that are text or numbers; the e-mail address by the verified one only', () => {
  const policy = policyOf('OIDC', { attributeMap: { email: 'email', title: 'job', employeeNumber: 'number', city: 'address' } });
  const claims = { email: 'evil@example.com', job: ' Engineer ', number: 12, address: { city: 'x' } };
  assert.deepEqual(mappedAttributes(policy, claims, undefined), { title: 'Engineer', employeeNumber: '12' });
  assert.deepEqual(mappedAttributes(policy, claims, 'ada@example.com'), {
    email: 'ada@example.com',
    title: 'Engineer',
    employeeNumber: '12',
  });
});

test('a login that looks like an e-mail address must be the verified one', () => {
  const policy = policyOf('OIDC', { subject: { userNameTemplate: { template: 'idpuser.preferred_username' } } });
  assert.equal(mappedLogin(policy, { preferred_username: 'ada' }, undefined), 'ada');
  assert.equal(mappedLogin(policy, { preferred_username: 'victim@example.com' }, 'mallory@example.com'), undefined);
  assert.equal(mappedLogin(policy, { preferred_username: 'Ada@Example.com' }, 'ada@example.com'), 'Ada@Example.com');
  assert.equal(mappedLogin(policy, {}, 'ada@example.com'), undefined);
  assert.equal(mappedLogin(policy, { preferred_username: 'kate@kim.example' }, '\u212aate@kim.example'), undefined);
  assert.equal(mappedLogin(policyOf('OIDC'), { email: 'admin' }, undefined), undefined, 'an e-mail claim is never a mere name');
});

test('addresses are the same but for capitals of ASCII: the Kelvin sign is no k', () => {
  assert.equal(isSameAddress('Ada@Example.com', 'aDA@eXAMPLE.COM'), true);
  for (const other of ['\u212aate@kim.example', 'kate@\u212aim.example', 'kate@kim.example ', '']) {
    assert.equal(isSameAddress('kate@kim.example', other), false, JSON.stringify(other));
  }
  assert.equal(isSameAddress(null, ''), false);
  const policy = policyOf('OIDC', { subject: { emailDomains: ['kim.example'] } });
  assert.equal(verified('OIDC', { email: 'a@\u212aim.example', email_verified: true }, policy), undefined);
  for (const email of [' ada@acme.example', 'ada@acme.example\u00a0']) {
    assert.equal(verified('OIDC', { email, email_verified: true }), undefined, JSON.stringify(email));
  }
});

test('what is said of an address is said by whoever tells the address', () => {
  const [one, two] = ['one@example.com', 'two@example.com'];
  assert.deepEqual(combinedClaims({ email: one }, { email: two, email_verified: true, name: 'Ada' }), { email: one, name: 'Ada' });
  assert.deepEqual(combinedClaims({ email_verified: true, xms_edov: true }, { email: two }), { email: two });
  assert.deepEqual(combinedClaims({ email: one }, { email: one, email_verified: true }), { email: one, email_verified: true });
  assert.deepEqual(combinedClaims({ email: one, email_verified: false }, { email: one, email_verified: true }).email_verified, false);
});

test('what somebody recognizes his account by: the verified address, else a name that is no address', () => {
  const name = 'monalisa octocat';
  assert.equal(knownAs({ login: 'octocat', name }, 'octo@example.com'), 'octo@example.com');
  assert.equal(knownAs({ login: 'octocat', name }, undefined), 'octocat');
  assert.equal(knownAs({ preferred_username: 'not@proved.example', name }, undefined), name);
  for (const claims of [{}, { name: 'x'.repeat(256) }, { name: 'a\u0000b' }, { name: {} }]) assert.equal(knownAs(claims, undefined), null);
});
