/**
 * Decides when a signing key is rotated automatically: after its lifetime, and only when relying parties can know the next key (OpenID Connect Core
 * section 10.1.1). Manual rotations are not decided here.
 */

export type RotationMode = 'AUTO' | 'MANUAL';

export interface KeyAges {
  readonly activated: Date;
  /** Since when the key that follows is announced; undefined: none is yet. */
  readonly nextCreated: Date | undefined;
}

/** Seconds. */
export interface RotationTimes {
  /** A key signs for so long. */
  readonly signingKey: number;
  /** The key that follows was announced at least so long before it signs. */
  readonly nextKeyKnown: number;
}

/** @returns undefined if the rotation is manual */
export function nextRotation(mode: RotationMode, { activated, nextCreated }: KeyAges, times: RotationTimes): Date | undefined {
  if (mode === 'MANUAL') return undefined;
  const known = nextCreated === undefined ? 0 : nextCreated.getTime() + times.nextKeyKnown * 1000;
  return new Date(Math.max(activated.getTime() + times.signingKey * 1000, known));
}

/** Is it time? Never without a key that was announced. */
export function isRotationDue(mode: RotationMode, ages: KeyAges, times: RotationTimes, now: Date): boolean {
  const due = nextRotation(mode, ages, times);
  return due !== undefined && ages.nextCreated !== undefined && due <= now;
}
