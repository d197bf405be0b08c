/** The service as an operator runs it: the real command in a process of its own, told by environment and signals alone. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../src/cli/program.ts';
import { afterwards } from './afterwards.ts';
import { makeDataFolder } from './data-folder.ts';
import { ADMIN, API_TOKEN, callsTo, type ServiceCalls } from './service.ts';
import { START_OPTIONS } from './start-options.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
/** How the service is started, and what it prints when it is ready. */
export const SERVICE = { program: [process.execPath, ...START_OPTIONS, MAIN], ready: 'Gatehouse is ready:' };

export interface Command {
  readonly child: ChildProcess;
  /** What it has printed up to now. */
  readonly output: { readonly stdout: string; readonly stderr: string };
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Waits until it has printed this on its standard output. @throws when it ends before */
  printed(text: string): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

/** Runs the service; see `runCommand`. */
export const run = (t: TestContext, env: Readonly<Record<string, string>>, ...args: string[]): Command =>
  runCommand(t, 'main', env, ...args);

/** Runs a subcommand of `gatehouse` (`main`: the service) with nothing in its environment but what is given. It is ended with the test. */
export function runCommand(t: TestContext, name: string, env: Readonly<Record<string, string>>, ...args: string[]): Command {
  return spawnCommand(t, [...(name === 'main' ? SERVICE.program : [process.execPath, MAIN, name]), ...args], env);
}

/** Runs a program with nothing in its environment but what is given. It is ended with the test. */
export function spawnCommand(t: TestContext, [program = '', ...args]: readonly string[], env: Readonly<Record<string, string>>): Command {
  const child = spawn(program, args, {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const news = new EventEmitter();
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
      news.emit('text');
    });
  }
  let over = false;
  const ended = once(child, 'close').then(([code, signal]) => {
    over = true;
    news.emit('text');
    return code ?? signal;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  afterwards(t, () => stop());
  return {
    child,
    output,
    ended,
    stop,
    async printed(text) {
      while (!output.stdout.includes(text)) {
        assert.ok(!over, `ended without "${text}": ${output.stdout}${output.stderr}`);
        await once(news, 'text');
      }
    },
  };
}

/** What a command that was called here came to. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Calls a subcommand of `gatehouse` in this process, which spares the processor time of loading a program; with nothing in its environment but what is
 * given. A command whose process matters (signals, the embedded database) is run by `runCommand`.
 */
export async function callCommand(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const to = (stream: keyof typeof written) => ({ write: (text: string) => (written[stream] += text) });
  const code = await runProgram({ args, env, stdin: { isTTY: false }, stdout: to('stdout'), stderr: to('stderr') });
  return { code, ...written };
}

export type RunningService = Command & ServiceCalls;

/** Starts the service on a free port and waits until it is ready. The first administrator's password and token are those of the other tests. */
export async function runService(t: TestContext, env: Readonly<Record<string, string>>): Promise<RunningService> {
  const port = env.PORT ?? (await freePort());
  const defaults = { PORT: port, ADMIN_PASSWORD: ADMIN.password, ADMIN_API_TOKEN: API_TOKEN, LOG_LEVEL: 'error' };
  const command = run(t, { ...defaults, ...env });
  await command.printed(SERVICE.ready);
  return { ...command, ...callsTo(`http://localhost:${port}`) };
}

/** A port that nobody listens at, of those that the system gives to no connection meanwhile (it takes them from 32768 up). */
export async function freePort(): Promise<string> {
  for (;;) {
    const port = randomInt(10_000, 32_768);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return String(port);
  }
}

/** A DATA_DIR of its own, removed with the test; a server that a killed service left behind ends before. */
export function dataDirectory(t: TestContext): string {
  const folder = makeDataFolder();
  afterwards(t, async () => {
    const postmaster = postmasterOf(folder);
    if (postmaster !== undefined) {
      process.kill(postmaster, 'SIGQUIT');
      await gone(postmaster);
    }
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** @returns the process of the embedded PostgreSQL, if one runs */
export function postmasterOf(dataDir: string): number | undefined {
  const file = path.join(dataDir, 'postgres', 'pg18', 'data', 'postmaster.pid');
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n')[0]) : undefined;
}

/** Waits until no process has this number any more. */
export async function gone(pid: number): Promise<void> {
  await eventually(() => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  }, `process ${pid} ends`);
}

/** Asks again and again until the answer is truthy, at most a minute by a clock that no test moves. @returns that answer */
export async function eventually<T>(ask: () => T, what: string, seconds = 60): Promise<NonNullable<Awaited<T>>> {
  for (const end = process.hrtime.bigint() + BigInt(seconds) * 1_000_000_000n; ; ) {
    const answer = await ask();
    if (answer) return answer;
    assert.ok(process.hrtime.bigint() < end, `not within ${seconds} seconds: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
