/**
 * A realm that Keycloak has exported (`kc.sh export`): organizations, groups, realm roles, clients, identity providers and users. A realm role becomes a
 * group, a client role a role of the application.
 */
import { z } from 'zod';
import { parse } from '../../../platform/validation/parsing.ts';
import { type ImportItem, reasonsOf } from '../import-record.service.ts';
import { documentOf, UnreadableSource } from '../import-source.service.ts';
import { applicationOf, isOwnClient, type KeycloakClient, keycloakClient, wildcardsOf } from './keycloak-clients.service.ts';
import { LEFT_BY_KEYCLOAK } from './keycloak-left.service.ts';
import { providerItem } from './keycloak-providers.service.ts';
import {
  flatGroups,
  groupsAbove,
  isOwnRole,
  isServiceAccount,
  type KeycloakGroup,
  type PlacedGroup,
  roleGroup,
  userItem,
} from './keycloak-users.service.ts';
import { leftBehind } from './left-behind.service.ts';

const list = <S extends z.ZodType>(schema: S) => z.array(schema).default([]);
const rolesOfClients = z.record(z.string(), z.array(z.string())).default({});

const role = z.looseObject({ name: z.string(), description: z.string().optional(), composite: z.boolean().optional() });
type KeycloakRole = z.output<typeof role>;

const group: z.ZodType<KeycloakGroup> = z.looseObject({
  name: z.string(),
  realmRoles: list(z.string()),
  clientRoles: rolesOfClients,
  subGroups: z.lazy(() => list(group)),
});

const organization = z.looseObject({
  name: z.string(),
  id: z.string().optional(),
  members: list(z.looseObject({ id: z.string().optional(), username: z.string().optional() })),
});

const realm = z.looseObject({
  realm: z.string(),
  roles: z.looseObject({ realm: list(role), client: z.record(z.string(), z.array(role)).default({}) }).default({ realm: [], client: {} }),
  groups: list(group),
  clients: list(z.unknown()),
  identityProviders: list(z.unknown()),
  organizations: list(organization),
  users: list(z.unknown()),
});

/** @throws {UnreadableSource} the file is not a realm */
export async function* itemsOfKeycloak(source: AsyncIterable<Buffer>): AsyncGenerator<ImportItem> {
  const document = await documentOf(source);
  // An export of several realms is a list.
  if (Array.isArray(document)) throw new UnreadableSource('The file has several realms. Export one: kc.sh export --realm NAME.');
  const { realm: found, reasons } = readRealm(document);
  if (found === undefined) throw new UnreadableSource(`The file is not a realm that Keycloak exported: ${reasons.join('; ')}.`);
  const tree = [...flatGroups(found.groups, '')];
  yield* leftBehind({ ...found, groups: tree, clients: found.clients.filter((one) => !isOwn(one)) }, LEFT_BY_KEYCLOAK);
  yield* organizationsOf(found);
  for (const { path } of tree) yield { kind: 'group', place: { entry: `groups ${path}` }, value: { name: path } };
  yield* rolesOf(found);
  yield* clientsOf(found, tree);
  for (const [at, value] of found.identityProviders.entries()) yield providerItem(value, `identityProviders[${at}]`);
  const members = membersOf(found);
  for (const [at, value] of found.users.entries()) if (!isServiceAccount(value)) yield userItem(value, `users[${at}]`, { members, tree });
}

const isOwn = (client: unknown): boolean =>
  typeof client === 'object' && client !== null && 'clientId' in client && isOwnClient(String(client.clientId));

function readRealm(document: unknown): { readonly realm?: z.output<typeof realm>; readonly reasons: readonly string[] } {
  try {
    return { realm: parse(realm, document), reasons: [] };
  } catch (error) {
    return { reasons: reasonsOf(error) };
  }
}

function* organizationsOf({ organizations }: z.output<typeof realm>): Generator<ImportItem> {
  for (const { name, id } of organizations)
    yield { kind: 'organization', place: { entry: `organizations ${name}` }, value: { name, ...(id !== undefined && { originId: id }) } };
}

function* rolesOf({ roles }: z.output<typeof realm>): Generator<ImportItem> {
  for (const { name, description = '' } of roles.realm.filter((one) => !isOwnRole(one.name)))
    yield { kind: 'group', place: { entry: `roles.realm ${name}` }, value: { name: roleGroup(name), description: shown(description) } };
  const composites = [...roles.realm, ...Object.values(roles.client).flat()].filter(
    (one) => one.composite === true && !isOwnRole(one.name),
  );
  const names = composites.map((one) => one.name).filter((name) => !OWN_COMPOSITES.has(name));
  if (names.length > 0)
    yield { kind: 'note', message: `Roles that other roles are part of are imported without those: ${names.slice(0, 20).join(', ')}.` };
}

/** Composite roles of the clients that every realm has. */
const OWN_COMPOSITES: ReadonlySet<string> = new Set(['realm-admin', 'view-users', 'view-clients', 'manage-account', 'manage-consent']);

/** Omits placeholders of Keycloak's own descriptions, such as `${role_offline-access}`. */
const shown = (description: string): string => (description.startsWith('${') ? '' : description);

function* clientsOf({ clients, roles }: z.output<typeof realm>, tree: readonly PlacedGroup[]): Generator<ImportItem> {
  for (const [at, value] of clients.entries()) {
    const place = { entry: `clients[${at}]` };
    let client: KeycloakClient;
    try {
      client = parse(keycloakClient, value);
    } catch (error) {
      yield { kind: 'refused', place, reasons: reasonsOf(error) };
      continue;
    }
    if (isOwnClient(client.clientId)) continue;
    const named = { entry: `clients[${at}] ${client.clientId}` };
    if (client.protocol !== 'openid-connect') {
      yield { kind: 'refused', place: named, reasons: [`protocol: must be openid-connect, not ${client.protocol}`] };
      continue;
    }
    const wildcards = wildcardsOf(client);
    if (wildcards.length > 0)
      yield {
        kind: 'note',
        message: `${client.clientId}: redirect URIs with * are not imported, add each by itself: ${wildcards.join(', ')}.`,
      };
    yield {
      kind: 'application',
      place: named,
      value: applicationOf(client, applicationRoles(roles.client[client.clientId]), groupsOf(client, tree)),
    };
  }
}

const applicationRoles = (roles: readonly KeycloakRole[] = []) =>
  roles.map(({ name, description = '' }) => ({ name, description: shown(description) }));

/** A group's roles also apply to its subgroups. */
const groupsOf = ({ clientId }: KeycloakClient, tree: readonly PlacedGroup[]) =>
  tree.flatMap(({ path }) => {
    const roles = groupsAbove(path, tree).flatMap(({ clientRoles }) => clientRoles[clientId] ?? []);
    return roles.length === 0 ? [] : [{ name: path, roles: [...new Set(roles)] }];
  });

/** Names of organizations by the ID and the user name of each member. */
function membersOf({ organizations }: z.output<typeof realm>): ReadonlyMap<string, readonly string[]> {
  const members = new Map<string, string[]>();
  for (const { name, members: list } of organizations) {
    for (const { id, username } of list) {
      const key = id ?? username ?? '';
      members.set(key, [...(members.get(key) ?? []), name]);
    }
  }
  return members;
}
