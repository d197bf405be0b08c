/** Each property of test/properties, twenty times as often and with other inputs in each run. */
import { readdirSync } from 'node:fs';
import { tryMore } from '../properties/checking.ts';

/** Their sources, so that what was compiled of a deleted one is not tried. */
const SOURCES = new URL('../../../test/properties/', import.meta.url);

tryMore(20);
for (const name of readdirSync(SOURCES).filter((file) => file.endsWith('.test.ts'))) {
  await import(new URL(`../properties/${name.replace(/\.ts$/, '.js')}`, import.meta.url).href);
}
