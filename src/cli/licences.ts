/**
 * The command that lists the licences of the delivered packages: `gatehouse licences`, from package-lock.json, for every platform, without
 * development dependencies. Exit code 1 if a licence is not allowed or unknown.
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { command } from './command.ts';
import { print } from './terminal.ts';

/** SPDX licences that require attribution only and put no conditions on the service. */
const ALLOWED: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Unlicense',
]);

const lock = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      license: z.string().optional(),
      dev: z.boolean().default(false),
      devOptional: z.boolean().default(false),
    }),
  ),
});

export interface Delivered {
  readonly name: string;
  readonly version: string;
  /** SPDX identifier of the package; undefined: none. */
  readonly licence: string | undefined;
  readonly isAllowed: boolean;
}

/** @param text of a package-lock.json @returns the delivered packages by name */
export function deliveredPackages(text: string): readonly Delivered[] {
  return Object.entries(lock.parse(JSON.parse(text)).packages)
    .filter(([place, { dev, devOptional }]) => place !== '' && !dev && !devOptional)
    .map(([place, { version = '', license: licence }]) => ({
      name: place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length),
      version,
      licence,
      isAllowed: isAllowed(licence),
    }))
    .sort((a, b) => `${a.name} ${a.version}`.localeCompare(`${b.name} ${b.version}`));
}

/** One allowed licence is enough for `(MIT OR GPL-3.0)`; `MIT AND ISC` needs both. */
function isAllowed(licence: string | undefined): boolean {
  const choices = (licence ?? '').replace(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((one) => ALLOWED.has(one)));
}

export const licences = command(1, async ({ stdout }) => {
  const delivered = deliveredPackages(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'));
  for (const { name, version, licence, isAllowed: may } of delivered)
    print(stdout, `${name} ${version}: ${licence ?? 'UNKNOWN'}${may ? '' : '  NOT ALLOWED'}`);
  const forbidden = delivered.filter((one) => !one.isAllowed).length;
  print(stdout, `${delivered.length} packages, ${forbidden} with a licence that is not allowed.`);
  return forbidden > 0 ? 1 : 0;
});
