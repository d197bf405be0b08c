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
  /** The id of the authorization server where it registered itself, the only one that knows it; null: an administrator made it, or a document. */
  readonly registeredAt: string | null;
  /** When it is removed unless a user signs in before; null: never. */
  readonly expiresAt: Date | null;
  readonly created: Date;
  readonly lastUpdated: Date;
  /** To two minutes; null: not yet, or not since this is noted. */
  readonly lastUsed: Date | null;
}

/** Public facts about a client secret. */
export interface SecretFacts {
  readonly id: string;
  readonly status: SecretStatus;
  readonly created: Date;
  /** To two minutes; null: not yet, or not since this is noted. */
  readonly lastUsed: Date | null;
}

/** An inactive secret is refused. */
export type SecretStatus = 'ACTIVE' | 'INACTIVE';

export type AssigneeKind = 'user' | 'group';

export interface Assignment {
  /** ID of the user or group. */
  readonly id: string;
  /** The user's login, or the group's name. */
  readonly name: string;
  readonly created: Date;
  /** Names of the roles that come with it, in alphabetical order. */
  readonly roles: readonly string[];
}

/** Sort orders of applications. */
export type ApplicationOrder = 'label' | 'kind' | 'status' | 'created' | 'changed' | 'used';
