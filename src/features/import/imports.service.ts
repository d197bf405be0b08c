/** Imports a whole file: objects one by one, users in batches, in the order of the file. */
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { importObject, type ObjectItem, type ObjectKind } from './directory-import.service.ts';
import type { ImportItem } from './import-record.service.ts';
import { type ImportRefusal, type ImportRun, importBatch } from './user-batches.service.ts';

/** Maximum users per transaction: few enough for the locks of their names, and enough to make the number of statements insignificant. */
const BATCH = 500;

export interface ImportCounts {
  /** Number of imported users; in a dry run, of users who would be imported. */
  readonly imported: number;
  /** Number of users and objects that are not imported. */
  readonly refused: number;
  /** Number of users who already existed and are unchanged. */
  readonly existing: number;
  /** Last line up to which everything was imported or refused; 0 if the file is not a list of lines. */
  readonly lastLine: number;
  /** Kinds of data that are not imported, with an alternative for each. */
  readonly left: ReadonlyMap<string, { readonly count: number; readonly instead: string }>;
  readonly things: Readonly<Record<ObjectKind, { readonly created: number; readonly existing: number }>>;
}

export interface ImportOptions {
  readonly isDryRun?: boolean;
  /** Must users have all required custom attributes? */
  readonly isComplete: boolean;
  /** Stops reading; the current batch is completed, and further records that were read are dropped. */
  readonly signal: AbortSignal;
  onRefused(refusal: ImportRefusal): void;
  /** Called with the outcome of each object. */
  onObject?(kind: ObjectKind, state: 'created' | 'there already', name: string): void;
  /** Called for data that is not imported. */
  onNote?(message: string): void;
  /** Called after each batch and each object. */
  onProgress?(counts: ImportCounts): void;
}

const noObjects = () => ({ created: 0, existing: 0 });

/**
 * Imports the records that a format finds in a file.
 * @throws errors that prevent any import, e.g. an unreachable database; records counted before are imported
 */
export async function importItems(
  services: Services,
  items: AsyncIterable<ImportItem>,
  request: RequestContext,
  { isDryRun = false, isComplete, signal, onRefused, onObject, onNote, onProgress }: ImportOptions,
): Promise<ImportCounts> {
  const things = { organization: noObjects(), group: noObjects(), application: noObjects(), provider: noObjects() };
  const counts = { imported: 0, refused: 0, existing: 0, lastLine: 0, left: new Map<string, { count: number; instead: string }>(), things };
  const run: ImportRun = {
    ...{ services, request, isDryRun, isComplete, seen: new Set(), seenAddresses: new Set(), leftOut: new Map(), notTaken: new Map() },
    planned: { organizations: new Map(), groups: new Set(), providers: new Map(), applications: new Map() },
    ...{ providers: new Set(), refusedProviders: new Set(), refusedOrganizations: new Set() },
  };
  const refuse = (refusal: ImportRefusal) => {
    counts.refused += 1;
    onRefused(refusal);
  };
  let batch: (ImportItem & { kind: 'user' | 'refused' })[] = [];
  const flush = async () => {
    const users = batch.filter((item) => item.kind === 'user');
    const outcome = await importBatch(run, users);
    counts.imported += outcome.imported;
    counts.existing += outcome.existing;
    const refusals = [...batch.filter((item) => item.kind === 'refused'), ...outcome.refused];
    for (const refusal of inOrder(refusals)) refuse({ place: refusal.place, reasons: refusal.reasons });
    counts.lastLine = Math.max(counts.lastLine, ...batch.map(({ place }) => lineOf(place)));
    batch = [];
    onProgress?.(counts);
  };

  for await (const item of items) {
    if (signal.aborted) break;
    if (item.kind === 'note') onNote?.(item.message);
    else if (item.kind === 'left') {
      const { what, instead, count } = item;
      counts.left.set(what, { instead, count: count + (counts.left.get(what)?.count ?? 0) });
    } else if (item.kind === 'user' || item.kind === 'refused') {
      if (item.kind === 'refused' && item.provider !== undefined) run.refusedProviders.add(item.provider);
      batch.push(item);
      if (batch.length === BATCH) await flush();
    } else {
      await flush();
      const outcome = await importObject(run, item as ObjectItem);
      if (outcome.state === 'refused') refuse({ place: item.place, reasons: outcome.reasons });
      else {
        things[item.kind][outcome.state === 'created' ? 'created' : 'existing'] += 1;
        onObject?.(item.kind, outcome.state, outcome.name);
      }
    }
  }
  if (!signal.aborted) await flush();
  for (const [name, users] of run.leftOut)
    onNote?.(`The attribute ${name} of ${users} users is not imported: users have no such attribute here.`);
  for (const [name, users] of run.notTaken)
    onNote?.(`The attribute ${name} of ${users} users is not imported: users wrote it themselves, and may not change it here.`);
  return counts;
}

const lineOf = (place: ImportRefusal['place']): number => ('line' in place ? place.line : 0);

/** Sorts by line. Entries of documents keep their order. */
const inOrder = <T extends { readonly place: ImportRefusal['place'] }>(refusals: readonly T[]): T[] =>
  [...refusals].sort((one, other) => lineOf(one.place) - lineOf(other.place));
