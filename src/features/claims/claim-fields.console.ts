/** Converts a claim to form fields of its kind, and back; and its value to text. */

import { z } from 'zod';
import { type Field, type Option, typedValues } from '../../pages/console/form.ts';
import { validation } from '../../platform/errors/errors.ts';
import { asPhrase, type Phrase, phrase, quoted, verbatim } from '../../platform/i18n/phrase.ts';
import { parse } from '../../platform/validation/parsing.ts';
import { claimFields } from '../authorization-servers/authorization-server-fields.service.ts';
import type { GroupFilterType } from '../groups/group-filter.policy.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import type { ClaimSettings } from './claims.service.ts';
import {
  attributeOf,
  type ClaimType,
  type ClaimValueType,
  type ServerClaim,
  type StaticValue,
  storedValue,
} from './custom-claims.policy.ts';

interface Kind {
  readonly label: string;
  readonly hint: string;
}

export const CLAIM_KINDS: Readonly<Record<ClaimValueType, Kind>> = {
  USER_ATTRIBUTE: {
    label: 'Attribute of the user',
    hint: 'A value from the user’s profile, e.g. the department. Left out if empty.',
  },
  GROUPS: { label: 'Groups', hint: 'The names of all or some of the user’s groups. Left out if there is none.' },
  ORGANIZATION: { label: 'Organizations', hint: 'The organizations that the user is a member of.' },
  DEPARTMENT: { label: 'Departments', hint: 'The departments that the user is a member of.' },
  APP_ROLES: { label: 'Roles', hint: 'The user’s roles at the application. Left out if there is none.' },
  STATIC: { label: 'Fixed value', hint: 'The same value in every token, e.g. the name of an environment.' },
};

export const isKind = (name: string): name is ClaimValueType => Object.hasOwn(CLAIM_KINDS, name);

/** Where a claim appears: type and `alwaysIncludeInToken` combined. */
type Place = 'access' | 'identity' | 'userinfo';

export const PLACES: Readonly<Record<Place, Kind & { readonly short: string; readonly claimType: ClaimType; readonly always: boolean }>> = {
  access: {
    label: 'Access token',
    short: 'Access token',
    hint: 'For the API.',
    claimType: 'RESOURCE',
    always: true,
  },
  identity: {
    label: 'ID token and userinfo',
    short: 'ID token, userinfo',
    hint: 'For the application that signs the user in.',
    claimType: 'IDENTITY',
    always: true,
  },
  userinfo: {
    label: 'Userinfo; the ID token only if no access token is issued with it',
    short: 'Userinfo',
    hint: 'Keeps ID tokens small.',
    claimType: 'IDENTITY',
    always: false,
  },
};

export const claimDestination = ({ claimType, alwaysIncludeInToken }: Pick<ServerClaim, 'claimType' | 'alwaysIncludeInToken'>): Place =>
  claimType === 'RESOURCE' ? 'access' : alwaysIncludeInToken ? 'identity' : 'userinfo';

const FILTERS: Readonly<Record<GroupFilterType, string>> = {
  STARTS_WITH: 'begins with',
  EQUALS: 'is exactly',
  CONTAINS: 'contains',
  REGEX: 'matches the pattern',
};

const PARTS: readonly Option[] = [
  { value: '', label: 'Id and name' },
  { value: 'id', label: 'Id only' },
  { value: 'name', label: 'Name only' },
];

/** Description of the claim's value. */
export function valueInWords({
  valueType,
  value,
  valueFormat,
  groupFilterType,
}: Pick<ServerClaim, 'valueType' | 'value' | 'valueFormat' | 'groupFilterType'>): Phrase {
  switch (valueType) {
    case 'USER_ATTRIBUTE':
      return phrase('Attribute {name}', { name: attributeOf(value) });
    case 'GROUPS':
      return value === ''
        ? phrase('All groups')
        : phrase(`Groups whose name ${FILTERS[groupFilterType ?? 'STARTS_WITH']} “{words}”`, { words: value });
    case 'APP_ROLES':
      return phrase('Roles at the application');
    case 'STATIC':
      return valueFormat === 'JSON' ? verbatim(value) : quoted(value);
    default:
      return phrase('{kind}: {part}', {
        kind: phrase(CLAIM_KINDS[valueType].label),
        part: asPhrase(PARTS.find((part) => part.value === value)?.label ?? verbatim(value)),
      });
  }
}

