/** The attributes of SCIM resources (RFC 7643) and where they are stored. Schemas, filters, reading, writing and PATCH all use these tables. */

const USER_SCHEMA_ID = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP_SCHEMA_ID = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const ENTERPRISE_SCHEMA_ID = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Schema of custom user attributes. */
export const ADDED_SCHEMA_ID = 'urn:ietf:params:scim:schemas:extension:gatehouse:2.0:User';

export interface ScimAttribute {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'decimal' | 'integer' | 'dateTime' | 'reference' | 'complex';
  readonly description: string;
  readonly multiValued?: boolean;
  readonly required?: boolean;
  readonly caseExact?: boolean;
  readonly mutability?: 'readOnly' | 'writeOnly' | 'immutable';
  /** `request`: only if the client requests it by name. */
  readonly returned?: 'always' | 'never' | 'request';
  readonly uniqueness?: 'server';
  readonly canonicalValues?: readonly string[];
  readonly referenceTypes?: readonly string[];
  readonly subAttributes?: readonly ScimAttribute[];
  /** Profile field that stores the attribute. */
  readonly field?: string;
  /** Made of other attributes: what clients write is ignored. */
  readonly isDerived?: boolean;
  /** Common to all resources (RFC 7643 section 3.1): no schema lists it. */
  readonly isCommon?: boolean;
  /** Storage slots for the values of a multi-valued attribute; a value without a slot is not stored. */
  readonly slots?: readonly Slot[];
  /** A value takes the next free slot, whatever its type. The client's labels `type` and `primary` are stored. */
  readonly takesAnyType?: boolean;
}

interface Slot {
  /** `type` of the value. */
  readonly type: string;
  /** Fields of the profile by sub-attribute. */
  readonly fields: Readonly<Record<string, string>>;
}

/** A schema, or an extension of one. */
export interface ScimSchema {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly ScimAttribute[];
}

const text = (name: string, description: string, field?: string, more: Partial<ScimAttribute> = {}): ScimAttribute => ({
  name,
  type: 'string',
  description,
  ...(field !== undefined && { field }),
  ...more,
});
const READ_ONLY = { mutability: 'readOnly' } as const;
const IMMUTABLE = { mutability: 'immutable' } as const;

const ID = text('id', 'Identifier that Gatehouse gives', undefined, { ...READ_ONLY, caseExact: true, returned: 'always', isCommon: true });
const EXTERNAL_ID = text('externalId', 'Identifier that the client gives', undefined, { caseExact: true, isCommon: true });
const META: ScimAttribute = {
  name: 'meta',
  type: 'complex',
  description: 'About the resource',
  ...READ_ONLY,
  isCommon: true,
  subAttributes: [
    text('resourceType', 'User or Group', undefined, READ_ONLY),
    { name: 'created', type: 'dateTime', description: 'When it was created', ...READ_ONLY },
    { name: 'lastModified', type: 'dateTime', description: 'When it was last changed', ...READ_ONLY },
    text('location', 'Its address', undefined, READ_ONLY),
    text('version', 'Its entity tag', undefined, READ_ONLY),
  ],
};

const several = (
  name: string,
  description: string,
  slots: readonly Slot[],
  subAttributes: readonly ScimAttribute[],
  more: Partial<ScimAttribute> = {},
): ScimAttribute => ({ name, type: 'complex', multiValued: true, description, slots, subAttributes, ...more });

const typeOf = (...canonicalValues: readonly string[]): ScimAttribute => text('type', 'What it is for', undefined, { canonicalValues });

