/**
 * RSA keys of tests, made of primes that the runner found once for all (run.ts): to find two takes up to a second of processor time, and each custom
 * authorization server has keys of its own. Any two of the primes make another key; that they share primes makes them worthless elsewhere. A service in
 * a process of its own finds its primes itself. Set when this is imported (group.ts).
 */
import { generatePrime, webcrypto } from 'node:crypto';
import { promisify } from 'node:util';

/** 24 make 276 keys. */
const COUNT = 24;
const EXPONENT = 65_537n;
const generated = promisify<number, ArrayBuffer>(generatePrime);

/** @returns what GATEHOUSE_TEST_PRIMES is to say: primes of half the length of a key of 2048 bits, with both first bits set, so that two make its length */
export async function findPrimes(): Promise<string> {
  const primes: bigint[] = [];
  while (primes.length < COUNT) {
    const prime = BigInt(`0x${Buffer.from(await generated(1024)).toString('hex')}`);
    if (prime % EXPONENT !== 1n) primes.push(prime);
  }
  return primes.map((prime) => prime.toString(36)).join(' ');
}

const encoded = (number: bigint): string => {
  const hex = number.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url');
};

/** By the extended Euclidean algorithm. */
function inverse(number: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [number % modulus, modulus, 1n, 0n];
  while (a > 1n) {
    const quotient = b / a;
    [a, b, x, y] = [b % a, a, y - quotient * x, x];
  }
  return x < 0n ? x + modulus : x;
}

/** RFC 8017 section 3.2, as a JSON Web Key (RFC 7518 section 6.3). */
function keyOf(p: bigint, q: bigint): webcrypto.JsonWebKey {
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const numbers = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  return { kty: 'RSA', ...Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name, encoded(number)])) };
}

function* pairsOf(primes: readonly bigint[]): Generator<readonly [bigint, bigint]> {
  for (const [index, p] of primes.entries()) for (const q of primes.slice(index + 1)) yield [p, q];
}

/** What a prime was written as: radix 36. */
function read(text: string): bigint {
  let number = 0n;
  for (const digit of text) number = number * 36n + BigInt(Number.parseInt(digit, 36));
  return number;
}

const PRIVATE: readonly string[] = ['sign', 'decrypt', 'unwrapKey'];

const { GATEHOUSE_TEST_PRIMES } = process.env;
if (GATEHOUSE_TEST_PRIMES !== undefined) {
  const pairs = pairsOf(GATEHOUSE_TEST_PRIMES.split(' ').map(read));
  const { subtle } = webcrypto;
  const generate = subtle.generateKey.bind(subtle) as (...args: unknown[]) => Promise<unknown>;
  subtle.generateKey = (async (algorithm: webcrypto.RsaHashedKeyGenParams, extractable: boolean, usages: readonly webcrypto.KeyUsage[]) => {
    const next = algorithm.modulusLength === 2048 ? pairs.next() : undefined;
    if (next === undefined || next.done) return generate(algorithm, extractable, usages);
    const key = keyOf(...next.value);
    const { kty, n, e } = key;
    const imported = (jwk: webcrypto.JsonWebKey, isExtractable: boolean, isPrivate: boolean) => {
      const own = usages.filter((usage) => PRIVATE.includes(usage) === isPrivate);
      return subtle.importKey('jwk', jwk, algorithm, isExtractable, own);
    };
    return {
      privateKey: await imported(key, extractable, true),
      publicKey: await imported({ kty, n, e } as webcrypto.JsonWebKey, true, false),
    };
  }) as typeof subtle.generateKey;
}
