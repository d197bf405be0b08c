/** Users: the fields of a record. */
import type { AttributeValue } from '../user-schema/attributes.resource.ts';
import type { UserStatus } from './user-lifecycle.policy.ts';

/** The attributes of every installation, in addition to user name and e-mail address, which have their own columns. All are text. */
export const BASE_ATTRIBUTES = [
  'secondEmail',
  'firstName',
  'lastName',
  'middleName',
  'honorificPrefix',
  'honorificSuffix',
  'title',
  'displayName',
  'nickName',
  'profileUrl',
  'picture',
  'website',
  'gender',
  'birthdate',
  'primaryPhone',
  'mobilePhone',
  'streetAddress',
  'city',
  'state',
  'zipCode',
  'countryCode',
  'postalAddress',
  'preferredLanguage',
  'locale',
  'timezone',
  'zoneinfo',
  'userType',
  'employeeNumber',
  'costCenter',
  'organization',
  'division',
  'department',
  'managerId',
  'manager',
] as const;
export type BaseAttribute = (typeof BASE_ATTRIBUTES)[number];

/** Set attributes, including custom ones (features/user-schema). */
export type ProfileValues = Readonly<{ [N in BaseAttribute]?: string }> & Readonly<Record<string, AttributeValue>>;

/** null: not set, or not yet. */
export interface User {
  readonly id: string;
  /** Unique, case-insensitive. */
  readonly login: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Stored status; `statusAt` adds locks. */
  readonly status: UserStatus;
  /** After too many wrong passwords; may be in the past. */
  readonly lockedUntil: Date | null;
  /** All further attributes of the profile; user name and e-mail address have their own columns. */
  readonly profile: ProfileValues;
  readonly passwordHash: string | null;
  readonly passwordChanged: Date | null;
  readonly created: Date;
  readonly activated: Date | null;
  /** When they signed up, if that waits for approval. */
  readonly approvalRequested: Date | null;
  readonly statusChanged: Date | null;
  readonly lastLogin: Date | null;
  readonly lastUpdated: Date;
}

/** Sort orders of users. */
export type UserOrder = 'login' | 'name' | 'email' | 'status' | 'created' | 'lastLogin';

/** A user as a member of a group or organization. */
export type JoinedUser = User & {
  /** When they became a member. */
  readonly joined: Date;
};

/** Sort orders of members. */
export type MemberOrder = 'login' | 'name' | 'status' | 'joined';
