/** Do the receivers of signals get their events? */
import { RECEIVER_GONE } from '../../features/signals/signal-streams.resource.ts';
import { Broken, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

interface Stream {
  readonly id: string;
  readonly status: string;
  readonly statusReason: string | null;
  readonly delivery: { readonly method: string };
  readonly waiting: { readonly count: number; readonly oldest: string | null };
  readonly lastDelivered: string | null;
  readonly lastFailed: string | null;
  readonly lastError: string | null;
}

const MOST = 200;
/** Events that waited for this long are not fetched. */
const UNFETCHED = 3_600_000;

/** @returns what is wrong with the stream; undefined: nothing */
function problemOf({ id, status, statusReason, delivery, waiting, lastDelivered, lastFailed, lastError }: Stream): string | undefined {
  // By an administrator or the receiver it is as it should be; the service itself names the answer of the receiver.
  if (status === 'DISABLED' && statusReason === RECEIVER_GONE) return `${id}: disabled: ${statusReason}`;
  if (status !== 'ENABLED') return undefined;
  if (delivery.method !== 'POLL' && lastFailed !== null && (lastDelivered === null || lastDelivered < lastFailed))
    return `${id}: delivery failed at ${lastFailed}: ${lastError ?? ''}`;
  if (delivery.method === 'POLL' && waiting.oldest !== null && Date.now() - Date.parse(waiting.oldest) > UNFETCHED)
    return `${id}: ${waiting.count} ${waiting.count === 1 ? 'event has' : 'events have'} not been polled since ${waiting.oldest}`;
  return undefined;
}

export const signals: readonly Rule<CheckContext>[] = section('Signals', [
  {
    id: 'signals.delivered',
    sentence: 'Every enabled signal stream delivers its events, and no receiver has disabled its stream.',
    async run(ground) {
      const all = (await read(ground, `/ssf/streams?limit=${MOST}`)) as readonly Stream[];
      const problems = all.map(problemOf).filter((problem) => problem !== undefined);
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the stream under API → Signal streams`);
      return `${all.length} ${all.length === 1 ? 'stream' : 'streams'}${all.length === MOST ? ', the first' : ''}`;
    },
  },
]);
