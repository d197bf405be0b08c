/** Signing keys: the fields of a record. */
import type { SigningAlg } from './signing-keys.policy.ts';

export interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly status: 'NEXT' | 'ACTIVE' | 'RETIRED';
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly privateSealed: string;
  readonly created: Date;
  /** When it became active; null: only announced. */
  readonly activated: Date | null;
  /** When it was retired. */
  readonly retired: Date | null;
}

/** The active key for the server's default algorithm. */
export interface KeyInUse {
  readonly serverId: string;
  readonly kid: string;
  readonly activated: Date;
  /** When the next key was announced; null: there is none yet. */
  readonly nextCreated: Date | null;
}
