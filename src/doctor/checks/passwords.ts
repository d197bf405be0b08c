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
    sentence: 'The breached-password server responds. While it does not, breached passwords are accepted.',
    async run(ground) {
      const config = ownConfig(ground);
      const policy = await storedPolicy(ground);
      if (policy.breached === 'OFF') throw new Skipped('the check for breached passwords is off');
      try {
        await tryRangeServer(config, policy);
      } catch (error) {
        throw new Broken(
          `check breachedRangeUrl of settings/password, and that this network allows outbound requests: ${(error as Error).message}`,
        );
      }
    },
  },
]);
