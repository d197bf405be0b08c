/**
 * Signing algorithms of authorization servers (RFC 7518 section 3.1, RFC 8037 section 3.1), and automatic rotation of keys: after their lifetime, and
 * only after relying parties had time to load the next key (OpenID Connect Core section 10.1.1). Manual rotation has other rules.
 */

/** Each server has keys for these: OpenID Connect requires RS256 of every server, and an application can select either. */
const BASIC_ALGS = ['RS256', 'ES256'] as const;
/** Keys for these are created on demand only: some libraries fail on unknown key types. */
export const ADDITIONAL_ALGS = ['PS256', 'EdDSA'] as const;
export const SIGNING_ALGS = [...BASIC_ALGS, ...ADDITIONAL_ALGS] as const;

export type SigningAlg = (typeof SIGNING_ALGS)[number];

export interface SigningChoice {
  /** The default algorithm. */
  readonly signingAlg: SigningAlg;
  readonly additionalSigningAlgs: readonly (typeof ADDITIONAL_ALGS)[number][];
}

/** @returns the algorithms that a server has keys for */
export const algsOf = ({ signingAlg, additionalSigningAlgs }: SigningChoice): readonly SigningAlg[] => [
  ...new Set<SigningAlg>([...BASIC_ALGS, signingAlg, ...additionalSigningAlgs]),
];

export type RotationMode = 'AUTO' | 'MANUAL';

interface KeyAges {
  readonly activated: Date;
  /** When the next key was announced; undefined: there is none yet. */
  readonly nextCreated: Date | undefined;
}

/** Seconds. */
interface RotationTimes {
  /** Lifetime of an active key. */
  readonly signingKey: number;
  /** Minimum time between the announcement of the next key and its first signature. */
  readonly nextKeyKnown: number;
}

/** @returns undefined if the rotation is manual */
export function nextRotation(mode: RotationMode, { activated, nextCreated }: KeyAges, times: RotationTimes): Date | undefined {
  if (mode === 'MANUAL') return undefined;
  const known = nextCreated === undefined ? 0 : nextCreated.getTime() + times.nextKeyKnown * 1000;
  return new Date(Math.max(activated.getTime() + times.signingKey * 1000, known));
}

/** Is the rotation due? Never without an announced next key. */
export function isRotationDue(mode: RotationMode, ages: KeyAges, times: RotationTimes, now: Date): boolean {
  const due = nextRotation(mode, ages, times);
  return due !== undefined && ages.nextCreated !== undefined && due <= now;
}
