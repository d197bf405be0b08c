/**
 * A random walk: grants, refreshes, revocations, consents, logouts and what administrators do, in any order, against a model of what must be active.
 * Longer by WALK_ROUNDS (of six walks each) and WALK_STEPS (of one walk, at most). A failure tells FC_SEED, FC_PATH and FC_REPLAY to repeat it with.
 */
import { test } from 'node:test';
import fc from 'fast-check';
import { createClient } from '../oauth/relying-party.ts';
import { reproduced } from '../properties/checking.ts';
import { stopClock } from '../support/clock.ts';
import { startService } from '../support/service.ts';
import { STEPS } from './commands.ts';
import { Model } from './model.ts';
import { newApps, newServers, newUsers, World } from './world.ts';

const ROUNDS = Number(process.env.WALK_ROUNDS ?? 1);
const WALKS = 6;
const MOST_STEPS = Number(process.env.WALK_STEPS ?? 60);
/** For a round, and the search for the shortest walk that fails: so that it ends before the patience of the runner (support/group.ts). */
const LIMIT_MS = 120_000;

for (let round = 1; round <= ROUNDS; round += 1) {
  test(`whatever happens in whatever order, exactly those tokens, sessions and consents are there that must be: round ${round} (RFC 6749, 7009, 7662)`, async (t) => {
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
  });
}
