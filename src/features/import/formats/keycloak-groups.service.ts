/** Groups and realm roles of a realm that Keycloak exported. */

export interface KeycloakGroup {
  readonly name: string;
  readonly realmRoles: readonly string[];
  readonly clientRoles: Readonly<Record<string, readonly string[]>>;
  readonly subGroups: readonly KeycloakGroup[];
}
/** Group name of a realm role; distinct from a group with the same name. */
export const roleGroup = (name: string): string => `role:${name}`;

/** Every user of a realm has them, and they mean nothing elsewhere. */
export const isOwnRole = (name: string): boolean =>
  name === 'offline_access' || name === 'uma_authorization' || name.startsWith('default-roles-');

/** A group with its path, without the slash at its beginning. */
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

/** The group of that path and those that it is in: what they have, its members have. */
export const groupsAbove = (path: string, tree: readonly PlacedGroup[]): PlacedGroup[] =>
  tree.filter((one) => path === one.path || path.startsWith(`${one.path}/`));