function fieldsOfValue(
  kind: ClaimValueType,
  { value, valueFormat, groupFilterType: filter }: Partial<Pick<ServerClaim, 'value' | 'valueFormat' | 'groupFilterType'>>,
  added: readonly string[],
): readonly Field[] {
  switch (kind) {
    case 'USER_ATTRIBUTE': {
      const options = ['login', 'email', ...BASE_ATTRIBUTES, ...added].map((name) => ({ value: name, label: verbatim(name) }));
      return [
        { name: 'value', label: 'Attribute', hint: 'By its name in the profile.', value: attributeOf(value ?? 'department'), options },
      ];
    }
    case 'GROUPS':
      return [
        {
          name: 'groupFilterType',
          label: 'Groups whose name …',
          alias: 'group_filter_type',
          value: filter ?? 'STARTS_WITH',
          options: Object.entries(FILTERS).map(([type, words]) => ({ value: type, label: words })),
        },
        {
          name: 'value',
          label: 'Text to compare',
          hint: 'Upper and lower case differ. “Begins with” nothing: all groups. A pattern is a regular expression for the whole name, without parentheses, e.g. “sales-.*|support”.',
          value,
        },
      ];
    case 'APP_ROLES':
      return [];
    case 'STATIC':
      return [
        { name: 'value', label: 'Value', kind: 'long', rows: 2, required: true, value },
        {
          name: 'valueFormat',
          label: 'Type',
          kind: 'radios',
          value: valueFormat ?? 'TEXT',
          options: [
            { value: 'TEXT', label: 'Text' },
            { value: 'JSON', label: 'Number, true or false, or list', hint: 'As in JSON, e.g. 42, true or ["read", "write"].' },
          ],
        },
      ];
    default:
      return [{ name: 'value', label: 'Part of the name', kind: 'radios', value: value ?? '', options: PARTS }];
  }
}

/** Objects that a claim can name. */
export interface ClaimOffers {
  /** Names of the server's scopes. */
  readonly scopes: readonly string[];
  /** Names of attributes that operators have added to users. */
  readonly attributes: readonly string[];
}

/** @param now undefined: a new claim */
export const fieldsOfClaim = (
  kind: ClaimValueType,
  now: ServerClaim | undefined,
  { scopes, attributes }: ClaimOffers,
): readonly Field[] => [
  {
    name: 'name',
    label: 'Name',
    hint: 'In the token, e.g. “department”. Names that the protocol uses itself, like “sub”, are taken.',
    required: true,
    value: now?.name,
  },
  ...fieldsOfValue(kind, now ?? {}, attributes),
  {
    name: 'place',
    label: 'Included in',
    kind: 'radios',
    value: now === undefined ? 'access' : claimDestination(now),
    alias: ['claimType', 'alwaysIncludeInToken'],
    options: Object.entries(PLACES).map(([value, { label, hint }]) => ({ value, label, hint })),
  },
  {
    name: 'scopes',
    label: 'Only where one of these scopes is granted',
    hint: 'If none is selected: always.',
    kind: 'checks',
    values: now?.scopes,
    alias: 'conditions.scopes',
    options: scopes.map((name) => ({ value: name, label: verbatim(name) })),
  },
  {
    name: 'isActive',
    label: 'Enabled',
    kind: 'check',
    hint: 'Otherwise the value is stored, but no token contains it.',
    checked: now === undefined || now.status === 'ACTIVE',
    alias: 'status',
  },
];

const claimForm = z.object({
  name: claimFields.name,
  value: claimFields.value,
  valueFormat: z.enum(['TEXT', 'JSON']),
  groupFilterType: claimFields.groupFilterType.nullable(),
  place: z.enum(['access', 'identity', 'userinfo']),
  scopes: z.array(z.string()).max(100),
  isActive: z.boolean(),
});

/** @throws {ApiError} validation */
export function claimSettingsIn(kind: ClaimValueType, fields: readonly Field[], form: URLSearchParams): ClaimSettings {
  const defaults = { value: '', groupFilterType: null, valueFormat: 'TEXT' };
  const { place, isActive, value, valueFormat, ...settings } = parse(claimForm, { ...defaults, ...typedValues(fields, form) });
  const kept = storedValue(valueFormat === 'JSON' ? jsonValue(value) : value);
  const { claimType, always } = PLACES[place];
  return { ...settings, ...kept, valueType: kind, claimType, alwaysIncludeInToken: always, status: isActive ? 'ACTIVE' : 'INACTIVE' };
}

/** @throws {ApiError} validation */
function jsonValue(typed: string): StaticValue {
  try {
    const value = claimFields.staticValue.parse(JSON.parse(typed));
    if (typeof value !== 'string') return value;
  } catch {
    // Reported below.
  }
  throw validation([{ field: 'value', message: 'must be a number, true, false or a list like ["read", "write"]' }]);
}
