/** The CPU time and the memory of a service and of the PostgreSQL behind it, out of Linux's /proc (proc_pid_stat(5), proc_pid_smaps(5)). */
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds in a clock tick: USER_HZ is 100 wherever Node runs on Linux. */
const TICK = 10;

interface Stat {
  readonly name: string;
  readonly parent: number;
  readonly ticks: number;
}

/** @returns undefined for a process that ended meanwhile: its parent counts it */
function readStat(pid: number): Stat | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // Field 2, the name, stands in parentheses and may hold anything; 4 is the parent; 14 to 17 are utime, stime and those of ended children.
  const nameEnds = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnds + 2).split(' ');
  return {
    name: stat.slice(stat.indexOf('(') + 1, nameEnds),
    parent: Number(fields[1]),
    ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
  };
}

export const isPostgres = (pid: number): boolean => readStat(pid)?.name === 'postgres';
export const parentOf = (pid: number): number | undefined => readStat(pid)?.parent;

/** Of the service's processes, and of PostgreSQL's: its backends and its helpers. */
export interface Shares {
  readonly service: number;
  readonly database: number;
}

/** What each of the processes has to say. @param roots the first of them; all that descend from them counts */
function* each<T>(roots: readonly number[], tell: (pid: number, stat: Stat) => T): Generator<[share: keyof Shares, told: T]> {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined;
    if (stat !== undefined) stats.set(Number(entry), stat);
  }
  const belongs = (pid: number | undefined): boolean => pid !== undefined && (roots.includes(pid) || belongs(stats.get(pid)?.parent));
  for (const [pid, stat] of stats) if (belongs(pid)) yield [stat.name === 'postgres' ? 'database' : 'service', tell(pid, stat)];
}

/** @param roots the first of the processes; all that descend from them counts */
export function processesOf(roots: readonly number[]): Readonly<Record<keyof Shares, readonly number[]>> {
  const found = { service: [] as number[], database: [] as number[] };
  for (const [share, pid] of each(roots, (one) => one)) found[share].push(pid);
  return found;
}

/** Milliseconds, user and system, since the processes began. */
export function cpuTime(roots: readonly number[]): Shares {
  const total = { service: 0, database: 0 };
  for (const [share, { ticks }] of each(roots, (_pid, stat) => stat)) total[share] += ticks * TICK;
  return total;
}

/** MiB: of the service what is resident of its largest process (RSS), of PostgreSQL the parts of all (PSS), for its processes share their buffers. */
export function memory(roots: readonly number[]): Shares {
  const found = { service: 0, database: 0 };
  for (const [share, rollup] of each(roots, readRollup)) {
    if (share === 'service') found.service = Math.max(found.service, sizeIn(rollup, 'Rss'));
    else found.database += sizeIn(rollup, 'Pss');
  }
  return found;
}

function readRollup(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
  } catch {
    return '';
  }
}

const sizeIn = (rollup: string, size: 'Rss' | 'Pss'): number =>
  Number(new RegExp(`^${size}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0) / 1024;
