/** Consents: the fields of a record. */
import { digest } from '../../platform/crypto/secrets.ts';
import { canonicalJson } from '../../platform/validation/canonical-json.policy.ts';
import type { AuthorizationDetail } from '../authorization-details/details.policy.ts';

export interface ConsentKey {
  readonly userId: string;
  readonly applicationId: string;
  readonly serverId: string;
}

/** A consent to one scope or one authorization detail. */
export interface Consent extends ConsentKey {
  readonly id: string;
  /** For an authorization detail, its digest in a form that no scope can have. */
  readonly scope: string;
  /** null: the consent is to a scope. */
  readonly detail: AuthorizationDetail | null;
  readonly created: Date;
}

/** Prefix of the keys of authorization details. No scope contains a space (RFC 6749 section 3.3). */
const DETAIL = 'detail ';

/** @returns the key of a consent to the detail, regardless of the order of its fields */
export const keyOfDetail = (detail: AuthorizationDetail): string => DETAIL + digest(canonicalJson(detail));
