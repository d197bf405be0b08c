/** How tests go through Applications: create one on the console's forms, read what its pages offer, and run the snippets as they are shown. */
import assert from 'node:assert/strict';
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { afterwards } from '../../support/afterwards.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';

const plain = (html: string): string =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#34;', '"')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** A fact of a sheet that can be copied. */
export const factIn = ({ text }: Page, label: string): string | undefined => {
  const found = new RegExp(`<dt>${label}</dt><dd>\\s*<code id="[^"]*">([^<]*)</code>`).exec(text)?.[1];
  return found === undefined ? undefined : plain(found);
};

export interface Created {
  readonly id: string;
  readonly secret: string | undefined;
  readonly page: Page;
}

/** Creates an application as an administrator does: its kind first, then its fields. */
export async function createApplication(
  agent: UserAgent,
  kind: string,
  typed: Record<string, string | readonly string[]>,
): Promise<Created> {
  const form = await agent.submit(await agent.visit('/admin/applications/new'), 'console-form', { kind });
  assert.equal(form.url.pathname, `/admin/applications/new/${kind}`);
  const page = await agent.submit(form, 'console-form', typed);
  const id = factIn(page, 'Client ID');
  assert(id !== undefined, page.text);
  return { id, secret: factIn(page, 'Client secret'), page };
}

/** The files of a snippet, as the page shows them. */
export function filesIn({ text }: Page): ReadonlyMap<string, string> {
  const files = text.matchAll(/<pre id="[\w-]+-\d+"[^>]*aria-label="Content of ([^"]*)">([\s\S]*?)<\/pre>/g);
  return new Map([...files].map(([, name = '', content = '']) => [name, plain(content)]));
}

/** Lays files into a directory of their own, beside this project's packages. */
export async function layDown(t: TestContext, files: ReadonlyMap<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'snippet-'));
  afterwards(t, () => rm(directory, { recursive: true }));
  for (const [name, text] of files) await writeFile(path.join(directory, name), text);
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  return directory;
}

export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  /** Waits until it has said something like this. @returns all that it has said */
  said(words: RegExp): Promise<string>;
  /** Waits for its end. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>;
}

/** Runs a command until it or the test ends. @param secret of the client, or variables of its environment */
export function run(
  t: TestContext,
  directory: string,
  command: string,
  args: readonly string[],
  secret?: string | Readonly<Record<string, string>>,
): Running {
  const own = typeof secret === 'string' ? { CLIENT_SECRET: secret } : secret;
  const child = spawn(command, args, { cwd: directory, env: { PATH: process.env.PATH ?? '', ...own } });
  let output = '';
  const heard = new Set<() => void>();
  const hear = (chunk: Buffer) => {
    output += String(chunk);
    for (const look of heard) look();
  };
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  const ended = new Promise<{ code: number | null; output: string }>((resolve) => child.on('close', (code) => resolve({ code, output })));
  afterwards(t, async () => {
    child.kill();
    await ended;
  });
  const said = (words: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = () => words.test(output) && resolve(output);
      heard.add(look);
      look();
      ended.then(({ output: all }) => (words.test(all) ? resolve(all) : reject(new Error(`ended without ${words}: ${all}`))));
    });
  return { process: child, said, ended };
}
