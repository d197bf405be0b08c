/** The newest release in CHANGELOG.md, from the commit that added it there, with the dependencies of that commit. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folder } from './programs.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface FormerRelease {
  readonly version: string;
  /** The command that starts it. */
  readonly program: readonly string[];
}

const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8' }).trim();

/** Installs and compiles it, unless SOAK_FORMER names a folder where that was done. Needs a minute or two, the registry and the whole repository. */
export function formerRelease(t: TestContext): FormerRelease {
  const [heading, version] = /^## (\d\S*) .*/m.exec(readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8')) ?? [];
  assert.ok(heading !== undefined && version !== undefined, 'CHANGELOG.md has a release');
  return { version, program: [process.execPath, path.join(process.env.SOAK_FORMER ?? build(t, heading), 'dist/src/main.js')] };
}

/** @param heading of the release, with its date */
function build(t: TestContext, heading: string): string {
  const commit = git('log', '--reverse', '--format=%H', `-S${heading}`, '--', 'CHANGELOG.md').split('\n')[0];
  assert.ok(commit, `the history has "${heading}": clone the whole repository`);
  const home = folder(t);
  const archive = execFileSync('git', ['-C', ROOT, 'archive', commit], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['x', '-C', home], { input: archive });
  const options = { cwd: home, stdio: 'pipe' } as const;
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], options);
  execFileSync('npx', ['tsc'], options);
  return home;
}
