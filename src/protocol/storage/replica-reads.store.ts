/** Looks up tokens on a read replica, which also returns the age of its data. */
import { batch } from '../../platform/database/batch.ts';
import type { ReadReplica } from '../../platform/database/database.ts';
import { type FoundModel, type FoundRow, findModelsText, lookupColumns, type ModelLookup, modelIn } from './protocol-state.store.ts';

const FIND = { name: 'find-models-at-replica', text: findModelsText('(SELECT beat FROM read_heartbeats WHERE id = $5) AS beat,') };
const MOST_TOGETHER = 100;

interface Question {
  readonly look: ModelLookup;
  readonly heartbeat: string;
}
type Row = FoundRow & { readonly beat: number | null };
type Answer = { readonly value: FoundModel; readonly beat: number | null } | undefined;

const findModels = batch(async (pool, questions: readonly Question[]) => {
  const looks = questions.map(({ look }) => look);
  const values = [...lookupColumns(looks), questions[0]?.heartbeat];
  const { rows } = await pool.query<Row>({ ...FIND, values });
  const found: Answer[] = questions.map(() => undefined);
  for (const row of rows) {
    const value = modelIn(row, looks);
    if (value !== undefined) found[row.place - 1] = { value, beat: row.beat };
  }
  return found;
}, MOST_TOGETHER);

/** @returns undefined: not found on the replica, or the replica is not used */
export const findModelOnReplica = (replica: ReadReplica, value: string, serverKey: number, now: number): Promise<FoundModel | undefined> =>
  replica.read((pool, heartbeat) => findModels(pool, { look: { value, serverKey, now }, heartbeat }));
