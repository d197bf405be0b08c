/** Signing keys: the fields of a record. */
import type { SigningAlg } from './signing-keys.policy.ts';

export interface SigningKey {
  readonly kid: string;
  readonly alg: SigningAlg;
  readonly status: 'NEXT' | 'ACTIVE' | 'RETIRED';
  readonly publicJwk: Readonly<Record<string, unknown>>;
  readonly privateSealed: string;
  readonly created: Date;
  /** When it began to sign; null for one that is only announced. */
  readonly activated: Date | null;
  /** When it ceased to sign. */
  readonly retired: Date | null;
}

/** The key that a server signs with where nothing asks for another algorithm. */
export interface KeyInUse {
  readonly serverId: string;
  readonly kid: string;
  readonly activated: Date;
  /** Since when the key that follows is announced; null: none is yet. */
  readonly nextCreated: Date | null;
}
