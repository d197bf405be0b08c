/** The tree of departments for a page: nested, a few levels deep, with the number of departments below each. */

interface Node {
  readonly id: string;
  readonly name: string;
  /** null at the top level. */
  readonly parentId: string | null;
}

export interface Branch {
  readonly id: string;
  readonly name: string;
  /** The subdepartments; empty if the page has no room for another level. */
  readonly children: readonly Branch[];
  /** Number of all departments below, at any depth. */
  readonly below: number;
  /** Members of this department, without subdepartments. */
  readonly members: number;
}

/** Maximum levels, because of the width of a phone; the rest is on the department's page. */
const LEVELS = 5;

/**
 * @param departments all departments of an organization, parents first
 * @param parentId root of the tree; null: the whole organization
 * @param members number of members of each department
 */
export function branchesBelow(
  departments: readonly Node[],
  parentId: string | null,
  members: ReadonlyMap<string, number>,
): readonly Branch[] {
  const children = new Map<string | null, Node[]>();
  for (const department of departments) {
    const siblings = children.get(department.parentId);
    if (siblings === undefined) children.set(department.parentId, [department]);
    else siblings.push(department);
  }
  const below = new Map<string | null, number>();
  // From the end, so that subdepartments are complete before their parent.
  for (const { id, parentId: above } of departments.toReversed()) below.set(above, (below.get(above) ?? 0) + (below.get(id) ?? 0) + 1);

  const branches = (above: string | null, levels: number): readonly Branch[] =>
    (children.get(above) ?? []).map(({ id, name }) => ({
      id,
      name,
      children: levels > 1 ? branches(id, levels - 1) : [],
      below: below.get(id) ?? 0,
      members: members.get(id) ?? 0,
    }));
  return branches(parentId, LEVELS);
}

/** The departments above this one, top level first. */
export function lineAbove<T extends Node>(departments: readonly T[], id: string): readonly T[] {
  const byId = new Map(departments.map((department) => [department.id, department]));
  const line: T[] = [];
  for (let at = byId.get(id)?.parentId; at != null; at = byId.get(at)?.parentId) {
    const above = byId.get(at);
    if (above !== undefined) line.push(above);
  }
  return line.reverse();
}

/** All departments in the given order, with their depth; the top level has 0. */
export function withDepth<T extends Node>(departments: readonly T[]): readonly { readonly department: T; readonly depth: number }[] {
  const depths = new Map<string | null, number>([[null, -1]]);
  return departments.map((department) => {
    const depth = (depths.get(department.parentId) ?? -1) + 1;
    depths.set(department.id, depth);
    return { department, depth };
  });
}

/** IDs of a department and all departments below it. @param departments parents first */
export function within(departments: readonly Node[], id: string): ReadonlySet<string> {
  const found = new Set([id]);
  for (const department of departments) if (department.parentId !== null && found.has(department.parentId)) found.add(department.id);
  return found;
}
