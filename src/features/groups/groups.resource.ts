/** Groups: the fields of a record. */

export interface Group {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly description: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** Sort orders of groups. */
export type GroupOrder = 'name' | 'created' | 'members';
