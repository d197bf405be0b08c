/** Display order of an organization's departments: each is directly followed by the departments below it. */

interface Node {
  readonly id: string;
  /** null at the top level. */
  readonly parentId: string | null;
}

/**
 * Pre-order; siblings keep the given order. Not recursive, so that any depth works.
 * @param departments all departments of one organization; every parent is among them and there are no cycles
 */
export function inPreOrder<T extends Node>(departments: readonly T[]): T[] {
  const lastFirst = new Map<string | null, T[]>();
  for (const department of departments.toReversed()) {
    const siblings = lastFirst.get(department.parentId);
    if (siblings === undefined) lastFirst.set(department.parentId, [department]);
    else siblings.push(department);
  }
  const ordered: T[] = [];
  const waiting = [...(lastFirst.get(null) ?? [])];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    ordered.push(next);
    for (const child of lastFirst.get(next.id) ?? []) waiting.push(child);
  }
  return ordered;
}
