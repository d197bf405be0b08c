/** Custom attributes of users: their definitions, in Okta's terms, and their values. */

/** The types of JSON Schema; array elements are strings. */
export const ATTRIBUTE_TYPES = ['string', 'boolean', 'number', 'integer', 'array'] as const;
export type AttributeValueType = (typeof ATTRIBUTE_TYPES)[number];

export type AttributeValue = string | number | boolean | readonly string[];

/** Permission of users for their own value: change, read, or none. */
export const SELF_PERMISSIONS = ['READ_WRITE', 'READ_ONLY', 'HIDE'] as const;
export type SelfPermission = (typeof SELF_PERMISSIONS)[number];

/** A value to choose, and how forms show it. */
interface AttributeChoice {
  readonly const: string | number;
  readonly title: string;
}

/** Rules for values. */
interface ValueRules {
  /** Allowed values; for an array, of its elements. If both are given, a value must be in both. */
  readonly enum?: readonly (string | number)[] | undefined;
  readonly oneOf?: readonly AttributeChoice[] | undefined;
  /** Characters of a string. */
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** An RE2 regular expression. A string must contain a match of it. */
  readonly pattern?: string | undefined;
}

export interface Attribute extends ValueRules {
  readonly name: string;
  readonly title: string;
  readonly description?: string | undefined;
  readonly type: AttributeValueType;
  /** Required when a user is created or the profile is replaced. */
  readonly required: boolean;
  /** No two users can have the same value; case is ignored. */
  readonly unique: boolean;
  readonly self: SelfPermission;
}

/** Stored schema, oldest attribute first. */
export interface UserSchema {
  readonly attributes: readonly Attribute[];
  /** Names of removed attributes that users may still have values of. */
  readonly removing: readonly string[];
}

export const NO_ATTRIBUTES: UserSchema = { attributes: [], removing: [] };
