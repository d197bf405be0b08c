/** Claims: the fields of a record. */
import type { ClaimPerson } from './custom-claims.policy.ts';

/** Groups, organizations and roles of a user. */
export type Belongings = Pick<ClaimPerson, 'groups' | 'memberships' | 'roles'>;
