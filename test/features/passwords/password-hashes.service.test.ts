import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { encodeImportedHash, type ImportedHash, importedHash } from '../../../src/features/passwords/password-hashes.service.ts';
import { hashPassword, isImported, isOutdated, verifyPassword } from '../../../src/features/passwords/passwords.service.ts';
import { hashOperations } from '../../support/hash-operations.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const PASSWORD = 'correct horse battery staple';
const SALT = 'AAECAwQFBgcICQoLDA0ODw==';

// Made by other implementations: bcrypt by crypt(3) of libxcrypt, the others by Python's hashlib.
const BCRYPT = { algorithm: 'BCRYPT', workFactor: 5, salt: 'abcdefghijklmnopqrstuu', value: 'FiPhXf1sVd3pCCRO.uVh34H/qI/ZsuS' } as const;
const PBKDF2 = {
  algorithm: 'PBKDF2',
  digestAlgorithm: 'SHA256_HMAC',
  iterationCount: 10_000,
  keySize: 32,
  salt: SALT,
  value: '2flfZcLfnShdJogjAMpb4p4+1QBVZmODXExi4nBRUCI=',
} as const;
const SHA256 = { algorithm: 'SHA-256', salt: SALT, saltOrder: 'PREFIX', value: 'PT7NB1B2A4OlzWox1NgpSt0YKawNe+BkcIP3OEfdMl4=' } as const;
const SHA512 = {
  algorithm: 'SHA-512',
  salt: SALT,
  saltOrder: 'PREFIX',
  value: 'qvZYncZMcAmT//ymmXvLdKhMfgwBtPP/PHuyNMP4U+JN4nGZ+IBfzdcoEbYqqVC3dfVmvSH66pjq6EdRH2S9pA==',
} as const;

/** The reference implementation's own test (phc-winner-argon2, test.c): "password", "somesalt". */
const ARGON2 = {
  algorithm: 'ARGON2',
  variant: 'id',
  version: 19,
  memory: 65_536,
  iterations: 2,
  parallelism: 1,
  salt: Buffer.from('somesalt').toString('base64'),
  value: Buffer.from('09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7', 'hex').toString('base64'),
} as const;
/** RFC 7914 section 12: "password", "NaCl". */
const SCRYPT = {
  algorithm: 'SCRYPT',
  cost: 1024,
  blockSize: 8,
  parallelism: 16,
  salt: Buffer.from('NaCl').toString('base64'),
  value: Buffer.from(
    'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640',
    'hex',
  ).toString('base64'),
} as const;
/** The example of Firebase's own implementation: "user1password". */
const FIREBASE = {
  algorithm: 'FIREBASE_SCRYPT',
  memoryCost: 14,
  rounds: 8,
  salt: '42xEC+ixf3L2lw==',
  saltSeparator: 'Bw==',
  signerKey: 'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  value: 'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
} as const;

const store = (hash: unknown): string => encodeImportedHash(importedHash.parse(hash));

