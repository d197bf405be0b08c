/**
 * Countries of network addresses, from a file in the MaxMind DB format (version 2.0) that the operator provides and updates. Nothing is downloaded.
 */
import { readFile, stat } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { Reader } from 'mmdb-lib';

/** The parts of a record with its country, in GeoLite2, GeoIP2 and compatible databases. */
interface CountryRecord {
  readonly country?: { readonly iso_code?: string };
  readonly registered_country?: { readonly iso_code?: string };
}

export interface CountryDatabase {
  /** Build time of the file. */
  readonly built: Date;
  /** @returns the country code (ISO 3166-1 alpha-2); undefined: the file has none for the address */
  countryOf(address: string): string | undefined;
}

/** @throws if the file cannot be read or is not such a database */
export async function openCountryDatabase(file: string): Promise<CountryDatabase> {
  // The library's types have only the records of MaxMind's own products.
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

/** Interval in milliseconds of checking whether the file was replaced. */
const LOOK_MS = 60_000;

interface Opened {
  readonly lookedAt: number;
  /** Modification time and size of the file; '': it could not be read. */
  readonly version: string;
  readonly database: CountryDatabase | undefined;
}

const opened = new Map<string, Promise<Opened>>();

/**
 * The database, opened once per process and again when the file is replaced. If the file cannot be read, the former one stays in use.
 * @param failed called with the error whenever the file cannot be read
 * @returns undefined: the file could never be read
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
