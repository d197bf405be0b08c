/**
 * The command that seals everything under the first key of SECRET_KEY: `gatehouse reseal`, beside the running service or without it. Afterwards the other keys may
 * go. Ends with 0 when all is sealed so, 1 when something does not open, 2 when it could not do its work.
 */

import { resealEverything } from '../features/secret-keys/resealing.service.ts';
import { command, onDatabase, print } from './command.ts';

export const reseal = command(2, async (terminal) => {
  const tell = (line: string) => print(terminal.stdout, line);
  return onDatabase(
    terminal,
    async (ground) => {
      const { resealed, unopened } = await resealEverything(ground);
      for (const [table, count] of resealed) tell(`${table}: ${count} sealed again`);
      for (const [table, count] of unopened) tell(`${table}: ${count} CANNOT BE OPENED: the key that they were sealed with is missing`);
      if (unopened.size > 0) return 1;
      tell(`Everything is sealed with the first key (${ground.keyring.id}).`);
      return 0;
    },
    true,
  );
});
