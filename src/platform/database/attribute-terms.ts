/** What a filter looks for in the index of added attributes (migrations/088-attribute-parts.ts). It finds everybody who fits, and a few too many. */
import type { AttributeColumn, AttributeColumns, Condition, Filter, Leaf } from './filter.ts';

/** @returns a tsquery expression; undefined: the index does not help, e.g. because it finds nobody who does not fit */
export function termsOf(filter: Filter, columns: AttributeColumns): Condition | undefined {
  if (filter.op === 'and') {
    const ranges = filter.filters.filter((one) => rangeOf(one, columns) !== undefined) as Range[];
    const names = [...new Set(ranges.map(({ attribute }) => attribute))];
    const parts = [
      ...names.map((name) =>
        withinRanges(
          ranges.filter(({ attribute }) => attribute === name),
          columns,
        ),
      ),
      ...filter.filters.filter((one) => rangeOf(one, columns) === undefined).map((one) => termsOf(one, columns)),
    ];
    return joined(
      parts.filter((part) => part !== undefined),
      '&&',
    );
  }
  if (filter.op === 'or') {
    const parts = filter.filters.map((one) => termsOf(one, columns)).filter((part) => part !== undefined);
    return parts.length === filter.filters.length ? joined(parts, '||') : undefined;
  }
  const range = rangeOf(filter, columns);
  if (range !== undefined) return withinRanges([range], columns);
  if (!('attribute' in filter) || filter.op === 'ne') return undefined;
  const column = columns[filter.attribute];
  return column?.terms === undefined ? undefined : ofText(column, column.terms, filter);
}

function joined(parts: readonly Condition[], operator: '&&' | '||'): Condition | undefined {
  if (parts.length === 0) return undefined;
  return { sql: `(${parts.map(({ sql }) => sql).join(` ${operator} `)})`, bindings: parts.flatMap(({ bindings }) => bindings) };
}

/** Fewer characters would find most users. */
const FEWEST_CHARACTERS = 3;

function ofText({ type }: AttributeColumn, name: string, filter: Leaf): Condition | undefined {
  if (filter.op === 'pr') return { sql: "attribute_query(CAST(? AS text), '', true)", bindings: [name] };
  const bindings = [name, String(filter.value)];
  if (filter.op === 'eq' || filter.op === 'sw') {
    const term = type === 'number' ? 'CAST(CAST(? AS numeric) AS text)' : 'CAST(? AS text)';
    return { sql: `attribute_query(CAST(? AS text), ${term}, ${filter.op === 'sw'})`, bindings };
  }
  if (filter.op !== 'co' && filter.op !== 'ew') return undefined;
  if (type !== 'text' || [...String(filter.value)].length < FEWEST_CHARACTERS) return undefined;
  return { sql: 'attribute_query_containing(CAST(? AS text), CAST(? AS text))', bindings };
}

type Range = Extract<Filter, { attribute: string; value: unknown }>;

function rangeOf(filter: Filter, columns: AttributeColumns): Range | undefined {
  if (filter.op !== 'gt' && filter.op !== 'ge' && filter.op !== 'lt' && filter.op !== 'le') return undefined;
  const column = columns[filter.attribute];
  return column?.type === 'number' && column.terms !== undefined ? filter : undefined;
}

const BITS = 28;
const DIGITS = 9;
const LOWEST = '0'.repeat(BITS + DIGITS);
const HIGHEST = '1'.repeat(BITS) + 'f'.repeat(DIGITS);

/** @param ranges of one attribute, which has one number */
function withinRanges(ranges: readonly Range[], columns: AttributeColumns): Condition {
  let [low, high] = [LOWEST, HIGHEST];
  for (const { op, value } of ranges) {
    const next = op === 'gt' ? 1n : op === 'lt' ? -1n : 0n;
    const code = codeOf(Number(value), next);
    if (op === 'gt' || op === 'ge') low = low > code ? low : code;
    else high = high < code ? high : code;
  }
  const name = columns[ranges[0]?.attribute ?? '']?.terms;
  const beginnings = low > high ? ['none'] : beginningsWithin(low, high);
  return { sql: 'CAST(? AS tsquery)', bindings: [beginnings.map((beginning) => `'${name}<${beginning}':*`).join(' | ')] };
}

/** As the function attribute_terms computes it: in the order of numbers. @param next the number of steps to another double */
function codeOf(number: number, next: bigint): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, number === 0 ? 0 : number);
  const bits = view.getBigUint64(0);
  const code = next + (bits >> 63n === 1n ? BigInt.asUintN(64, ~bits) : bits | (1n << 63n));
  return code.toString(2).padStart(64, '0').slice(0, BITS) + code.toString(16).padStart(16, '0').slice(-DIGITS);
}

/** @returns the fewest beginnings of all codes from the lowest to the highest */
function beginningsWithin(low: string, high: string): readonly string[] {
  const shared = [...low].findIndex((digit, place) => digit !== high[place]);
  if (shared < 0) return [low];
  const ranks = shared < BITS ? '01' : '0123456789abcdef';
  const whole = (code: string, of: string) => code.slice(shared + 1) === of.slice(shared + 1);
  const isWhole = [whole(low, LOWEST), whole(high, HIGHEST)];
  const [first, last] = [ranks.indexOf(low[shared] ?? ''), ranks.indexOf(high[shared] ?? '')];
  const start = low.slice(0, shared);
  const all = isWhole.every(Boolean) && first === 0 && last === ranks.length - 1;
  if (all) return [start];
  return [
    ...(isWhole[0] ? [low.slice(0, shared + 1)] : beginningsWithin(low, low.slice(0, shared + 1) + HIGHEST.slice(shared + 1))),
    ...[...ranks.slice(first + 1, last)].map((digit) => start + digit),
    ...(isWhole[1] ? [high.slice(0, shared + 1)] : beginningsWithin(high.slice(0, shared + 1) + LOWEST.slice(shared + 1), high)),
  ];
}
