/**
 * The instructions that a service and the PostgreSQL behind it carry out, by the processor's own counters (perf-stat(1)): neighbours on the machine, who make
 * a millisecond of CPU do less, change nothing about them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { processesOf, type Shares } from './cpu.ts';

/** In user mode, which anybody may count of his own processes. */
const EVENT = 'instructions:u';

/** Counts what the processes do until `end`. */
export class Instructions {
  readonly #service: Counter;
  readonly #database: Counter;

  private constructor(roots: readonly number[]) {
    const { service, database } = processesOf(roots);
    this.#service = new Counter(service);
    this.#database = new Counter(database);
  }

  /** @param roots the first of the processes; all that descend from them counts @returns when it counts */
  static async counting(roots: readonly number[]): Promise<Instructions> {
    const instructions = new Instructions(roots);
    await Promise.all([instructions.#service.tell('enable'), instructions.#database.tell('enable')]);
    return instructions;
  }

  /** @returns millions; NaN where there is no perf, where the machine counts none, or where a process ended before it was watched */
  async end(): Promise<Shares> {
    const [service, database] = await Promise.all([this.#service.end(), this.#database.end()]);
    return { service, database };
  }
}

/** One perf, which watches some processes with all their threads. */
class Counter {
  readonly #perf: ChildProcess | undefined;
  readonly #ended: Promise<void>;
  #report = '';

  /** @param pids none: none of them carries anything out */
  constructor(pids: readonly number[]) {
    if (pids.length === 0) {
      this.#ended = Promise.resolve();
      return;
    }
    // It waits for its orders at descriptor 3, and says at 4 that it has carried one out.
    const options = ['stat', '--event', EVENT, '--field-separator', ',', '--delay', '-1', '--control', 'fd:3,4', '--pid', pids.join(',')];
    const perf = spawn('perf', options, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    });
    this.#ended = new Promise((resolve) => perf.once('close', () => resolve()).once('error', () => resolve()));
    perf.stderr?.on('data', (chunk: Buffer) => {
      this.#report += chunk.toString();
    });
    // Orders to one that has ended.
    perf.stdio[3]?.on('error', () => {});
    this.#perf = perf;
  }

  /** Until it is carried out, or cannot be. */
  async tell(order: 'enable' | 'disable'): Promise<void> {
    if (this.#perf === undefined) return;
    const [, , , orders, answers] = this.#perf.stdio;
    (orders as Writable).write(`${order}\n`);
    await Promise.race([once(answers as Readable, 'data'), this.#ended]);
  }

  async end(): Promise<number> {
    if (this.#perf === undefined) return 0;
    await this.tell('disable');
    this.#perf.kill('SIGINT');
    await this.#ended;
    const [, count] = new RegExp(`^(\\d+),,${EVENT},`, 'm').exec(this.#report) ?? [];
    return count === undefined ? Number.NaN : Number(count) / 1e6;
  }
}
