/** Roles of applications: the fields of a record. */
export interface ApplicationRole {
  readonly id: string;
  /** In tokens; one of its application. */
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly created: Date;
  readonly lastUpdated: Date;
}

/** A role of a user at an application, and its source. */
export interface HeldRole {
  readonly name: string;
  /** By the user's own assignment. */
  readonly direct: boolean;
  /** Names of the user's groups whose assignments have it. */
  readonly groups: readonly string[];
}
