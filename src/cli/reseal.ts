/**
 * The command that seals all values with the first key of SECRET_KEY: `gatehouse reseal`, with or without the service running. Afterwards the other
 * keys can be removed. Exit code 0 if everything is sealed, 1 if a value cannot be opened, 2 on failure.
 */

import { resealEverything } from '../features/secret-keys/resealing.service.ts';
import { command, onDatabase } from './command.ts';
import { print } from './terminal.ts';

export const reseal = command(2, async (terminal) => {
  const printLine = (line: string) => print(terminal.stdout, line);
  return onDatabase(
    terminal,
    async (context) => {
      const { resealed, unopened } = await resealEverything(context);
      for (const [table, count] of resealed) printLine(`${table}: ${count} values encrypted again`);
      for (const [table, count] of unopened)
        printLine(
          `${table}: ${count} values CANNOT BE DECRYPTED. Add the key that encrypted them to SECRET_KEY and run this command again`,
        );
      if (unopened.size > 0) return 1;
      printLine(
        `All stored secrets are encrypted with the first key (${context.keyring.id}). You can remove the other keys from SECRET_KEY.`,
      );
      return 0;
    },
    true,
  );
});
