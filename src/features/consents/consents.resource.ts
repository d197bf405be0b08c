/** Consents: the fields of a record. */
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';

export interface ConsentKey {
  readonly userId: string;
  readonly applicationId: string;
  readonly serverId: string;
}

/** One row: one scope, or one authorization detail. */
export interface Consent extends ConsentKey {
  readonly id: string;
  /** Of a detail its digest, in a form that no scope has. */
  readonly scope: string;
  /** null: the consent is to a scope. */
  readonly detail: AuthorizationDetail | null;
  readonly created: Date;
}
