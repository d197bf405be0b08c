/** `npm run dev`: compiles on every change and restarts the service with the result. Ctrl-C ends both. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const compiler = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const watched = ['dist/src', 'dist/config', 'dist/migrations', 'views'].map((folder) => `--watch-path=${folder}`);

const children: readonly ChildProcess[] = [
  [compiler, '--watch', '--incremental', '--preserveWatchOutput'],
  [...watched, '--watch-preserve-output', 'dist/src/main.js'],
].map((command) => spawn(process.execPath, command, { stdio: 'inherit' }));

const end = (): void => {
  for (const child of children) child.kill('SIGTERM');
};
process.on('SIGINT', end);
process.on('SIGTERM', end);
// Each is useless without the other.
for (const child of children) child.once('exit', end);
