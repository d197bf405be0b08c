/** How long each test file took in an earlier run, and how the files are divided among processes because of it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(new URL('../../../test/support/durations.json', import.meta.url));
/** Seconds assumed for a file that is not listed. */
const UNKNOWN = 3;
/** Seconds below which it does not pay to divide a process's share further: each process loads and warms up the service. */
const SMALLEST_SHARE = 45;
/** How much of an equal part of what is left one process gets. Smaller shares balance better, and make more processes load the service. */
const SHARE_OF_EQUAL_PART = 0.85;
/** Of all files, how many may be missing in the list. */
const MISSING = 0.05;

/** Seconds by file, named as `admin/groups`. */
export type Durations = Readonly<Record<string, number>>;

/** @param file path of a compiled test, relative or absolute @returns its short name: `admin/groups` */
export const shortName = (file: string): string => file.replace(/^.*\bdist\/test\//, '').replace(/\.test\.[jt]s$/, '');

export const readDurations = (): Durations => JSON.parse(readFileSync(FILE, 'utf8')) as Durations;

/** @param ran short names @returns whether so many of them are missing in the list that a whole run is badly divided */
export function isOutdated(ran: readonly string[]): boolean {
  const known = readDurations();
  return ran.filter((name) => !(name in known)).length > MISSING * Object.keys(known).length;
}

const isThere = (name: string): boolean => existsSync(fileURLToPath(new URL(`../../../test/${name}.test.ts`, import.meta.url)));

/** Replaces what is known of these files, and forgets those that are gone; rounds to tenths of a second so that a repeated run changes few lines. */
export function writeDurations(measured: Durations): void {
  const all = Object.entries({ ...readDurations(), ...measured })
    .filter(([name]) => isThere(name))
    .map(([name, seconds]) => [name, Math.round(seconds * 10) / 10] as const);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`);
}

/** Files that have something in common are one piece; each other file is one. */
function piecesOf(files: readonly string[], common: (file: string) => string | undefined): string[][] {
  const pieces = new Map<string, string[]>();
  for (const file of files) {
    const name = common(file) ?? file;
    const piece = pieces.get(name);
    if (piece === undefined) pieces.set(name, [file]);
    else piece.push(file);
  }
  return [...pieces.values()];
}

/**
 * Divides files among processes: the longest files first, and each process's share smaller than the one before (guided
 * self-scheduling), so that all processes end at about the same time.
 * @param mustBeAlone files that need a process of their own
 * @param common names what files use that is made once for each process: they stay together
 * @param processes how many run at once
 */
export function divide(
  files: readonly string[],
  durations: Durations,
  { mustBeAlone, common, processes }: { mustBeAlone(file: string): boolean; common(file: string): string | undefined; processes: number },
): string[][] {
  const secondsOf = (piece: readonly string[]): number => piece.reduce((sum, file) => sum + (durations[shortName(file)] ?? UNKNOWN), 0);
  const shared = files.filter((file) => !mustBeAlone(file));
  const pieces = [...piecesOf(shared, common), ...files.filter(mustBeAlone).map((file) => [file])];
  const longestFirst = pieces.toSorted((a, b) => secondsOf(b) - secondsOf(a) || ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
  let left = secondsOf(files);
  const shares: { files: string[]; room: number }[] = [];
  let open: { files: string[]; room: number } | undefined;
  for (const piece of longestFirst) {
    const seconds = secondsOf(piece);
    if (piece.some(mustBeAlone)) shares.push({ files: piece, room: 0 });
    else {
      if (open === undefined || open.room < seconds) {
        open = { files: [], room: Math.max(SMALLEST_SHARE, (SHARE_OF_EQUAL_PART * left) / processes) };
        shares.push(open);
      }
      open.files.push(...piece);
      open.room -= seconds;
    }
    left -= seconds;
  }
  return shares.map((share) => share.files);
}
