/** Where commands and programs of the documentation are carried out, as the Markdown has them: only addresses and `npx gatehouse` are put in place. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { dataDirectory, freePort, type RunningService, runService } from '../support/process.ts';
import { API_TOKEN } from '../support/service.ts';

const MAIN = path.resolve('dist/src/main.js');
export const PASSWORD = 'correct horse battery';
/** Each block that was carried out. The last test finds the blocks that were not. */
export const carriedOut: string[] = [];

export interface Place {
  /** Where somebody who reads the page stands: data/ is below. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly service: RunningService;
  readonly application: string;
  /** Puts the addresses of this run in place. */
  fit(text: string): string;
}

export async function place(t: TestContext, more: Readonly<Record<string, string>> = {}): Promise<Place> {
  const folder = dataDirectory(t);
  mkdirSync(path.join(folder, 'data'), { mode: 0o777 });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  const env = { ...more, DATA_DIR: path.join(folder, 'data'), PORT: await freePort() };
  const service = await runService(t, env);
  const application = `http://localhost:${await freePort()}`;
  const fit = (text: string) =>
    text
      .replaceAll(/http:\/\/localhost:3000|https:\/\/id\.example\.com(?=\/api)/g, service.baseUrl)
      .replaceAll('http://localhost:8080', application)
      .replaceAll('.listen(8080)', `.listen(${new URL(application).port})`)
      .replaceAll('my-first-api-token-0123456789-abcdef', API_TOKEN)
      .replaceAll('npx gatehouse', `${process.execPath} ${MAIN}`)
      .replaceAll(/^npm start$/gm, '');
  return { folder, env, service, application, fit };
}

/** A refusal of a call fails its block. */
const FAILS = 'curl() { command curl --fail-with-body --show-error "$@"; }\n';

/** Carries out a block. @param input its standard input, once it has printed something @returns what it printed */
export async function shell(t: TestContext, at: Place, text: string, input?: (printed: string) => Promise<string>): Promise<string> {
  carriedOut.push(text);
  const child = spawn('bash', ['--norc', '-euc', `${at.env.ALLOW_REFUSALS === 'true' ? '' : FAILS}${at.fit(text)}`], {
    cwd: at.folder,
    env: {
      PATH: process.env.PATH ?? '',
      TOKEN: API_TOKEN,
      API_TOKEN,
      BASE_URL: at.service.baseUrl,
      ...at.env,
      GATEHOUSE_URL: at.service.baseUrl,
    },
  });
  afterwards(t, () => void child.kill());
  let output = '';
  let given = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', async (part: string) => {
      output += part;
      if (input === undefined || given || !/^http\S+\n/m.test(output)) return;
      given = true;
      child.stdin.end(`${await input(output)}\n`);
    });
  }
  if (input === undefined) child.stdin.end();
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${text}\n${output}`);
  return output;
}

/** Starts a program of a page. */
export function startProgram(
  t: TestContext,
  at: Place,
  name: string,
  text: string,
  env: Readonly<Record<string, string>> = {},
): { readonly output: () => string; readonly ended: Promise<unknown> } {
  carriedOut.push(text);
  writeFileSync(path.join(at.folder, name), at.fit(text));
  const child = spawn(process.execPath, [name], { cwd: at.folder, env: { ...process.env, TOKEN: API_TOKEN, ...env } });
  afterwards(t, () => void child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (output += part));
  return { output: () => output, ended: once(child, 'close') };
}

export const isUp = async (origin: string): Promise<boolean> =>
  fetch(origin, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );

/** The same place, with these variables for its commands. */
export const withEnv = (at: Place, env: Readonly<Record<string, string>>): Place => ({ ...at, env: { ...at.env, ...env } });
