/**
 * Cursors of lists. The number inside grows with the rows of all organizations, so it is sealed, and valid only in its list and for its
 * caller. Cursors cannot be compared or guessed.
 */
import type { Keyring } from './secrets.ts';

export interface CursorPlace {
  readonly list: string;
  /** ID of the user or application that reads the list. */
  readonly caller: string;
}

const contextOf = ({ list, caller }: CursorPlace): string => JSON.stringify(['cursor', list, caller]);

/** All cursors have the same length, whatever the number. */
export const sealCursor = (keyring: Keyring, after: number, place: CursorPlace): string =>
  keyring.seal(String(after).padStart(15, '0'), contextOf(place));

/** @returns undefined: altered, or of another list or caller */
export function openCursor(keyring: Keyring, cursor: string, place: CursorPlace): number | undefined {
  try {
    return Number(keyring.open(cursor, contextOf(place)));
  } catch {
    return undefined;
  }
}
