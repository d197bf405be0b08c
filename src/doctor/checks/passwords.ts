/** Checks that the breached-password server responds when the check is on. The requested range reveals nothing. */
import { tryRangeServer } from '../../features/passwords/breached-passwords.service.ts';
import { readPasswordPolicy } from '../../features/settings/settings.service.ts';
import { Blocked, Broken, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Other rules report a database that is away. @throws {Skipped} */
async function storedPolicy(ground: CheckContext) {
  try {
    return await readPasswordPolicy((await ground.database()).knex);
  } catch (error) {
    if (error instanceof Skipped || error instanceof Blocked) throw error;
    throw new Skipped('the settings cannot be read from the database');
  }
}

export const passwordChecks: readonly Rule<CheckContext>[] = section('Passwords', [
  {
    id: 'passwords.range-server',
    sentence: 'The range server of breached passwords answers; while it does not, every password is accepted.',
    async run(ground) {
      const config = ownConfig(ground);
      const policy = await storedPolicy(ground);
      if (policy.breached === 'OFF') throw new Skipped('breached passwords are not looked up');
      try {
        await tryRangeServer(config, policy);
      } catch (error) {
        throw new Broken(`check breachedRangeUrl of settings/password and the way out of this network: ${(error as Error).message}`);
      }
    },
  },
]);
