/** What is measured: a service that runs in a process of its own, on loopback, and what a flow must know to speak to it. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Plain data: it travels to the generator's process. */
export interface Target {
  readonly name: string;
  /** The process whose CPU time counts, with all that descend from it. */
  readonly pid: number;
  /** Where the server with opaque access tokens has its endpoints (`/token`, `/introspect`, `/userinfo`). */
  readonly opaque: string;
  /** Where the server with JWT access tokens has them. */
  readonly jwt: string;
  /** A confidential client, by `client_secret_basic`. */
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface RunningTarget {
  readonly target: Target;
  /** Tokens of one user, opaque, each pair of a family of its own, scope {@link SCOPE}. */
  issueTokens(count: number): Promise<Tokens[]>;
  stop(): Promise<void>;
}

export const SCOPE = 'openid profile email offline_access';
/** The baseline's; Gatehouse makes its own. */
export const CLIENT = { id: 'bench', secret: 'a-secret-of-at-least-thirty-two-characters' };
export const USER = { login: 'bench', email: 'bench@example.com', firstName: 'Ada', lastName: 'Lovelace' };

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

/** Ends a process in order and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}
