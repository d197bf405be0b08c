/**
 * Recovery for a lost administrator: `gatehouse administrator <login> [--reset-factors]`, on the machine, with the service's configuration, with or
 * without the service running. The user becomes a SUPER_ADMIN who can sign in. Prints a one-time link to choose a password. Exit code 0 or 1.
 */
import { recoverAdministrator } from '../features/administrators/lost-administrator.service.ts';
import { isFirstStartDone } from '../features/settings/settings.store.ts';
import { command, onDatabase } from './command.ts';
import { StartFailure } from './lifecycle.ts';
import { listenForChanges } from './startup.ts';
import { print } from './terminal.ts';

export const administrator = command(
  1,
  async (terminal, { login, resetFactors }: { readonly login: string; readonly resetFactors: boolean }) => {
    return onDatabase(terminal, async (context) => {
      // Otherwise the first start would adopt this account as its own.
      if (!(await isFirstStartDone(context.database.knex)))
        throw new StartFailure('The service has not been started yet. Start it once: it creates the first administrator.');
      const notifications = await listenForChanges(context, context.database);
      context.open.add(() => notifications.close());
      const recovered = await recoverAdministrator({ ...context, notifications }, login, { resetFactors });
      print(
        terminal.stdout,
        `${recovered.login}: ${recovered.done.length === 0 ? 'is a SUPER_ADMIN and can sign in' : recovered.done.join(', ')}.`,
      );
      print(terminal.stdout, `Open this link within an hour to choose a password. It is shown only once: ${recovered.link}`);
      return 0;
    });
  },
);
