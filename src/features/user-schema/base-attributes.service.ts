/** The standard attributes, in the form of custom ones. features/users/user-profile.service.ts validates their values. */
import { OWN_ATTRIBUTES } from '../users/own-profile.service.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import type { Attribute } from './attributes.resource.ts';

const OWN: ReadonlySet<string> = new Set(OWN_ATTRIBUTES);

/** `nickName` for display: Nick name. */
const titleOf = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`;

const base = (name: string): Attribute => ({
  name,
  title: titleOf(name),
  type: name === 'emailVerified' ? 'boolean' : 'string',
  required: name === 'login',
  // Okta marks only custom attributes as unique. Its SDK for Python cannot read a schema in which a standard one is marked.
  unique: false,
  self: OWN.has(name) ? 'READ_WRITE' : 'READ_ONLY',
});

const BASE = ['login', 'email', 'emailVerified', ...BASE_ATTRIBUTES].map(base);

/** By name, in the order of the reference. */
export const baseProperties = (): Readonly<Record<string, Attribute>> =>
  Object.fromEntries(BASE.map((attribute) => [attribute.name, attribute]));
