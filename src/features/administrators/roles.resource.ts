/** Roles: the fields of a record. */
import type { Role } from './administration.policy.ts';

export interface AssignedRole extends Role {
  readonly id: string;
  readonly userId: string;
  readonly created: Date;
}
