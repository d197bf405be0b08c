/** The order in which the departments of an organization are shown: every department directly before those below it. */

interface Node {
  readonly id: string;
  /** null at the top level. */
  readonly parentId: string | null;
}

/**
 * Pre-order, siblings in the order given. Not recursive, so that no depth is too great.
 * @param departments all of one organization; every parent is among them and none is above itself
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
