import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commonPasswords } from '../../../src/features/passwords/common-passwords.service.ts';
import { isTooOld, type PasswordProblem, passwordProblem } from '../../../src/features/passwords/password.policy.ts';

const ADA = {
  userNames: ['ada.lovelace@example.com', 'A.Lovelace@uni.example', 'Ada', 'Lovelace', 'Ada Lovelace', 'Łukasiewicz', 'Ann'],
  serviceNames: ['Example Ltd', 'Gatehouse'],
};
const TOO_COMMON = new Set(['password', 'sunshine', 'blue', '12345678', 'müller']);
const judge = (password: string, minLength = 8) =>
  passwordProblem({ minLength }, password, { ...ADA, isCommon: (candidate) => TOO_COMMON.has(candidate) });

describe('which passwords are good enough (NIST SP 800-63B section 3.1.1.2)', () => {
  const table: [password: string, problem: PasswordProblem | undefined, why?: string][] = [
    ['seven77', 'too-short'],
    ['🔑'.repeat(7), 'too-short', 'characters count, not code units'],
    ['e\u0301'.repeat(7), 'too-short', 'composed'],
    ['x'.repeat(1025), 'too-long'],
    ['x'.repeat(1024), undefined],
    ['password', 'common'],
    ['PassWord', 'common', 'whatever its capitals'],
    ['ｐａｓｓｗｏｒｄ', 'common', 'full-width letters are letters'],
    ['mu\u0308ller26', 'common', 'composed, with an ending'],
    ['password1', 'common', 'with a digit'],
    ['Sunshine26!', 'common', 'with a year and a mark'],
    ['blue2026', 'common', 'a short word with four digits'],
    ['password20261', undefined, 'more than an ending'],
    ['my password for this', undefined, 'a word of a sentence'],
    ['sunshine sunshine', undefined],
    ['12345678', 'common'],
    ['12345678901', undefined, 'a number has no ending'],
    ['ada.lovelace@example.com', 'like-user', 'the login'],
    ['ADA-LOVELACE-1815', 'like-user', 'the names, with other marks between'],
    ['lovelace26', 'like-user', 'a part of the login'],
    ['2026Lovelace!', 'like-user'],
    ['łukasiewicz1', 'like-user', 'in any script'],
    ['lovelacelovelace', 'like-user', 'twice'],
    ['lovelace wears a scarf', undefined, 'enough beside the name'],
    ['ada and ann walk', undefined, 'short names are syllables'],
    ['gatehouse1', 'like-service'],
    ['Gatehouse Gatehouse', 'like-service'],
    ['my gatehouse', 'like-service'],
    ['example2026!', 'like-service', 'a part of the brand'],
    ['gatehouse-lovelace', 'like-user', 'of both'],
    ['the gatehouse of the castle', undefined],
    ['correct horse battery staple', undefined],
  ];
  for (const [password, problem, why = ''] of table) {
    it(`${password.slice(0, 30)}: ${problem ?? 'good enough'} ${why}`, () => assert.equal(judge(password), problem));
  }

  it('counts names for nothing towards the length that is asked', () => {
    assert.equal(judge('lovelace wears a scarf', 15), 'like-user');
    assert.equal(judge('lovelace wears a long scarf', 15), undefined);
  });

  it('takes names of any length and kind as they are', () => {
    const userNames = ['(a+)+$', '\\', '', ' ', '@', '@@example', 'x'.repeat(10_000), '.*'.repeat(200)];
    const odd = { userNames, serviceNames: [''], isCommon: () => false };
    assert.equal(passwordProblem({ minLength: 8 }, 'aaaaaaaaaaaa!', odd), undefined);
    assert.equal(passwordProblem({ minLength: 8 }, `${'x'.repeat(1000)}`, odd), undefined);
  });

  it('has a list of common passwords, in the form in which they are compared', async () => {
    const list = await commonPasswords();
    assert.ok(list.size > 40_000, String(list.size));
    for (const password of ['password', '12345678', 'qwertyuiop', 'iloveyou']) assert.ok(list.has(password), password);
    for (const password of ['correct horse battery staple', 'wHFPjQz8']) assert.ok(!list.has(password));
    assert.equal(await commonPasswords(), list, 'loaded once');
  });

  it('is too old from the day on that the policy says, and never without one', () => {
    const changed = new Date('2026-01-01T00:00:00Z');
    const after = (days: number) => new Date(changed.getTime() + days * 86_400_000);
    assert.deepEqual(
      [89.99, 90, 91].map((days) => isTooOld({ maxAgeDays: 90 }, changed, after(days))),
      [false, true, true],
    );
    assert.equal(isTooOld({ maxAgeDays: null }, changed, after(10_000)), false);
  });
});
