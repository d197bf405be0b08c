/**
 * All columns with values encrypted under SECRET_KEY, so that they can be encrypted again. The other SQL on these tables is elsewhere. A value is
 * replaced only if it is still the one that was read, so concurrent changes win.
 */
import type { Executor } from '../../platform/database/database.ts';

/** A column with sealed values: directly, or as members `sealed` of JSON. */
export interface SealedColumn {
  readonly table: string;
  readonly column: string;
  readonly json: boolean;
  /** Column that identifies the row. */
  readonly key: string;
  readonly keyType: 'text' | 'bigint';
}

const plain = (table: string, column: string, key = 'id'): SealedColumn => ({ table, column, json: false, key, keyType: 'text' });

/** Keys and secrets first: a rotation waits for these. */
export const SEALED_COLUMNS = {
  signingKeys: plain('signing_keys', 'private_sealed', 'kid'),
  applicationSecrets: plain('application_secrets', 'secret_sealed'),
  providerSecrets: plain('identity_providers', 'client_secret_sealed'),
  hookSecrets: plain('event_hooks', 'signing_secret_sealed'),
  formerHookSecrets: plain('event_hooks', 'previous_secret_sealed'),
  inlineHookSecrets: plain('inline_hooks', 'signing_secret_sealed'),
  formerInlineHookSecrets: plain('inline_hooks', 'previous_secret_sealed'),
  provisioningSecrets: plain('provisioning_targets', 'secret_sealed', 'application_id'),
  signalAuthorizations: plain('signal_streams', 'authorization_sealed'),
  settings: { ...plain('settings', 'value', 'name'), json: true },
  hookHeaders: { ...plain('event_hooks', 'channel'), json: true },
  inlineHookHeaders: { ...plain('inline_hooks', 'channel'), json: true },
  factors: plain('user_factors', 'sealed_secret'),
  signInStates: plain('sign_in_states', 'sealed_secret'),
  emailCodes: plain('email_codes', 'sealed'),
  phoneNumbers: plain('message_factors', 'number_sealed'),
  repeatableAnswers: plain('idempotent_calls', 'answer_sealed'),
  devInbox: plain('dev_inbox', 'sealed'),
  outbox: { table: 'outbox', column: 'payload', json: true, key: 'seq', keyType: 'bigint' },
} as const satisfies Record<string, SealedColumn>;

export type SealedColumnName = keyof typeof SEALED_COLUMNS;

/**
 * IDs of keys are base64url, so they have no special characters of regular expressions. JSON escapes quotation marks in a text, so no text can
 * imitate the member.
 */
const KEY_ID = '[A-Za-z0-9_-]{8}';
const patternOf = ({ json }: SealedColumn, id: string): string => `${json ? '"sealed": "' : '^'}v1\\.${id}\\.`;

/** Number of values of a column per key. */
export async function countByKey(executor: Executor, place: SealedColumn): Promise<ReadonlyMap<string, number>> {
  const { rows } = await executor.raw<{ rows: { id: string; count: number }[] }>(
    `SELECT found[1] AS id, count(*)::int AS count FROM ??, regexp_matches(??::text, ?, 'g') AS found GROUP BY 1`,
    [place.table, place.column, patternOf(place, `(${KEY_ID})`)],
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Number of values of a table encrypted with one key. */
export interface Sealed {
  readonly table: string;
  readonly keyId: string;
  readonly count: number;
}

/** Counts all sealed values; reads every row of these tables. */
export async function countSealed(executor: Executor): Promise<Sealed[]> {
  const sealed: Sealed[] = [];
  for (const place of Object.values(SEALED_COLUMNS)) {
    for (const [keyId, count] of await countByKey(executor, place)) sealed.push({ table: place.table, keyId, count });
  }
  return sealed;
}

export interface SealedRow {
  readonly key: string;
  /** The column as text. */
  readonly value: string;
}

/** Rows with a value under another key, in the order of their keys. @param after key of the previous row; undefined: from the start */
export async function listSealedOtherwise(
  executor: Executor,
  place: SealedColumn,
  { keyId, after, limit }: { readonly keyId: string; readonly after: string | undefined; readonly limit: number },
): Promise<SealedRow[]> {
  const { table, column, key, keyType } = place;
  const { rows } = await executor.raw<{ rows: SealedRow[] }>(
    `SELECT ??::text AS key, ??::text AS value FROM ??
      WHERE ??::text ~ ? AND (?::${keyType} IS NULL OR ?? > ?::${keyType}) ORDER BY ??.?? LIMIT ?`,
    [key, column, table, column, patternOf(place, `(?!${keyId}\\.)${KEY_ID}`), after ?? null, key, after ?? null, table, key, limit],
  );
  return rows;
}

/** Replaces values that have not changed since they were read. @returns the number of replaced values */
export async function replaceSealed(
  executor: Executor,
  { table, column, json, key, keyType }: SealedColumn,
  changes: readonly (SealedRow & { readonly resealed: string })[],
): Promise<number> {
  const type = json ? 'jsonb' : 'text';
  const { rowCount } = await executor.raw<{ rowCount: number }>(
    `UPDATE ?? SET ?? = changed.resealed::${type}
      FROM unnest(?::${keyType}[], ?::text[], ?::text[]) AS changed (key, value, resealed) WHERE ??.?? = changed.key AND ??.?? = changed.value::${type}`,
    [
      table,
      column,
      changes.map((change) => change.key),
      changes.map(({ value }) => value),
      changes.map(({ resealed }) => resealed),
      ...[table, key, table, column],
    ],
  );
  return rowCount;
}
