/**
 * Do the receivers outside the service respond: inline hooks (the last call of each; the doctor itself calls none), SCIM targets of
 * applications, and receivers of signals?
 */

import { RECEIVER_GONE } from '../../features/signals/signal-streams.resource.ts';
import { Broken, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

interface Hook {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

interface Asked {
  readonly published: string;
  readonly outcome: { readonly result: string; readonly reason: string | null };
}

export const hooks: readonly Rule<CheckContext>[] = section('Hooks', [
  {
    id: 'hooks.answer',
    sentence: 'The last call of every active inline hook in the past seven days succeeded.',
    async run(context) {
      const active = ((await read(context, '/inlineHooks?limit=200')) as readonly Hook[]).filter(({ status }) => status === 'ACTIVE');
      const problems: string[] = [];
      for (const { id, name } of active) {
        const filter = encodeURIComponent(`eventType eq "inline_hook.executed" and target.id eq "${id}"`);
        const [last] = (await read(context, `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`)) as readonly Asked[];
        if (last?.outcome.result === 'FAILURE') problems.push(`${name}: ${last.outcome.reason ?? ''} (${last.published})`);
      }
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the hook in the console and test it`);
      return `${active.length} ${active.length === 1 ? 'hook' : 'hooks'}`;
    },
  },
]);

interface Target {
  readonly applicationId: string;
  readonly status: string;
  readonly awaySince: string | null;
  readonly awayReason: string | null;
  readonly lastOutage: { readonly until: string; readonly reason: string; readonly inARow: number } | null;
}

/** Number of consecutive outages, less than an hour apart, that count as unstable. */
const OFTEN = 3;
const HOUR = 3_600_000;

interface Failed {
  readonly name: string;
  readonly error: string | null;
}

export const provisioning: readonly Rule<CheckContext>[] = section('Provisioning', [
  {
    id: 'provisioning.pushed',
    sentence: 'Every active SCIM target responds and accepts all users and groups.',
    async run(context) {
      const all = (await read(context, '/provisioning?limit=200')) as readonly Target[];
      const active = all.filter(({ status }) => status === 'ACTIVE');
      const problems: string[] = [];
      for (const { applicationId, awaySince, awayReason, lastOutage } of active) {
        if (awaySince !== null) problems.push(`${applicationId}: unreachable since ${awaySince}: ${awayReason ?? ''}`);
        else if (lastOutage !== null && lastOutage.inARow >= OFTEN && Date.now() - Date.parse(lastOutage.until) < HOUR)
          problems.push(
            `${applicationId}: unreachable ${lastOutage.inARow} times in a row, last until ${lastOutage.until}: ${lastOutage.reason}`,
          );
        const at = `/apps/${encodeURIComponent(applicationId)}/provisioning/resources?state=FAILED&limit=1`;
        const [failed] = (await read(context, at)) as readonly Failed[];
        if (failed !== undefined) problems.push(`${applicationId}: ${failed.name}: ${failed.error ?? ''}`);
      }
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the Provisioning tab of the application`);
      return `${active.length} ${active.length === 1 ? 'target' : 'targets'}`;
    },
  },
]);

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

/** @returns the stream's problem; undefined: none */
function problemOf({ id, status, statusReason, delivery, waiting, lastDelivered, lastFailed, lastError }: Stream): string | undefined {
  // Not a problem if an administrator or the receiver disabled the stream. The service itself sets this reason.
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
    async run(context) {
      const all = (await read(context, `/ssf/streams?limit=${MOST}`)) as readonly Stream[];
      const problems = all.map(problemOf).filter((problem) => problem !== undefined);
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the stream under API → Signal streams`);
      return `${all.length} ${all.length === 1 ? 'stream' : 'streams'}${all.length === MOST ? ', the first' : ''}`;
    },
  },
]);
