/**
 * What the browser keeps for the playground, sealed: a JWE (RFC 7516, `dir`, A256GCM) that opens for ten minutes, here only, and only as
 * what it was sealed as. Nothing of it is stored in the service.
 */
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import type { z } from 'zod';
import { epochSeconds, present } from '../clock.ts';

export const LIFETIME_SECONDS = 600;

/** One kind of sealed content. */
export interface Seal<T> {
  /** @returns a compact JWE */
  seal(content: T): Promise<string>;
  /** @returns undefined when the value is expired, altered, of another kind, or sealed under another key */
  open(sealed: string): Promise<T | undefined>;
}

/** @param kind told apart by the JWT's `typ` (RFC 7519 section 5.1) @param key 32 bytes */
export function sealing<T extends object>(kind: string, schema: z.ZodType<T>, key: Uint8Array): Seal<T> {
  return {
    seal: (content) =>
      new EncryptJWT({ content })
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', typ: kind })
        .setExpirationTime(epochSeconds() + LIFETIME_SECONDS)
        .encrypt(key),
    async open(sealed) {
      try {
        const { payload } = await jwtDecrypt(sealed, key, {
          typ: kind,
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
          currentDate: present(),
        });
        // Sealed by another version of the service, it may have another form.
        return schema.safeParse(payload.content).data;
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
