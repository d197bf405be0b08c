/** Countries of network addresses, from a file in the MaxMind DB format (version 2.0) that the operator keeps up to date. Nothing is downloaded. */
import { readFile, stat } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { Reader } from 'mmdb-lib';

/** The parts of a record that name its country, in GeoLite2, GeoIP2 and databases made like them. */
interface CountryRecord {
  readonly country?: { readonly iso_code?: string };
  readonly registered_country?: { readonly iso_code?: string };
}

export interface CountryDatabase {
  /** When its maker built it. */
  readonly built: Date;
  /** @returns the code of ISO 3166-1 (two letters); undefined: the file has none for the address */
  countryOf(address: string): string | undefined;
}

/** @throws when the file cannot be read or is not such a database */
export async function openCountryDatabase(file: string): Promise<CountryDatabase> {
  // Its declarations know only the records of MaxMind's own products.
  const reader = new Reader<never>(await readFile(file)) as unknown as Pick<Reader<never>, 'metadata'> & { get(address: string): unknown };
  return {
    built: reader.metadata.buildEpoch,
    countryOf(address) {
      const bare = address.replace(/%.*/, '');
      if (!ipaddr.isValid(bare)) return undefined;
      const found = reader.get(ipaddr.process(bare).toString()) as CountryRecord | null;
      const code = found?.country?.iso_code ?? found?.registered_country?.iso_code;
      return code !== undefined && /^[A-Z]{2}$/.test(code) ? code : undefined;
    },
  };
}

/** Milliseconds between two looks whether the file was replaced. */
const LOOK_MS = 60_000;

interface Opened {
  readonly lookedAt: number;
  /** When the file was last changed, and its size; '': it could not be read. */
  readonly version: string;
  readonly database: CountryDatabase | undefined;
}

const opened = new Map<string, Promise<Opened>>();

/**
 * The database, opened once in a process and again when the file was replaced. A file that cannot be read leaves the former one in use.
 * @param failed called with the error whenever the file cannot be read
 * @returns undefined: there has been none that could be read
 */
export async function currentCountryDatabase(file: string, failed: (error: unknown) => void): Promise<CountryDatabase | undefined> {
  const before = opened.get(file);
  const known = await before;
  if (known !== undefined && performance.now() - known.lookedAt < LOOK_MS) return known.database;
  // Of concurrent requests, one loads the file.
  if (opened.get(file) === before) opened.set(file, look(file, known, failed));
  return (await opened.get(file))?.database;
}

async function look(file: string, known: Opened | undefined, failed: (error: unknown) => void): Promise<Opened> {
  const lookedAt = performance.now();
  try {
    const { mtimeMs, size } = await stat(file);
    const version = `${mtimeMs} ${size}`;
    if (known !== undefined && version === known.version) return { ...known, lookedAt };
    return { lookedAt, version, database: await openCountryDatabase(file) };
  } catch (error) {
    failed(error);
    return { lookedAt, version: '', database: known?.database };
  }
}
