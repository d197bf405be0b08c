/** Consents: the fields of a record. */

export interface ConsentKey {
  readonly userId: string;
  readonly applicationId: string;
  readonly serverId: string;
}

/** One row: one scope. */
export interface Consent extends ConsentKey {
  readonly id: string;
  readonly scope: string;
  readonly created: Date;
}
