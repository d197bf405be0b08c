/** Groups: the fields of a record. */

/** Creator of a group: an administrator, or a SCIM client. */
export const GROUP_ORIGINS = ['ADMIN', 'SCIM'] as const;

export interface Group {
  readonly id: string;
  /** Unique. */
  readonly name: string;
  readonly description: string;
  readonly origin: (typeof GROUP_ORIGINS)[number];
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** Sort orders of groups. */
export type GroupOrder = 'name' | 'created' | 'members';
