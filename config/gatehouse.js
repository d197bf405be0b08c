#!/usr/bin/env node
// npx links to the file that package.json names, at its first call and never again. This one exists in a clone before it is compiled.
import { existsSync } from 'node:fs';

const program = new URL('../dist/src/main.js', import.meta.url);
if (existsSync(program)) await import(program.href);
else {
  console.error('Gatehouse is not compiled yet. Run: npm ci && npm run build');
  process.exitCode = 1;
}
