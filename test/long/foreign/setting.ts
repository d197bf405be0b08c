/**
 * Client software of others, as its makers serve it: installed by its own package manager into a folder that goes with the test, and run as its
 * documentation begins. What is missing on this machine, a toolchain or the registry, is said, and the test is skipped.
 */
import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import type { ServiceCalls } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

type Environment = Readonly<Record<string, string>>;

/** @returns a folder with these files, removed with the test */
export function folderWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-foreign-'));
  // Go writes its modules read-only.
  afterwards(t, () => void rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

export interface Outcome {
  /** undefined: the program is not on this machine. */
  readonly code: number | undefined;
  readonly output: string;
}

/** Carries out a command to its end. */
export function runProgram(cwd: string, env: Environment, command: string, ...args: string[]): Promise<Outcome> {
  const options = { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024, timeout: 20 * 60_000 };
  return new Promise((resolve) => {
    execFile(command, args, options, (error: ExecFileException | null, stdout, stderr) => {
      const isMissing = error?.code === 'ENOENT';
      resolve({ code: isMissing ? undefined : error === null ? 0 : Number(error.code) || 1, output: `${stdout}${stderr}` });
    });
  });
}

/** As `runProgram`. @throws with all that it printed, when it fails */
export async function mustRun(cwd: string, env: Environment, command: string, ...args: string[]): Promise<string> {
  const { code, output } = await runProgram(cwd, env, command, ...args);
  if (code !== 0) throw new Error(`${[command, ...args].join(' ')} ended with ${code}:\n${output.slice(-6000)}`);
  return output;
}

/** Installs what a test needs. @returns why it cannot be done here; undefined when it was done */
export async function install(cwd: string, command: string, ...args: string[]): Promise<string | undefined> {
  const { code, output } = await runProgram(cwd, {}, command, ...args);
  if (code === undefined) return `${command} is not on this machine`;
  return code === 0 ? undefined : `${command} ${args.join(' ')}: ${output.trim().split('\n').slice(-3).join(' ')}`;
}

/** The packages of a Node application. */
export const npmInstall = (cwd: string, ...packages: string[]): Promise<string | undefined> =>
  install(cwd, 'npm', 'install', '--silent', '--no-audit', '--no-fund', '--ignore-scripts', ...packages);

/** A virtual environment in the folder. @returns its Python, and why there is none */
export async function pipInstall(cwd: string, ...packages: string[]): Promise<{ python: string; missing: string | undefined }> {
  const python = path.join(cwd, 'venv/bin/python');
  const missing =
    (await install(cwd, 'python3', '-m', 'venv', 'venv')) ?? (await install(cwd, python, '-m', 'pip', 'install', '-q', ...packages));
  return { python, missing };
}

const READY = /listening|development server at|running on|serving scim on|resuming normal operations|cookie settings/i;
/** Milliseconds for a start: on a busy machine Spring Boot takes more than a minute. */
const PATIENCE = 180_000;

/** Starts an application that says in its own words when it is ready; it is ended with the test. */
export async function startApplication(
  t: TestContext,
  cwd: string,
  env: Environment,
  command: string,
  ...args: string[]
): Promise<() => string> {
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const ended = once(child, 'close');
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    const read = (text: Buffer) => {
      output += text;
      if (READY.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then(() => reject(new Error(`${command} ended:\n${output.slice(-6000)}`)));
    setTimeout(() => reject(new Error(`${command} is not ready:\n${output.slice(-6000)}`)), PATIENCE).unref();
  });
  afterwards(t, async () => {
    // With its children, of which `go run` and development servers have some.
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    await ended;
  });
  await ready;
  return () => output;
}

/** Follows an application to the sign-in page and back. @param begin an address of the application, or the page that it answered with */
export async function signInBy(
  service: ServiceCalls,
  application: UserAgent,
  begin: string | Page,
  user: { login: string; password: string },
): Promise<Page> {
  const left = typeof begin === 'string' ? await application.visit(begin) : begin;
  if (left.url.origin !== new URL(service.baseUrl).origin) throw new Error(`${left.url} ${left.status}: ${left.text.slice(0, 2000)}`);
  const browser = new UserAgent(service.baseUrl);
  const back = await browser.signIn(await browser.visit(left.url), user);
  if (back.url.origin !== application.origin) throw new Error(`${back.url} ${back.status}: ${back.text.slice(0, 2000)}`);
  return application.visit(back.url);
}

/** The rules of OpenID Connect Core for the default server: some clients send no `state`, or one that profile `service` refuses. */
export async function useProfileOpenid(service: ServiceCalls): Promise<void> {
  const { body } = await service.api('GET', '/authorizationServers/default');
  const { status } = await service.api('PUT', '/authorizationServers/default', { ...body, profile: 'openid' });
  if (status !== 200) throw new Error(`the profile was not changed: ${status}`);
}
