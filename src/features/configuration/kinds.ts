/**
 * Kinds of objects in a configuration file: their paths in the management API and the fields that identify them. The documents are the bodies of that
 * API and are checked by its schemas; no field is defined twice.
 */
import { z } from 'zod';
import { ENDPOINTS } from '../../api/index.ts';
import { StartFailure } from '../../cli/lifecycle.ts';
import { SYSTEM_APPLICATIONS } from '../applications/application-settings.policy.ts';
import { BUILT_IN, DEFAULT } from '../authorization-servers/server-id.policy.ts';
import { type Document, isDocument } from './difference.ts';
import type { Reference } from './names.ts';

export interface Kind {
  /** Noun for one object. */
  readonly noun: string;
  /** Name of the section in the file. */
  readonly section: string;
  /** Path in the API, relative to the parent. */
  readonly path: string;
  /** Fields that identify an object in the file and in the service. */
  readonly key: readonly string[];
  /** Kinds of the inner sections. */
  readonly inner: readonly Kind[];
  /** For objects of the service itself: the only fields that the operator may change. @returns undefined for all others */
  readonly open?: (key: string) => readonly string[] | undefined;
  /**
   * Fields that are part of its path, for an object that is set by PUT and never created by POST. The file may contain the name of a referenced
   * object instead of its ID.
   */
  readonly address?: readonly string[];
  /** Path of the object below its address. */
  readonly suffix?: string;
  /** Path of the list, if it differs. */
  readonly list?: string;
  /** Fields that are compared and set as one value: null inside them does not remove anything. */
  readonly whole?: readonly string[];
  /** IDs of all objects, if the API has no list. */
  readonly names?: readonly string[];
  /** Filters a list to objects that were set explicitly. */
  readonly isSet?: (response: Document) => boolean;
  /** Objects that the operator does not manage: an export omits them, and only a file that names them changes them. */
  readonly isForeign?: (response: Readonly<Record<string, unknown>>) => boolean;
  /** Several objects can have the same key. They are numbered in order of creation. */
  readonly twins?: true;
  /** Fields that can be set only at creation. */
  readonly fixed?: readonly string[];
  /** Status values and the lifecycle call for each. Absent: ACTIVE and INACTIVE. */
  readonly statuses?: Readonly<Record<string, string>>;
  /** Secrets are sent with each change. Absent: only for objects with `address`. */
  readonly resends?: true;
  /** Keys of objects that always exist and cannot be deleted. */
  readonly lasting?: readonly string[];
  /** Objects have an order, which is in their field `priority`. */
  readonly ordered?: true;
  /** Fields with IDs in the service and names in the file. */
  readonly references?: readonly Reference[];
}

const RULES: Kind = {
  noun: 'rule',
  section: 'rules',
  path: '/rules',
  key: ['name'],
  ordered: true,
  inner: [],
  references: [
    { at: 'conditions.people.users.include', to: 'user' },
    { at: 'conditions.people.groups.include', to: 'groupOrEveryone' },
    { at: 'actions.token.inlineHook.id', to: 'inlineHook' },
    { at: 'conditions.actors.include', to: 'application' },
  ],
};

const inner: readonly Kind[] = [
  { noun: 'scope', section: 'scopes', path: '/scopes', key: ['name'], inner: [] },
  { noun: 'authorization detail type', section: 'authorizationDetailTypes', path: '/authorizationDetailTypes', key: ['name'], inner: [] },
  { noun: 'claim', section: 'claims', path: '/claims', key: ['claimType', 'name'], inner: [] },
  {
    noun: 'policy',
    section: 'policies',
    path: '/policies',
    key: ['name'],
    ordered: true,
    inner: [RULES],
    references: [{ at: 'conditions.clients.include', to: 'application' }],
  },
];

const SETTINGS = ['sign-in', 'password', 'branding', 'audit', 'mail', 'registration', 'telephony', 'bots'] as const;

const openOfBuiltIn = [
  'id',
  'profile',
  'accessTokenLifetimeMinutes',
  'refreshTokenLifetimeMinutes',
  'signingAlg',
  'clientIdMetadata',
  'registration',
] as const;

