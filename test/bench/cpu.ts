/** The CPU time of a service and of its embedded PostgreSQL, which descends from it, out of Linux's /proc (proc_pid_stat(5)). */
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

/** Milliseconds, user and system, since the processes began. */
export interface CpuTime {
  readonly service: number;
  readonly database: number;
}

/** @param root the service's first process */
export function cpuTime(root: number): CpuTime {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : undefined;
    if (stat !== undefined) stats.set(Number(entry), stat);
  }
  const belongs = (pid: number | undefined): boolean => pid !== undefined && (pid === root || belongs(stats.get(pid)?.parent));
  const time = { service: 0, database: 0 };
  for (const [pid, { name, ticks }] of stats) {
    if (belongs(pid)) time[name === 'postgres' ? 'database' : 'service'] += ticks * TICK;
  }
  return time;
}
