/** State of e-mail: queued messages and recent failures. */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { countFailures } from '../audit/audit.store.ts';
import { kindLoad } from '../outbox/outbox.store.ts';
import { MAIL } from './mail.service.ts';

const LATELY_MS = 7 * 86_400_000;
/** Larger numbers are shown as “at least”. */
const MOST_WAITING = 1000;
/** Failures are searched in the newest events only, because the log may be long. */
const AMONG = 1000;

export interface MailState {
  readonly waiting: { readonly count: number; readonly isMore: boolean; readonly oldest: Date | null; readonly lastError: string | null };
  /** In the last seven days. */
  readonly failed: {
    readonly count: number;
    /** Its event in the audit log, when, and why; undefined: there is none. */
    readonly last: { readonly uuid: string; readonly at: Date; readonly reason: string } | undefined;
  };
}

export async function readMailState({ database: { knex } }: Pick<Services, 'database'>): Promise<MailState> {
  const { count, oldest, lastError } = await kindLoad(knex, MAIL, MOST_WAITING + 1);
  const failures = await countFailures(knex, 'system.email.delivery', new Date(present().getTime() - LATELY_MS), AMONG);
  const { last } = failures;
  return {
    waiting: { count: Math.min(count, MOST_WAITING), isMore: count > MOST_WAITING, oldest, lastError },
    failed: {
      count: failures.count,
      last: last === null ? undefined : { uuid: last.uuid, at: new Date(last.published), reason: last.reason ?? '' },
    },
  };
}
