/**
 * Sealed values that the browser stores: a JWE (RFC 7516, `dir`, A256GCM) that only this service can open, for a limited time and one
 * purpose. The service stores nothing.
 */
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { z } from 'zod';
import { epochSeconds, present } from '../clock/clock.ts';
import type { Keys } from './secrets.ts';

/** One kind of sealed content. */
export interface Sealer<T> {
  /** @returns a compact JWE */
  seal(content: T): Promise<string>;
  /** @returns undefined if the value is expired, altered, of another kind, or sealed with another key */
  open(sealed: string): Promise<T | undefined>;
}

export interface SealOptions<T> {
  /** Stored as the JWT's `typ` (RFC 7519 section 5.1). */
  readonly kind: string;
  readonly schema: z.ZodType<T>;
  /** 32 bytes each. */
  readonly keys: Keys;
  /** Lifetime. */
  readonly seconds: number;
}

export function sealing<T extends object>({ kind, schema, keys, seconds }: SealOptions<T>): Sealer<T> {
  return {
    seal: (content) =>
      new EncryptJWT({ content })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: kind })
        .setExpirationTime(epochSeconds() + seconds)
        .encrypt(keys[0]),
    async open(sealed) {
      for (const key of keys) {
        try {
          const { payload } = await jwtDecrypt(sealed, key, {
            typ: kind,
            keyManagementAlgorithms: ['dir'],
            contentEncryptionAlgorithms: ['A256GCM'],
            requiredClaims: ['exp'],
            currentDate: present(),
          });
          // A value of another version of the service may have another form.
          return schema.safeParse(payload.content).data;
        } catch (error) {
          if (!(error instanceof errors.JOSEError)) throw error;
        }
      }
      return undefined;
    },
  };
}
