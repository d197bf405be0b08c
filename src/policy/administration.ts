/** Who may administer the service. Administrators of one organization (ORG_ADMIN) may do nothing here yet. */

export type RoleType = 'SUPER_ADMIN' | 'ORG_ADMIN' | 'READ_ONLY_ADMIN';

/** A role given to a user; only ORG_ADMIN is bound to an organization. */
export interface Role {
  readonly type: RoleType;
  readonly orgId?: string | undefined;
}

export const mayWrite = (roles: readonly Role[]): boolean => roles.some(({ type }) => type === 'SUPER_ADMIN');

export const mayRead = (roles: readonly Role[]): boolean => mayWrite(roles) || roles.some(({ type }) => type === 'READ_ONLY_ADMIN');
