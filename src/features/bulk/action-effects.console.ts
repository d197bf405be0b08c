/** What a bulk action does, in words and in numbers of other objects. */
import type { affects } from '../affected/affected.service.ts';

/** Counts users who may have no other way to sign in. */
export const STRANDED = 'stranded';

export interface ActionText {
  readonly label: string;
  /** Effect on each row. */
  readonly does: string;
  readonly danger?: boolean;
  /** Numbers of other objects that the action on the rows affects, by kind of object. */
  readonly affects?: ReturnType<typeof affects>;
  /** Additional input of the action. */
  readonly needs?: 'group' | 'application' | 'mail';
}
