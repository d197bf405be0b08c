/** SCIM callers and their reach. */
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { ScimError } from './scim-errors.policy.ts';

export interface ScimCaller {
  readonly tokenId: string;
  /** The organization that the token is bound to; null: the whole service. */
  readonly orgId: string | null;
  /** With the roles that the token still has. */
  readonly request: RequestContext;
}

/** Groups belong to the whole service, and policies depend on them, so administrators of one organization cannot see them. */
export const seesGroups = ({ orgId }: ScimCaller): boolean => orgId === null;

/** @throws {ScimError} forbidden */
export function requireGroups(caller: ScimCaller): void {
  if (!seesGroups(caller))
    throw new ScimError(403, undefined, 'The token is bound to an organization, and groups belong to the whole service');
}
