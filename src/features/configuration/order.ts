/**
 * Order of policies and rules: `priority` in the service, from 1 without gaps. In a file, the order of the list, or explicit priorities as far as
 * they fit.
 */
import type { Present } from './current.ts';
import type { Wanted } from './file.ts';

const FIELD = 'priority';
const priorityOf = ({ document }: Pick<Wanted, 'document'>): number | undefined => {
  const { [FIELD]: priority } = document;
  return typeof priority === 'number' ? priority : undefined;
};

/** @returns the objects of the file in their order, each with its final priority; those without a priority come last */
export function inWantedOrder(wanted: readonly Wanted[], present: ReadonlyMap<string, unknown>): Wanted[] {
  const silent = wanted.every(({ document }) => document[FIELD] === undefined);
  const ranked = silent
    ? [...wanted]
    : wanted.filter((one) => priorityOf(one) !== undefined).sort((a, b) => (priorityOf(a) ?? 0) - (priorityOf(b) ?? 0));
  const all = new Set([...present.keys(), ...wanted.map(({ key }) => key)]).size;
  let last = 0;
  const inPlace = ranked.map((one, at) => {
    const behind = ranked.length - 1 - at;
    const given = priorityOf(one);
    // Invalid priorities are unchanged; the API schema reports them.
    const priority =
      given === undefined ? at + 1 : given < 1 || !Number.isInteger(given) ? given : Math.min(Math.max(given, last + 1), all - behind);
    last = priority;
    return { ...one, document: { ...one.document, [FIELD]: priority } };
  });
  return [...inPlace, ...wanted.filter((one) => !ranked.includes(one))];
}

/** Tracks priorities during the steps: moving one object moves others. */
export class ChangeOrder {
  #keys: readonly string[];

  constructor(present: Iterable<Present>) {
    this.#keys = [...present].sort((a, b) => (priorityOf(a) ?? 0) - (priorityOf(b) ?? 0)).map(({ key }) => key);
  }

  put(one: Wanted): void {
    const { key } = one;
    const others = this.#keys.filter((other) => other !== key);
    const now = this.#keys.indexOf(key);
    const place = priorityOf(one) ?? (now === -1 ? others.length + 1 : now + 1);
    this.#keys = others.toSpliced(place - 1, 0, key);
  }

  /** The object as it is after the earlier steps. A document without a priority sends none, and the object keeps its position. */
  asMoved(is: Present, one: Wanted): Present {
    const wanted = priorityOf(one);
    const { [FIELD]: before, ...rest } = is.document;
    if (wanted === undefined) return { ...is, document: rest };
    const priority = before === wanted ? this.#keys.indexOf(is.key) + 1 : before;
    return { ...is, document: { ...rest, [FIELD]: priority }, open: { ...is.open, [FIELD]: priority } };
  }
}
