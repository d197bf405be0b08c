/** Users of a realm that Keycloak exported: password, authenticator app, groups, roles and linked accounts. */
import { Secret } from 'otpauth';
import { z } from 'zod';
import { validation } from '../../../platform/errors/errors.ts';
import { parse } from '../../../platform/validation/parsing.ts';
import { paddedBase64, pbkdf2Of } from '../hash-text.service.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { isOwnClient } from './keycloak-clients.service.ts';

// Groups and realm roles of a realm that Keycloak exported.

export interface KeycloakGroup {
  readonly name: string;
  readonly realmRoles: readonly string[];
  readonly clientRoles: Readonly<Record<string, readonly string[]>>;
  readonly subGroups: readonly KeycloakGroup[];
}
/** Group name of a realm role; distinct from a group with the same name. */
export const roleGroup = (name: string): string => `role:${name}`;

/** Is it a role of Keycloak itself? Every user of a realm has them, and they mean nothing elsewhere. */
export const isOwnRole = (name: string): boolean =>
  name === 'offline_access' || name === 'uma_authorization' || name.startsWith('default-roles-');

/** A group with its path, without the leading slash. */
export interface PlacedGroup extends KeycloakGroup {
  readonly path: string;
}

export function* flatGroups(groups: readonly KeycloakGroup[], above: string): Generator<PlacedGroup> {
  for (const one of groups) {
    const path = above === '' ? one.name : `${above}/${one.name}`;
    yield { ...one, path };
    yield* flatGroups(one.subGroups, path);
  }
}

/** The group with the path and its parent groups, whose roles also apply to its members. */
export const groupsAbove = (path: string, tree: readonly PlacedGroup[]): PlacedGroup[] =>
  tree.filter((one) => path === one.path || path.startsWith(`${one.path}/`));

const names = z.array(z.string()).default([]);

const credential = z.looseObject({
  type: z.string(),
  userLabel: z.string().nullish(),
  /** JSON as a string. */
  secretData: z.string().default('{}'),
  credentialData: z.string().default('{}'),
  priority: z.number().optional(),
});
type Credential = z.output<typeof credential>;

const keycloakUser = z.looseObject({
  id: z.string().optional(),
  username: z.string(),
  email: z.string().optional(),
  emailVerified: z.boolean().default(false),
  enabled: z.boolean().default(true),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  attributes: z.record(z.string(), z.unknown()).default({}),
  credentials: z.array(credential).default([]),
  requiredActions: names,
  realmRoles: names,
  clientRoles: z.record(z.string(), z.array(z.string())).default({}),
  groups: names,
  federatedIdentities: z
    .array(z.looseObject({ identityProvider: z.string(), userId: z.string(), userName: z.string().optional() }))
    .default([]),
});
type KeycloakUser = z.output<typeof keycloakUser>;

interface RealmContext {
  /** Names of organizations by the ID or the user name of a member. */
  readonly members: ReadonlyMap<string, readonly string[]>;
  readonly tree: readonly PlacedGroup[];
}

export const isServiceAccount = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'serviceAccountClientId' in value && typeof value.serviceAccountClientId === 'string';

export function userItem(value: unknown, entry: string, realm: RealmContext): ImportItem {
  try {
    const user = parse(keycloakUser, value);
    const place = { entry: `${entry} ${user.username}` };
    try {
      return { kind: 'user', place, value: recordOf(user, realm), attributes: user.attributes };
    } catch (error) {
      return { kind: 'refused', place, reasons: reasonsOf(error) };
    }
  } catch (error) {
    return { kind: 'refused', place: { entry }, reasons: reasonsOf(error) };
  }
}