const USER_ATTRIBUTES: readonly ScimAttribute[] = [
  ID,
  EXTERNAL_ID,
  META,
  text('userName', 'Name that the user signs in by', 'login', { required: true, uniqueness: 'server' }),
  {
    name: 'name',
    type: 'complex',
    description: 'Parts of the name',
    subAttributes: [
      text('formatted', 'First, middle and last name; made of the parts', undefined, {
        ...READ_ONLY,
        isDerived: true,
        returned: 'request',
      }),
      text('familyName', 'Last name', 'lastName'),
      text('givenName', 'First name', 'firstName'),
      text('middleName', 'Middle name', 'middleName'),
      text('honorificPrefix', 'Before the name', 'honorificPrefix'),
      text('honorificSuffix', 'After the name', 'honorificSuffix'),
    ],
  },
  text('displayName', 'Name that is shown', 'displayName'),
  text('nickName', 'Casual name', 'nickName'),
  { name: 'profileUrl', type: 'reference', referenceTypes: ['external'], description: 'Page about the user', field: 'profileUrl' },
  text('title', 'Job title', 'title'),
  text('userType', 'Relation to the organization', 'userType'),
  text('preferredLanguage', 'Language', 'preferredLanguage'),
  text('locale', 'Locale', 'locale'),
  text('timezone', 'Time zone', 'timezone'),
  { name: 'active', type: 'boolean', description: 'May the user sign in? true unless it is given', required: true },
  text('password', 'Password', undefined, { mutability: 'writeOnly', returned: 'never', caseExact: true }),
  several(
    'emails',
    'E-mail addresses, at most two: the primary one and another',
    [
      { type: 'work', fields: { value: 'email' } },
      { type: 'other', fields: { value: 'secondEmail' } },
    ],
    [
      text('value', 'Address'),
      typeOf('work', 'home', 'other'),
      { name: 'primary', type: 'boolean', description: 'Is it the address that mail goes to?' },
    ],
    { takesAnyType: true },
  ),
  several(
    'phoneNumbers',
    'Phone numbers, one of each type',
    [
      { type: 'work', fields: { value: 'primaryPhone' } },
      { type: 'mobile', fields: { value: 'mobilePhone' } },
    ],
    [text('value', 'Number'), typeOf('work', 'mobile')],
  ),
  several(
    'addresses',
    'Postal address',
    [
      {
        type: 'work',
        fields: {
          formatted: 'postalAddress',
          streetAddress: 'streetAddress',
          locality: 'city',
          region: 'state',
          postalCode: 'zipCode',
          country: 'countryCode',
        },
      },
    ],
    [
      text('formatted', 'The whole address'),
      text('streetAddress', 'Street and number'),
      text('locality', 'City'),
      text('region', 'State or region'),
      text('postalCode', 'Postal code'),
      text('country', 'Country'),
      typeOf('work'),
    ],
  ),
  several(
    'photos',
    'Picture of the user',
    [{ type: 'photo', fields: { value: 'picture' } }],
    [{ name: 'value', type: 'reference', referenceTypes: ['external'], description: 'Address of the picture' }, typeOf('photo')],
  ),
  {
    name: 'groups',
    type: 'complex',
    multiValued: true,
    description: 'Groups of the user; they are changed by the group',
    ...READ_ONLY,
    subAttributes: [
      text('value', 'ID of the group', undefined, { ...READ_ONLY, caseExact: true }),
      { name: '$ref', type: 'reference', referenceTypes: ['Group'], description: 'Address of the group', ...READ_ONLY },
      text('display', 'Name of the group', undefined, READ_ONLY),
    ],
  },
];

export const ENTERPRISE: ScimSchema = {
  id: ENTERPRISE_SCHEMA_ID,
  name: 'EnterpriseUser',
  description: 'User at work',
  attributes: [
    text('employeeNumber', 'Number of the employee', 'employeeNumber'),
    text('costCenter', 'Cost center', 'costCenter'),
    text('organization', 'Organization', 'organization'),
    text('division', 'Division', 'division'),
    text('department', 'Department', 'department'),
    {
      name: 'manager',
      type: 'complex',
      description: 'Manager',
      subAttributes: [
        text('value', 'ID of the manager', 'managerId', { caseExact: true }),
        text('displayName', 'Name of the manager', 'manager', { ...READ_ONLY, isDerived: true }),
      ],
    },
  ],
};

export const GROUP: ScimSchema = {
  id: GROUP_SCHEMA_ID,
  name: 'Group',
  description: 'Group of users',
  attributes: [
    ID,
    EXTERNAL_ID,
    META,
    text('displayName', 'Name of the group', undefined, { required: true, uniqueness: 'server' }),
    {
      name: 'members',
      type: 'complex',
      multiValued: true,
      description: 'Users in the group',
      subAttributes: [
        text('value', 'ID of the user', undefined, { ...IMMUTABLE, caseExact: true }),
        { name: '$ref', type: 'reference', referenceTypes: ['User'], description: 'Address of the user; the value counts', ...IMMUTABLE },
        text('display', 'Name of the user', undefined, { ...READ_ONLY, returned: 'request' }),
        text('type', 'What the member is', undefined, { ...IMMUTABLE, canonicalValues: ['User'] }),
      ],
    },
  ],
};

export const USER: ScimSchema = { id: USER_SCHEMA_ID, name: 'User', description: 'User account', attributes: USER_ATTRIBUTES };

/** A resource type with its schemas, the core first. */
export interface ScimType {
  readonly name: 'User' | 'Group';
  readonly core: ScimSchema;
  readonly extensions: readonly ScimSchema[];
}

/** A resource as it is sent, its names in the case of the schema. */
export type ScimObject = Readonly<Record<string, unknown>>;

export const GROUP_TYPE: ScimType = { name: 'Group', core: GROUP, extensions: [] };
