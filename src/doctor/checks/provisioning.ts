/** Do the SCIM targets of applications take their users? */
import { Broken, type Rule, section } from '../rule.ts';
import { type CheckContext, read } from './check-context.ts';

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
    async run(ground) {
      const all = (await read(ground, '/provisioning?limit=200')) as readonly Target[];
      const active = all.filter(({ status }) => status === 'ACTIVE');
      const problems: string[] = [];
      for (const { applicationId, awaySince, awayReason, lastOutage } of active) {
        if (awaySince !== null) problems.push(`${applicationId}: unreachable since ${awaySince}: ${awayReason ?? ''}`);
        else if (lastOutage !== null && lastOutage.inARow >= OFTEN && Date.now() - Date.parse(lastOutage.until) < HOUR)
          problems.push(
            `${applicationId}: unreachable ${lastOutage.inARow} times in a row, last until ${lastOutage.until}: ${lastOutage.reason}`,
          );
        const at = `/apps/${encodeURIComponent(applicationId)}/provisioning/resources?state=FAILED&limit=1`;
        const [failed] = (await read(ground, at)) as readonly Failed[];
        if (failed !== undefined) problems.push(`${applicationId}: ${failed.name}: ${failed.error ?? ''}`);
      }
      if (problems.length > 0) throw new Broken(`${problems.join('; ')}. Open the Provisioning tab of the application`);
      return `${active.length} ${active.length === 1 ? 'target' : 'targets'}`;
    },
  },
]);