/** Ordered so that each kind only refers to earlier ones. */
export const RESOURCE_KINDS: readonly Kind[] = [
  {
    noun: 'group',
    section: 'groups',
    path: '/groups',
    key: ['profile.name'],
    inner: [],
    // SCIM clients create and delete their groups themselves.
    isForeign: ({ origin }) => origin === 'SCIM',
  },
  {
    noun: 'attributes of users',
    section: 'userSchemas',
    path: '/meta/schemas/user',
    key: ['id'],
    inner: [],
    address: ['id'],
    names: [DEFAULT],
    lasting: [DEFAULT],
  },
  {
    noun: 'identity provider',
    section: 'identityProviders',
    path: '/idps',
    key: ['name'],
    inner: [],
    references: [
      { at: 'policy.provisioning.orgId', to: 'organization' },
      { at: 'policy.provisioning.groups.assignments', to: 'group' },
      { at: 'policy.accountLink.filter.groups.include', to: 'group' },
    ],
  },
  { noun: 'inline hook', section: 'inlineHooks', path: '/inlineHooks', key: ['name'], inner: [] },
  {
    noun: 'application',
    section: 'applications',
    path: '/apps',
    key: ['credentials.oauthClient.client_id'],
    inner: [
      { noun: 'role', section: 'roles', path: '/roles', key: ['name'], inner: [] },
      {
        noun: 'assignment to group',
        section: 'groups',
        path: '/groups',
        key: ['id'],
        inner: [],
        address: ['id'],
        references: [
          { at: 'id', to: 'group' },
          { at: 'roles', to: 'role' },
        ],
      },
    ],
    // Applications that registered themselves, or use a client ID metadata document, come and go.
    isForeign: ({ origin }) => origin !== undefined && origin !== 'ADMIN',
    open: (key) => ((SYSTEM_APPLICATIONS as readonly string[]).includes(key) ? [] : undefined),
    references: [{ at: 'settings.oauthClient.identity_providers', to: 'identityProvider' }],
  },
  {
    noun: 'SCIM target',
    section: 'provisioning',
    path: '/apps',
    key: ['applicationId'],
    inner: [],
    address: ['applicationId'],
    suffix: '/provisioning',
    list: '/provisioning',
    whole: ['mapping'],
  },
  {
    noun: 'signal stream',
    section: 'signalStreams',
    path: '/ssf/streams',
    key: ['applicationId', 'description'],
    inner: [],
    fixed: ['applicationId'],
    statuses: { ENABLED: 'enable', PAUSED: 'pause', DISABLED: 'disable' },
    resends: true,
    // Receivers create streams too, with any description or without one.
    twins: true,
    isForeign: ({ description }) => description === undefined,
    references: [{ at: 'applicationId', to: 'application' }],
  },
  {
    noun: 'authorization server',
    section: 'authorizationServers',
    path: '/authorizationServers',
    key: ['id'],
    inner,
    open: (key) => (key === BUILT_IN ? openOfBuiltIn : undefined),
    lasting: [BUILT_IN, DEFAULT],
  },
  { noun: 'network zone', section: 'networkZones', path: '/zones', key: ['name'], inner: [] },
  {
    noun: 'settings',
    section: 'settings',
    path: '/settings',
    key: ['id'],
    inner: [],
    address: ['id'],
    names: SETTINGS,
    lasting: SETTINGS,
    references: [
      { at: 'organization', to: 'organization' },
      { at: 'groups', to: 'group' },
    ],
  },
  {
    noun: 'e-mail template',
    section: 'mailTemplates',
    path: '/settings/mail-templates',
    key: ['kind', 'language'],
    inner: [],
    address: ['kind', 'language'],
    isSet: ({ customized }) => customized === true,
  },
  {
    noun: 'text',
    section: 'texts',
    path: '/settings/texts',
    key: ['language', 'key'],
    inner: [],
    address: ['language', 'key'],
    isSet: ({ customized }) => customized === true,
  },
];

/** Fields of a document that are part of its path and not of the body. */
export const addressFields = ({ address, fixed, key }: Kind): readonly string[] => address ?? fixed ?? key.filter((name) => name === 'id');

export const statusesOf = ({ statuses = { ACTIVE: 'activate', INACTIVE: 'deactivate' } }: Kind): Readonly<Record<string, string>> =>
  statuses;

export const withoutAddress = (kind: Kind, document: Document): Document =>
  Object.fromEntries(Object.entries(document).filter(([name]) => !addressFields(kind).includes(name)));

/** @returns the object's path, relative to the parent */
export const pathOf = ({ path, address = ['id'], suffix = '' }: Kind, thing: Document): string =>
  [path, ...address.map((name) => encodeURIComponent(String(thing[name])))].join('/') + suffix;

export const valueAt = (document: Document, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isDocument(value) ? value[name] : undefined), document);

/** @returns undefined for a document without a key; the API trims spaces around a name */
export function keyOf(kind: Kind, document: Document): string | undefined {
  const parts = kind.key.map((path) => valueAt(document, path)).map((part) => (typeof part === 'string' ? part.trim() : ''));
  return parts.includes('') ? undefined : parts.join(' ');
}

/**
 * Numbers objects that have the same key: `Sessions`, `Sessions (2)`.
 * @param all in the order of the file or of their creation
 * @throws the result of `refuse` for a duplicate key, if the kind does not allow it
 */
export function distinctKeys<T extends { readonly key: string }>(
  { twins }: Kind,
  all: readonly T[],
  refuse: (key: string) => Error,
): readonly T[] {
  const taken = new Set<string>();
  return all.map((one) => {
    let { key } = one;
    if (!twins && taken.has(key)) throw refuse(key);
    // A description may itself end with a number.
    for (let count = 2; taken.has(key); count += 1) key = `${one.key} (${count})`;
    taken.add(key);
    return { ...one, key };
  });
}

/** Schema of the body of a call. @param path as it is called, with IDs */
export function bodySchema(method: 'POST' | 'PUT', path: string): z.ZodType {
  const parts = path.split('/');
  const found = ENDPOINTS.find((declared) => {
    const pattern = declared.path.split('/');
    return (
      declared.method === method &&
      pattern.length === parts.length &&
      pattern.every((part, at) => part.startsWith(':') || part === parts[at])
    );
  });
  if (found?.body === undefined) throw new StartFailure(`The management API of this version has no ${method} ${path}.`);
  return found.body;
}

/** @returns the part of a response that a body can contain: without IDs, times, links and other read-only fields */
export function bodyPart(schema: z.ZodType, response: Document): Document {
  const copy = structuredClone(response) as Record<string, unknown>;
  const { error } = schema.safeParse(copy);
  for (const issue of error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') continue;
    const holder = issue.path.reduce<unknown>((value, name) => (value as Record<PropertyKey, unknown>)[name], copy);
    for (const name of issue.keys) delete (holder as Record<string, unknown>)[name];
  }
  return copy;
}

/** Does the body have a field for the status? If not, the API has a separate call. */
export const hasStatusField = (schema: z.ZodType): boolean => schema instanceof z.ZodObject && 'status' in schema.shape;
