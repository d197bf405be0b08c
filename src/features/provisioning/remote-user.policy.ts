/**
 * Computes a user's resource at a SCIM target and the change to reach it. The attribute table of the SCIM server
 * (features/scim/scim-attributes.policy.ts) defines the sources; the application's mapping overrides single ones. Other attributes at the target stay
 * unchanged.
 */
import { ENTERPRISE, type ScimAttribute, type ScimObject, USER } from '../scim/scim-attributes.policy.ts';
import { type Fields, userType, writtenPart } from '../scim/scim-user.policy.ts';

/**
 * Paths of SCIM attributes, each with the field of the profile that it comes from; null: it is not sent. Other attributes have the sources of the
 * SCIM server.
 */
export type TargetMapping = Readonly<Record<string, string | null>>;

/** Path of an attribute in a resource; the URN first for extensions. */
type Path = readonly string[];

const PATH = /^(?:(urn:[\w.:-]+):)?([A-Za-z][\w$-]*)(?:\.([A-Za-z][\w$-]*))?$/;
const NEVER = new Set(['id', 'externalId', 'meta', 'schemas', 'active', 'password', 'groups', '__proto__', 'constructor', 'prototype']);

/** @returns undefined if a mapping cannot contain it */
export function attributePath(name: string): Path | undefined {
  const match = PATH.exec(name);
  if (match === null) return undefined;
  const [, urn, attribute = '', sub] = match;
  if (NEVER.has(attribute) || NEVER.has(sub ?? '')) return undefined;
  const isCore = urn === undefined || urn === USER.id;
  return [...(isCore ? [] : [urn]), attribute, ...(sub === undefined ? [] : [sub])];
}

const CORE_ATTRIBUTES = new Map(USER.attributes.map((attribute) => [attribute.name, attribute]));
/** Is the core attribute multi-valued? Such an attribute is sent or omitted as a whole. */
export const isList = ([name = '', ...rest]: Path): boolean => rest.length === 0 && CORE_ATTRIBUTES.get(name)?.multiValued === true;

function ownedIn(attributes: readonly ScimAttribute[], before: Path): Path[] {
  return attributes.flatMap((attribute) => {
    const path = [...before, attribute.name];
    if (attribute.isDerived === true || NEVER.has(attribute.name)) return [];
    if (attribute.field !== undefined || attribute.slots !== undefined) return [path];
    return attribute.subAttributes === undefined ? [] : ownedIn(attribute.subAttributes, path);
  });
}

const STANDARD: readonly Path[] = [...ownedIn(USER.attributes, []), ...ownedIn(ENTERPRISE.attributes, [ENTERPRISE.id])];

export interface WantedRemoteUser {
  /** Without `id`, which the target assigns. */
  readonly resource: ScimObject;
  /** Attributes that are set, or removed if the resource has none. */
  readonly owned: readonly Path[];
}

/** @param externalId the user's ID here */
export function wantedRemoteUser(fields: Fields, mapping: TargetMapping, externalId: string, active: boolean): WantedRemoteUser {
  const entries = Object.entries(mapping).flatMap(([name, field]) => {
    const path = attributePath(name);
    return path === undefined ? [] : [{ path, field }];
  });
  const standard = writtenPart(userType([]), fields, { active, externalId, labels: {} });
  const resource = entries.reduce<ScimObject>(
    (made, { path, field }) => withValue(made, path, field === null ? undefined : fields[field]),
    standard,
  );
  const isMapped = (path: Path) => entries.some((entry) => isSame(entry.path, path));
  const kept = STANDARD.filter((path) => !isMapped(path));
  const owned = [...kept, ...entries.filter(({ field }) => field !== null).map(({ path }) => path), ['active'], ['externalId']];
  const extensions = Object.keys(resource).filter((name) => name.startsWith('urn:'));
  return { resource: { schemas: [USER.id, ...extensions], ...resource }, owned };
}

const isSame = (one: Path, other: Path): boolean => one.length === other.length && one.every((part, index) => part === other[index]);
const isObject = (value: unknown): value is ScimObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param value undefined: removes it, and an object that becomes empty */
function withValue(object: ScimObject, [name = '', ...rest]: Path, value: unknown): ScimObject {
  const { [name]: before, ...others } = object;
  const after = rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest, value);
  const isGone = after === undefined || (isObject(after) && Object.keys(after).length === 0);
  return isGone ? others : { ...others, [name]: after };
}

const valueAt = (object: unknown, path: Path): unknown =>
  path.reduce<unknown>((found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined), object);

/** @returns the new resource of the target; undefined if nothing changes */
export function mergedRemoteUser(remote: ScimObject, { resource, owned }: WantedRemoteUser): ScimObject | undefined {
  if (owned.every((path) => isEquivalent(valueAt(remote, path), valueAt(resource, path)))) return undefined;
  const { meta: _, groups: __, password: ___, ...rest } = remote;
  const merged = owned.reduce((made, path) => withValue(made, path, valueAt(resource, path)), rest as ScimObject);
  const schemas = [...new Set([...list(remote.schemas), ...list(resource.schemas)])];
  return { ...merged, schemas: schemas.filter((urn) => urn === USER.id || urn in merged || !list(resource.schemas).includes(urn)) };
}

const list = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

/** A target may add to stored values, e.g. `display` of an address; the sent values must be there. */
function isEquivalent(remote: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return remote === undefined || remote === null || (Array.isArray(remote) && remote.length === 0);
  if (Array.isArray(wanted)) {
    return Array.isArray(remote) && remote.length === wanted.length && wanted.every((one, index) => isEquivalent(remote[index], one));
  }
  if (isObject(wanted)) return isObject(remote) && Object.entries(wanted).every(([name, value]) => isEquivalent(remote[name], value));
  return remote === wanted;
}
