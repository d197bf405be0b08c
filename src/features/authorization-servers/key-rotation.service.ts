/** Rotates signing keys in time, behind the requests: every process looks, and of several that find the same key due one replaces it. */
import { setTimeout as wait } from 'node:timers/promises';
import { LIFETIMES } from '../../../config/defaults.ts';
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { inTrace } from '../../platform/telemetry/tracing.ts';
import { tendSigningKeys } from './signing-keys.service.ts';
import { listServersToTend } from './signing-keys.store.ts';

/** Milliseconds between two looks. */
const EVERY = 3_600_000;
/** … and after one that failed, as while the database is away. */
const AFTER_FAILURE = 60_000;

type Parts = Pick<Services, 'database' | 'notifications' | 'keyring' | 'log'>;

/** Announces a next key where there is none, and rotates what is due. */
export async function tendAllSigningKeys(services: Parts): Promise<void> {
  const before = (seconds: number): Date => new Date(present().getTime() - seconds * 1000);
  const ids = await listServersToTend(services.database.knex, {
    activatedBefore: before(LIFETIMES.signingKey),
    announcedBefore: before(LIFETIMES.nextKeyKnown),
  });
  for (const id of ids) await tendSigningKeys(services, id);
}

/** Begins to look. @returns a way to end it */
export function rotateInTime(services: Parts): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const pause = (milliseconds: number) => wait(milliseconds, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
  const done = (async () => {
    while (!stopping.signal.aborted) {
      try {
        await inTrace({ name: 'tend signing keys', kind: 'internal' }, () => tendAllSigningKeys(services));
        await pause(EVERY);
      } catch (error) {
        if (stopping.signal.aborted) return;
        services.log.warn({ err: error }, 'could not rotate signing keys; trying again');
        await pause(AFTER_FAILURE);
      }
    }
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}