describe('imported password hashes (Okta Users API, "Create user with imported hashed password")', () => {
  const vectors: [what: string, hash: ImportedHash, password: string][] = [
    ['bcrypt', BCRYPT, PASSWORD],
    [
      "bcrypt, of Openwall's crypt_blowfish",
      { algorithm: 'BCRYPT', workFactor: 5, salt: 'CCCCCCCCCCCCCCCCCCCCC.', value: 'E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW' },
      'U*U',
    ],
    ['PBKDF2 with SHA-256', PBKDF2, PASSWORD],
    ['PBKDF2, 20 bytes', { ...PBKDF2, keySize: 20, value: '2flfZcLfnShdJogjAMpb4p4+1QA=' }, PASSWORD],
    [
      'PBKDF2 with SHA-512, 64 bytes',
      {
        ...PBKDF2,
        digestAlgorithm: 'SHA512_HMAC',
        keySize: 64,
        value: 'v7a0CD773GVSsWkQUMz7g3zeS7fyWgS+0ob9lMdgMzj1yjM5YJwYGcp+eDicfuQMeceSuRxpfkGY5nLai7gYjA==',
      },
      PASSWORD,
    ],
    [
      'PBKDF2 with SHA-1 (RFC 6070)',
      {
        ...{ algorithm: 'PBKDF2', digestAlgorithm: 'SHA1_HMAC', iterationCount: 4096, keySize: 20 },
        salt: Buffer.from('salt').toString('base64'),
        value: Buffer.from('4b007901b765489abead49d926f721d065a429c1', 'hex').toString('base64'),
      },
      'password',
    ],
    ['Argon2id', ARGON2, 'password'],
    ['scrypt', SCRYPT, 'password'],
    ["Firebase's scrypt", FIREBASE, 'user1password'],
    ['SHA-256, salt before', SHA256, PASSWORD],
    ['SHA-256, salt after', { ...SHA256, saltOrder: 'POSTFIX', value: 'G/QFDZcE49wdz+D7yZ/NjEI9gB2RFYr+GlL07AKGkc8=' }, PASSWORD],
    ['SHA-512, salt before', SHA512, PASSWORD],
    [
      "SHA-512, salt after, of Okta's support",
      {
        algorithm: 'SHA-512',
        salt: 'JipHQUgqQU8qQUwpQUYjUChBSEcjQQ==',
        saltOrder: 'POSTFIX',
        value: 'Zz6KwLGDm7ospSipwpDmxAjBWHKPLgGh1roGzI267h6txr/ihTI/R4K2eYrpyc0R24qCSF6DRqNl110vZZtj4A==',
      },
      's3cr3tp@ssw0rd',
    ],
  ];
  for (const [what, hash, password] of vectors) {
    it(`${what}: the right password alone is right`, async () => {
      const stored = store(hash);
      assert.equal(await verifyPassword(stored, password), true);
      assert.equal(await verifyPassword(stored, `${password} `), false);
      assert.equal(await verifyPassword(stored, password.toUpperCase().replace('U*U', 'u*u')), false);
      assert.equal(await verifyPassword(stored, ''), false);
    });
  }

  // Both forms of "café", hashed as they are.
  const accents: [what: string, hash: unknown, typed: string, right: boolean][] = [
    ['composed, typed composed', { ...SHA256, value: 'yP3yFoROSaSF1ZduAeMeV3li15FP4XTpbV47jBKwbW4=' }, 'caf\u00e9', true],
    ['composed, typed decomposed', { ...SHA256, value: 'yP3yFoROSaSF1ZduAeMeV3li15FP4XTpbV47jBKwbW4=' }, 'cafe\u0301', true],
    ['decomposed, typed decomposed', { ...SHA256, value: 'fYTn8anxV6IjRJK14+sz2UuOTpfXrHUtKki8alBTENw=' }, 'cafe\u0301', true],
    [
      'decomposed in bcrypt',
      { ...BCRYPT, workFactor: 4, salt: '.'.repeat(22), value: 'qrgDC/7PGPwi8s01kM/yI8X8E8IliFy' },
      'cafe\u0301',
      true,
    ],
    [
      'with an emoji in bcrypt',
      { ...BCRYPT, workFactor: 4, salt: '.'.repeat(22), value: 'DMXOTvRg3S9lSrLCTyJYp2wh3VbLYta' },
      'café 🔑',
      true,
    ],
  ];
  for (const [what, hash, typed, right] of accents) {
    it(`accents: hashed ${what}`, async () => assert.equal(await verifyPassword(store(hash), typed), right));
  }

  it("Firebase's signer key, a secret of the project, is not stored", () => {
    assert.ok(!store(FIREBASE).includes(FIREBASE.signerKey.slice(0, 20)));
    assert.ok(!store(FIREBASE).includes(FIREBASE.value.slice(0, 20)));
  });

  it('Argon2 of others waits in the queue of imported hashes, whatever it costs', () => assert.equal(isImported(store(ARGON2)), true));

  it('bcrypt compares the first 72 bytes, as wherever the hash comes from', async () => {
    const stored = store({ ...BCRYPT, workFactor: 4, value: 'BzzIgyKkz7xMWYSzkIjUSnxEQFQ0WNe' });
    assert.equal(await verifyPassword(stored, 'a'.repeat(72)), true);
    assert.equal(await verifyPassword(stored, `${'a'.repeat(72)}b`), true);
    assert.equal(await verifyPassword(stored, 'a'.repeat(71)), false);
  });

  const { salt: _, ...saltless } = SHA256;
  const refusals: [what: string, hash: unknown, field: string, words: RegExp][] = [
    ['MD5', { ...SHA256, algorithm: 'MD5' }, 'algorithm', /ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512/],
    ['SHA-1', { ...SHA256, algorithm: 'SHA-1' }, 'algorithm', /ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512/],
    ['no algorithm', { value: SHA256.value }, 'algorithm', /BCRYPT/],
    ['no object', 'hash', '', /./],
    ['bcrypt with a work factor that keeps the service busy', { ...BCRYPT, workFactor: 15 }, 'workFactor', /./],
    ['bcrypt with a work factor that no bcrypt has', { ...BCRYPT, workFactor: 3 }, 'workFactor', /./],
    ['bcrypt with half a work factor', { ...BCRYPT, workFactor: 10.5 }, 'workFactor', /./],
    ['bcrypt with a work factor in words', { ...BCRYPT, workFactor: '10' }, 'workFactor', /./],
    ['bcrypt with a short salt', { ...BCRYPT, salt: BCRYPT.salt.slice(1) }, 'salt', /22 characters/],
    ['bcrypt with stray bits in the salt', { ...BCRYPT, salt: `${BCRYPT.salt.slice(0, -1)}v` }, 'salt', /22 characters/],
    ['bcrypt with a whole crypt(3) string', { ...BCRYPT, value: `$2b$05$${BCRYPT.salt}${BCRYPT.value}` }, 'value', /31 characters/],
    ['bcrypt with a dollar in the value', { ...BCRYPT, value: `$${BCRYPT.value.slice(1)}` }, 'value', /31 characters/],
    ['bcrypt with the fields of another algorithm', { ...BCRYPT, iterationCount: 1 }, '', /iterationCount/],
    ['PBKDF2 with too many iterations', { ...PBKDF2, iterationCount: 1_500_001 }, 'iterationCount', /./],
    ['PBKDF2 without iterations', { ...PBKDF2, iterationCount: 0 }, 'iterationCount', /./],
    ['PBKDF2 with a digest of old', { ...PBKDF2, digestAlgorithm: 'MD5_HMAC' }, 'digestAlgorithm', /./],
    ['PBKDF2 of SHA-1 with a key longer than the digest', { ...PBKDF2, digestAlgorithm: 'SHA1_HMAC' }, 'keySize', /20 with SHA1_HMAC/],
    ['Argon2 that fills the memory', { ...ARGON2, memory: 131_073 }, 'memory', /131072/],
    ['Argon2 that keeps the service busy', { ...ARGON2, iterations: 17 }, 'iterations', /divided by memory/],
    ['Argon2 of no variant', { ...ARGON2, variant: 'x' }, 'variant', /./],
    ['Argon2 with less memory than its lanes need', { ...ARGON2, memory: 8, parallelism: 2 }, 'memory', /8 times parallelism/],
    ['scrypt that fills the memory', { ...SCRYPT, cost: 2 ** 20 }, 'cost', /128 MiB/],
    ['scrypt that keeps the service busy', { ...SCRYPT, cost: 2 ** 15, parallelism: 16 }, 'cost', /2097152/],
    ['scrypt that OpenSSL does not compute', { ...SCRYPT, cost: 2 ** 16, blockSize: 1, parallelism: 1 }, 'cost', /less than 65536/],
    ["Firebase's scrypt that OpenSSL does not compute", { ...FIREBASE, memoryCost: 16, rounds: 1 }, 'memoryCost', /less than 65536/],
    ['scrypt with a cost that is no power of two', { ...SCRYPT, cost: 1000 }, 'cost', /power of two/],
    ["Firebase's scrypt that fills the memory", { ...FIREBASE, memoryCost: 18 }, 'memoryCost', /128 MiB/],
    ["Firebase's scrypt with a value of another size", { ...FIREBASE, value: SHA256.value }, 'value', /signerKey/],
    ['PBKDF2 with a long key', { ...PBKDF2, keySize: 65 }, 'keySize', /./],
    ['PBKDF2 with a key that a guess may hit', { ...PBKDF2, keySize: 4, value: '2flfZQ==' }, 'keySize', /./],
    ['PBKDF2 with a value of another size', { ...PBKDF2, keySize: 31 }, 'value', /keySize/],
    ['PBKDF2 with a key longer than the digest', { ...PBKDF2, keySize: 33, value: Buffer.alloc(33).toString('base64') }, 'keySize', /32/],
    ['a digest without salt', saltless, 'salt', /./],
    ['a digest with an empty salt', { ...SHA256, salt: '' }, 'salt', /1 to 512 bytes/],
    ['a digest with an endless salt', { ...SHA256, salt: Buffer.alloc(513).toString('base64') }, 'salt', /1 to 512 bytes/],
    ['a salt in no base64', { ...SHA256, salt: 'pepper!' }, 'salt', /base64/],
    ['a digest in hexadecimal', { ...SHA256, value: Buffer.from(SHA256.value, 'base64').toString('hex') }, 'value', /32 bytes/],
    ['a digest of another algorithm', { ...SHA256, value: SHA512.value }, 'value', /32 bytes/],
    ['a salt that is nowhere', { ...SHA256, saltOrder: 'INFIX' }, 'saltOrder', /./],
  ];
  for (const [what, hash, field, words] of refusals) {
    it(`refuses ${what}`, () => {
      const { error } = importedHash.safeParse(hash);
      assert.equal(error?.issues[0]?.path.join('.'), field);
      assert.match(error?.issues[0]?.message ?? '', words);
    });
  }

  it('are outdated, and so are argon2 hashes of other parameters; those made today are not', async () => {
    for (const hash of [BCRYPT, PBKDF2, SHA256, SHA512]) assert.equal(isOutdated(store(hash)), true);
    assert.equal(isOutdated('$argon2id$v=19$m=4096,t=3,p=1$c29tZXNhbHRzb21lc2FsdA$W6eQoWJTgwTgQY8ogsoeQVNfvKAQ4QzCnfKXLG2C9vc'), true);
    assert.equal(isOutdated(await hashPassword(PASSWORD)), false);
  });

  // The times themselves are compared in test/long/password-times.test.ts.
  it('refuse a wrong password no sooner than an unknown user is refused', async () => {
    const refusal = (stored: string | null) => hashOperations(async () => assert.equal(await verifyPassword(stored, 'wrong'), false));
    assert.equal(await refusal(null), 1);
    assert.equal(await refusal(store(SHA256)), 1, 'its own comparison takes next to nothing; one of Argon2 follows');
    assert.equal(await refusal(store(BCRYPT)), 2);
    assert.equal(await refusal(store(PBKDF2)), 2);
  });
});

