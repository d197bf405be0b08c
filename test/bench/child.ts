/** Processes that the bench starts: where they run, when they are ready, how they end. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

/** Which cores the generator has for itself and which are left to what it measures; undefined where there are not enough of them. */
export interface Cores {
  readonly generator: string;
  readonly measured: string;
}

/** @param processes of the service at once: each wants a core beside the generator's */
export function shareCores(processes: number): Cores | undefined {
  const cores = availableParallelism();
  if (cores <= processes || !hasTaskset()) return undefined;
  return { generator: String(cores - 1), measured: cores === 2 ? '0' : `0-${cores - 2}` };
}

function hasTaskset(): boolean {
  try {
    // With the present affinity of this very process: it says nothing where cores are not numbered from 0.
    return /: (0x)?[0-9a-f]+\s*$/.test(execFileSync('taskset', ['-p', String(process.pid)], { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return false;
  }
}

export interface ChildOptions {
  readonly cores: string | undefined;
  readonly env?: Readonly<Record<string, string>>;
  /** With a channel for messages. */
  readonly talks?: boolean;
  readonly nodeOptions?: readonly string[];
  readonly stderr?: 'inherit' | 'ignore';
}

/** Starts a script of Node in a process of its own. */
export const startNode = (script: string, args: readonly string[], options: ChildOptions): ChildProcess =>
  startProgram([process.execPath, ...(options.nodeOptions ?? []), script, ...args], options);

/** Starts a program in a process of its own; taskset becomes it, so that its pid is the program's. */
export function startProgram(command: readonly string[], options: Omit<ChildOptions, 'nodeOptions'>): ChildProcess {
  const { cores, env = {}, talks = false, stderr = 'inherit' } = options;
  const [program = '', ...rest] = cores === undefined ? command : ['taskset', '-c', cores, ...command];
  return spawn(program, rest, {
    env: { PATH: process.env.PATH, ...env },
    stdio: talks ? ['ignore', 'inherit', stderr, 'ipc'] : ['ignore', 'pipe', stderr],
    // JSON knows no NaN.
    serialization: 'advanced',
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** Waits until the process has printed a line that matches. @throws with what it printed when it ends before */
export async function printed(child: ChildProcess, line: RegExp): Promise<void> {
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (line.test(output)) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended early:\n${output}`)));
    child.once('error', reject);
  });
}

/** Waits until an address answers. @throws if the process ends first, or nothing answers in time */
export async function answering(child: ChildProcess, address: string, milliseconds = 300_000): Promise<void> {
  for (const end = Date.now() + milliseconds; ; await delay(200)) {
    const answer = await fetch(address, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) return;
    if (child.exitCode !== null || Date.now() > end) throw new Error(`nothing answers at ${address}`);
  }
}

/** Ends a process in order and waits for its end; kills it after a minute. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const killing = setTimeout(() => child.kill('SIGKILL'), 60_000);
  await exit;
  clearTimeout(killing);
}
