/** Roles of applications: the fields of a record. */
export interface ApplicationRole {
  readonly id: string;
  /** Unique within its application; appears in tokens. */
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** A role of a user at an application, and its source. */
export interface HeldRole {
  readonly name: string;
  /** Is the role assigned to the user directly? */
  readonly direct: boolean;
  /** Names of the user's groups that have the role. */
  readonly groups: readonly string[];
}