/** @throws {ApiError} validation of a credential */
function recordOf(user: KeycloakUser, realm: RealmContext): object {
  const { username, email, emailVerified, firstName, lastName } = user;
  const groups = user.groups.map((path) => path.replace(/^\//, ''));
  const roles = [...new Set([...user.realmRoles, ...rolesOfGroups(groups, realm.tree)])].filter((name) => !isOwnRole(name));
  const hash = passwordOf(user.credentials);
  return {
    profile: { login: username, email, ...(email !== undefined && { emailVerified }), firstName, lastName },
    ...(hash !== undefined && { credentials: { password: { hash } } }),
    status: statusOf(user, hash !== undefined),
    organizations: realm.members.get(user.id ?? '') ?? realm.members.get(username) ?? [],
    groups: [...new Set([...groups, ...roles.map(roleGroup)])],
    applications: Object.entries(user.clientRoles)
      .filter(([clientId]) => !isOwnClient(clientId))
      .map(([clientId, names]) => ({ clientId, roles: names })),
    links: user.federatedIdentities.map(({ identityProvider, userId, userName }) => ({
      ...{ provider: identityProvider, subject: userId },
      ...(userName !== undefined && userName !== '' && { knownAs: userName }),
    })),
    factors: factorsOf(user.credentials),
  };
}

const rolesOfGroups = (paths: readonly string[], tree: readonly PlacedGroup[]): string[] =>
  paths.flatMap((path) => groupsAbove(path, tree)).flatMap(({ realmRoles }) => [...realmRoles]);

function statusOf({ enabled, requiredActions }: KeycloakUser, hasPassword: boolean): string {
  if (!enabled) return 'SUSPENDED';
  return hasPassword && requiredActions.includes('UPDATE_PASSWORD') ? 'PASSWORD_EXPIRED' : 'ACTIVE';
}

const single = z
  .union([z.string(), z.number(), z.array(z.union([z.string(), z.number()])).min(1)])
  .transform((value) => String(Array.isArray(value) ? value[0] : value));

const passwordSecret = z.looseObject({ value: z.string(), salt: z.string().default('') });
const passwordData = z.looseObject({
  algorithm: z.string(),
  hashIterations: z.number(),
  additionalParameters: z.record(z.string(), single).nullish(),
});

const FIELD = 'credentials';

function read<S extends z.ZodType>(schema: S, json: string): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw validation([{ field: FIELD, message: 'must hold JSON' }]);
  }
  return parse(schema, value);
}

/** Hash formats of Keycloak 26 (`Argon2PasswordHashProvider`, `Pbkdf2PasswordHashProvider`). @returns the hash of the first password */
function passwordOf(credentials: readonly Credential[]): object | undefined {
  const found = credentials.find(({ type }) => type === 'password');
  if (found === undefined) return undefined;
  const { algorithm, hashIterations, additionalParameters } = read(passwordData, found.credentialData);
  const { value, salt } = read(passwordSecret, found.secretData);
  const pbkdf2 = /^pbkdf2(?:-(sha256|sha512))?$/.exec(algorithm);
  if (pbkdf2 !== null)
    return pbkdf2Of(
      (pbkdf2[1] ?? 'sha1') as 'sha1' | 'sha256' | 'sha512',
      hashIterations,
      paddedBase64(salt),
      Buffer.from(value, 'base64'),
    );
  if (algorithm !== 'argon2')
    throw validation([
      {
        field: FIELD,
        message: `have a password of the algorithm ${algorithm}; argon2, pbkdf2, pbkdf2-sha256 and pbkdf2-sha512 can be imported`,
      },
    ]);
  const { type: variant = 'id', version = '1.3', memory = '', parallelism = '' } = additionalParameters ?? {};
  return {
    ...{ algorithm: 'ARGON2', variant, version: version === '1.0' ? 16 : 19, memory: Number(memory), iterations: hashIterations },
    ...{ parallelism: Number(parallelism), salt: paddedBase64(salt), value: paddedBase64(value) },
  };
}

const otpData = z.looseObject({
  subType: z.string(),
  digits: z.number(),
  period: z.number().default(30),
  algorithm: z.string(),
  secretEncoding: z.string().nullish(),
});
const otpSecret = z.looseObject({ value: z.string() });

/** Users with a credential that cannot be imported are refused: they would sign in with less security than before. */
const WITHOUT = 'Remove this credential from the export to import the user without it';

function factorsOf(credentials: readonly Credential[]): object[] {
  const key = credentials.find(({ type }) => type === 'webauthn');
  if (key !== undefined)
    throw validation([{ field: FIELD, message: `have a security key (${key.type}), which works at its former address only. ${WITHOUT}` }]);
  return credentials
    .filter(({ type }) => type === 'otp')
    .map(({ userLabel, secretData, credentialData }) => {
      const { subType, digits, period, algorithm, secretEncoding } = read(otpData, credentialData);
      const { value } = read(otpSecret, secretData);
      if (subType !== 'totp' || digits !== 6 || period !== 30 || algorithm !== 'HmacSHA1') {
        const found = `${subType}, ${algorithm}, ${digits} digits, ${period} seconds`;
        throw validation([
          { field: FIELD, message: `have an authenticator app other than totp, HmacSHA1, 6 digits, 30 seconds: ${found}. ${WITHOUT}` },
        ]);
      }
      // The secret's characters are its bytes unless an encoding is given.
      const secret = secretEncoding === 'BASE32' ? value : Secret.fromUTF8(value).base32;
      return { type: 'TOTP', secret, ...(userLabel && { name: userLabel }) };
    });
}
