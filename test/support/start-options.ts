/** What Node is told when the service starts, as `npm start` has it. */
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
const [, options] = / exec node (.*)dist\/src\/main\.js$/.exec(manifest.scripts.start) ?? [];
if (options === undefined) throw new Error('package.json: npm start does not start dist/src/main.js');

export const START_OPTIONS: readonly string[] = options.split(' ').filter((option) => option !== '');
