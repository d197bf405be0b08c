/** The attributes of a user's profile in forms and on pages of the console. */

import type { CheckField, LineField } from '../../pages/console/form.ts';
import { reachOf } from '../administrators/administration.policy.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { BaseAttribute } from './users.resource.ts';

type Name = BaseAttribute | 'login' | 'email' | 'emailVerified';

interface Attribute {
  readonly name: Name;
  readonly label: string;
  readonly hint?: string;
}

/** By group. */
export const ATTRIBUTE_GROUPS: readonly { readonly group: string; readonly attributes: readonly Attribute[] }[] = [
  {
    group: 'Account',
    attributes: [
      { name: 'login', label: 'User name', hint: 'Used to sign in. Not case-sensitive; must be unique' },
      { name: 'email', label: 'E-mail address', hint: 'Can be used to sign in, if it is unique' },
      { name: 'secondEmail', label: 'Second e-mail address' },
    ],
  },
  {
    group: 'Name',
    attributes: [
      { name: 'firstName', label: 'First name' },
      { name: 'lastName', label: 'Last name' },
      { name: 'displayName', label: 'Display name', hint: 'Shown in place of first and last name' },
      { name: 'middleName', label: 'Middle name' },
      { name: 'nickName', label: 'Nickname' },
      { name: 'honorificPrefix', label: 'Title before the name', hint: 'e.g. Dr.' },
      { name: 'honorificSuffix', label: 'Title after the name', hint: 'e.g. MD' },
      { name: 'gender', label: 'Gender' },
      { name: 'birthdate', label: 'Birthdate', hint: 'e.g. 1815-12-10; 0000-12-10 without the year, or the year alone' },
    ],
  },
  {
    group: 'Contact',
    attributes: [
      { name: 'mobilePhone', label: 'Mobile phone' },
      { name: 'primaryPhone', label: 'Phone' },
      { name: 'streetAddress', label: 'Street' },
      { name: 'zipCode', label: 'Postal code' },
      { name: 'city', label: 'City' },
      { name: 'state', label: 'State or region' },
      { name: 'countryCode', label: 'Country', hint: 'Two letters, e.g. DE' },
      { name: 'postalAddress', label: 'Postal address' },
      { name: 'profileUrl', label: 'Profile page' },
      { name: 'website', label: 'Web site' },
      { name: 'picture', label: 'Picture', hint: 'Web address of an image' },
    ],
  },
  {
    group: 'Work',
    attributes: [
      { name: 'title', label: 'Job title' },
      { name: 'userType', label: 'User type', hint: 'e.g. Employee' },
      { name: 'employeeNumber', label: 'Employee number' },
      { name: 'costCenter', label: 'Cost centre' },
      {
        name: 'organization',
        label: 'Organization (profile text)',
        hint: 'Text in the profile only. Memberships are under Organizations',
      },
      { name: 'division', label: 'Division' },
      { name: 'department', label: 'Department (profile text)', hint: 'As above' },
      { name: 'manager', label: 'Manager' },
      { name: 'managerId', label: 'Manager ID' },
    ],
  },
  {
    group: 'Language and time',
    attributes: [
      { name: 'preferredLanguage', label: 'Preferred language', hint: 'e.g. de' },
      { name: 'locale', label: 'Locale', hint: 'e.g. de_AT' },
      { name: 'timezone', label: 'Time zone', hint: 'e.g. Europe/Vienna' },
      { name: 'zoneinfo', label: 'Time zone in the claim zoneinfo', hint: 'Included in the scope profile' },
    ],
  },
];

/** Always visible; the others are collapsed. */
const COMMON: ReadonlySet<Name> = new Set([
  'login',
  'email',
  'firstName',
  'lastName',
  'displayName',
  'mobilePhone',
  'title',
  'department',
  'preferredLanguage',
]);
const KINDS: Readonly<Partial<Record<Name, 'email' | 'tel' | 'url'>>> = {
  ...{ email: 'email', secondEmail: 'email', mobilePhone: 'tel', primaryPhone: 'tel' },
  ...{ profileUrl: 'url', website: 'url', picture: 'url' },
};

/** @param group absent: none */
export const attributeField = ({ name, label, hint }: Attribute, value: string | undefined, group?: string): LineField => ({
  name,
  label,
  ...(hint !== undefined && { hint }),
  ...(group !== undefined && { group }),
  kind: KINDS[name] ?? 'line',
  ...(!COMMON.has(name) && { advanced: true }),
  alias: `profile.${name}`,
  required: name === 'login',
  value,
});

/** Submitted values without empty ones: the profile schema has no rule for unset attributes. */
export const givenAttributes = (typed: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(typed).filter(([, value]) => typeof value === 'string' && value.trim() !== ''));

/** Only for administrators of the whole service (features/users/users.service.ts). @param group absent: none */
export const emailVerifiedField = ({ roles = [] }: RequestContext, checked: boolean, group?: string): readonly CheckField[] =>
  reachOf(roles, 'write') !== 'everything'
    ? []
    : [
        {
          name: 'emailVerified',
          label: 'E-mail address verified',
          hint: 'Applications trust a verified address. Tick this only if you know that the user receives mail there.',
          kind: 'check',
          alias: 'profile.emailVerified',
          ...(group !== undefined && { group }),
          checked,
        },
      ];

/** The check box counts only if it was changed: a new address beside an unchanged check box is not verified. */
export const givenVerification = (form: URLSearchParams, before: boolean): { readonly emailVerified?: boolean } =>
  form.has('emailVerified') === before ? {} : { emailVerified: !before };
