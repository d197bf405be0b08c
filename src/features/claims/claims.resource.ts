/** Claims: the fields of a record. */
import type { ClaimPerson } from './custom-claims.policy.ts';

/** Where a user belongs. */
export type Belongings = Pick<ClaimPerson, 'groups' | 'memberships' | 'roles'>;
