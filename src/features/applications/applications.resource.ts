/** Applications: the fields of a record. */
import type { ApplicationOrigin, ApplicationSettings } from './application-settings.policy.ts';

export type ApplicationStatus = 'ACTIVE' | 'INACTIVE';

export interface Application {
  /** The client_id. */
  readonly id: string;
  readonly label: string;
  readonly status: ApplicationStatus;
  /** Belongs to the service itself and may not be deleted. */
  readonly system: boolean;
  readonly settings: ApplicationSettings;
  readonly origin: ApplicationOrigin;
  /** The ID of the authorization server where it registered itself, the only one that accepts it; null: created by an administrator or a document. */
  readonly registeredAt: string | null;
  /** When it is deleted unless a user signs in before; null: never. */
  readonly expiresAt: Date | null;
  readonly created: Date;
  readonly lastUpdated: Date;
  /** Accurate to two minutes; null: never, or before this was recorded. */
  readonly lastUsed: Date | null;
}

/** Public facts about a client secret. */
export interface SecretFacts {
  readonly id: string;
  readonly status: SecretStatus;
  readonly created: Date;
  /** Accurate to two minutes; null: never, or before this was recorded. */
  readonly lastUsed: Date | null;
}

/** An inactive secret is refused. */
export type SecretStatus = 'ACTIVE' | 'INACTIVE';

export type AssigneeKind = 'user' | 'group';

export interface Assignment {
  /** ID of the user or group. */
  readonly id: string;
  /** The user name, or the group's name. */
  readonly name: string;
  readonly created: Date;
  /** Names of the roles of the assignment, in alphabetical order. */
  readonly roles: readonly string[];
}

/** Sort orders of applications. */
export type ApplicationOrder = 'label' | 'kind' | 'status' | 'created' | 'changed' | 'used';