test('POST users takes a hash, tells it nowhere, and its user can sign in at once (management-api.md, users)', async (t) => {
  const service = await startService(t);
  for (const hash of [BCRYPT, PBKDF2, SHA512]) {
    const login = `legacy ${hash.algorithm}`;
    const { status, body } = await service.api('POST', '/users', { profile: { login }, credentials: { password: { hash } } });
    assert.equal(status, 200);
    assert.equal(body.status, 'ACTIVE');
    assert.ok(!JSON.stringify(body).includes(hash.value));
    const browser = new UserAgent(service.baseUrl);
    assert.equal((await browser.signIn(await browser.visit('/signin'), { login, password: PASSWORD })).url.pathname, '/account');
    const another = new UserAgent(service.baseUrl);
    assert.equal((await another.signIn(await another.visit('/signin'), { login, password: 'wrong' })).status, 400);
  }
  const { status, body } = await service.api('POST', '/users', {
    profile: { login: 'weak' },
    credentials: { password: { hash: { ...SHA256, algorithm: 'MD5' } } },
  });
  assert.equal(status, 400);
  assert.deepEqual(body.errorCauses, [
    { errorSummary: 'credentials.password.hash.algorithm: must be ARGON2, BCRYPT, FIREBASE_SCRYPT, PBKDF2, SCRYPT, SHA-256 or SHA-512' },
  ]);
});
