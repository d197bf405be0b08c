/** Application assignments: the fields of a record. */

export type AssigneeKind = 'user' | 'group';

export interface Assignment {
  /** Of the user or group. */
  readonly id: string;
  /** The user's login, or the group's name. */
  readonly name: string;
  readonly created: Date;
}
