/**
 * A random walk: grants, refreshes, revocations, consents, logouts and what administrators do, in any order, against a model of what must be active.
 * A failure tells FC_SEED, FC_PATH and FC_REPLAY to repeat it with.
 */
import type { TestContext } from 'node:test';
import fc from 'fast-check';
import { reproduced } from '../properties/checking.ts';
import { createClient } from '../protocol/servers/relying-party.ts';
import { stopClock } from '../support/clock.ts';
import { startService } from '../support/service.ts';
import { STEPS } from './commands.ts';
import { Model } from './model.ts';
import { newApps, newServers, newUsers, World } from './world.ts';

const WALKS = 6;
/** Of one walk, at most. */
const MOST_STEPS = 60;
/** For all walks, and the search for the shortest that fails: so that it ends before the patience of the runner (support/group.ts). */
const LIMIT_MS = 120_000;

/** Walks several times on one service. */
export async function walkAtRandom(t: TestContext): Promise<void> {
  const service = await startService(t, { env: { RATE_LIMITS: 'false' } });
  const resourceServer = await createClient(service);
  stopClock(t);
  const { FC_REPLAY: replayPath } = process.env;
  const commands = fc.commands(STEPS, { maxCommands: MOST_STEPS, size: 'max', ...(replayPath !== undefined && { replayPath }) });
  const walk = fc.asyncProperty(commands, async (steps) => {
    const model = new Model(newUsers(), newApps(), newServers());
    const world = await World.begin(t, service, resourceServer, model);
    await fc.asyncModelRun(() => ({ model, real: world }), steps);
    await world.compare(model, true);
  });
  await fc.assert(walk, { numRuns: WALKS, interruptAfterTimeLimit: LIMIT_MS, ...reproduced() });
}
