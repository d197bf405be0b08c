/**
 * Where the time of a service goes: `node dist/test/bench/profile.js <file.cpuprofile> [seconds]` reads what `npm run bench -- --cpu-prof <folder>`
 * has left, the last seconds of it, and tells the share of each package and of each function, with what it calls in Node itself; writes to sockets apart.
 */
import { readFileSync } from 'node:fs';
import { markdown } from './table.ts';

/** As the profiler of V8 writes it (Chrome DevTools Protocol, Profiler.Profile); times in microseconds. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}
type Node = Profile['nodes'][number];

/** Microseconds; a sample that took longer shows that the process waited for a core. */
const LONGEST_SAMPLE = 1500;
/** The orderly end, which is no flow. */
const LAST_WORDS = 400_000;
const MOST_LINES = 40;

const fileOf = ({ callFrame: { url } }: Node): string =>
  url.replace(url.includes('/node_modules/') ? /^.*\/node_modules\// : /^.*\/dist\//, '');

/** The profiler counts time, not work: in a write to a socket the core is given to whoever it wakes, often for longer than the write takes. */
const givesWay = ({ callFrame }: Node): boolean =>
  callFrame.url === '' && /^(\(idle\)|writev|writeBuffer|write\w*String)$/.test(callFrame.functionName);

/** @returns a package, or a file of this service; undefined for what belongs to Node */
function ownerOf(node: Node): string | undefined {
  const { url } = node.callFrame;
  if (url === '' || url.startsWith('node:')) return undefined;
  if (!url.includes('/node_modules/')) return fileOf(node);
  return /^(@[^/]+\/)?[^/]+/.exec(fileOf(node))?.[0];
}

const nameOf = (node: Node): string =>
  `${node.callFrame.functionName || '(anonymous)'} ${fileOf(node)}${node.callFrame.url === '' ? '' : `:${node.callFrame.lineNumber + 1}`}`;

class Shares {
  readonly #times = new Map<string, number>();

  add(name: string, time: number): void {
    this.#times.set(name, (this.#times.get(name) ?? 0) + time);
  }

  table(title: string, total: number): string {
    const rows = [...this.#times].sort(([, a], [, b]) => b - a).slice(0, MOST_LINES);
    return markdown(
      [title, '%'],
      rows.map(([name, time]) => [name, ((100 * time) / total).toFixed(1)]),
    );
  }
}

function read({ nodes, startTime, endTime, samples, timeDeltas }: Profile, seconds: number): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])));
  const [owners, functions, callers] = [new Shares(), new Shares(), new Shares()];
  let total = 0;
  let now = startTime;
  for (const [index, id] of samples.entries()) {
    now += timeDeltas[index] ?? 0;
    const leaf = byId.get(id);
    if (leaf === undefined || givesWay(leaf) || now < endTime - seconds * 1e6 || now > endTime - LAST_WORDS) continue;
    const time = Math.min(timeDeltas[index + 1] ?? 0, LONGEST_SAMPLE);
    total += time;
    let node: Node | undefined = leaf;
    while (node !== undefined && ownerOf(node) === undefined) node = parents.get(node.id);
    const owner = node === undefined ? undefined : ownerOf(node);
    owners.add(
      owner?.startsWith('src/')
        ? 'src'
        : (owner ?? `Node alone: ${leaf.callFrame.url === '' ? leaf.callFrame.functionName : 'its own callbacks'}`),
      time,
    );
    if (node !== undefined) functions.add(nameOf(node), time);
    const seen = new Set<string>();
    for (let caller: Node | undefined = leaf; caller !== undefined; caller = parents.get(caller.id)) {
      const name = nameOf(caller);
      if (ownerOf(caller) !== undefined && !seen.has(name)) callers.add(name, time);
      seen.add(name);
    }
  }
  return [
    owners.table('by package', total),
    functions.table('by function, with what it calls in Node', total),
    callers.table('by caller, all below', total),
  ].join('\n\n');
}

const [file, seconds = '5'] = process.argv.slice(2);
if (file === undefined) throw new Error('which profile?');
console.log(read(JSON.parse(readFileSync(file, 'utf8')), Number(seconds)));
