/** Administrators' roles in words. */
import type { RoleType } from '../policy/administration.ts';
import type { Option } from './form.ts';

export const ROLE_NAMES: Readonly<Record<RoleType, string>> = {
  SUPER_ADMIN: 'Super administrator',
  READ_ONLY_ADMIN: 'Read-only administrator',
  ORG_ADMIN: 'Organization administrator',
};

export const ROLE_OPTIONS: readonly Option[] = [
  { value: 'SUPER_ADMIN', label: ROLE_NAMES.SUPER_ADMIN, hint: 'Sees and changes everything, administrators included.' },
  { value: 'READ_ONLY_ADMIN', label: ROLE_NAMES.READ_ONLY_ADMIN, hint: 'Sees everything and changes nothing.' },
  { value: 'ORG_ADMIN', label: ROLE_NAMES.ORG_ADMIN, hint: 'Looks after one organization, its departments and its people.' },
];
