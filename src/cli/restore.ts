/**
 * The command that restores the embedded database from a backup: `gatehouse restore <folder>`, into a DATA_DIR without a database. It starts the
 * database, migrates the schema and checks the secret key, so that problems are found before the service starts. Exit code 0 or 1.
 */
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { countUsers } from '../features/users/users.store.ts';
import { loadConfig } from '../platform/config/config.ts';
import { hasCluster, isClusterCopy, restoreCluster } from '../platform/embedded-postgres/cluster.ts';
import { command, onDatabase } from './command.ts';
import { StartFailure } from './lifecycle.ts';
import { checkSecretKeys, secretKeyFile } from './startup.ts';
import { print } from './terminal.ts';

export const restore = command(1, async (terminal, folder: string) => {
  const config = loadConfig(terminal.env);
  const { databaseUrl, dataDir } = config;
  if (databaseUrl !== undefined)
    throw new StartFailure(
      'This command restores the embedded database only. Restore your PostgreSQL server with pg_restore --no-owner into an empty database.',
    );
  if (!isClusterCopy(folder)) throw new StartFailure(`${folder} is not a backup. Name a folder that gatehouse backup created.`);
  const hasKey = existsSync(secretKeyFile(folder));
  if (!hasKey && config.secretKeys === undefined)
    throw new StartFailure(
      'The backup does not contain the secret key. Set SECRET_KEY to the key of the former service and restore again.',
    );
  if (hasCluster(dataDir) || existsSync(secretKeyFile(dataDir)))
    throw new StartFailure(`${dataDir} already has a database or its key. Move them away, or set DATA_DIR to another folder.`);
  restoreCluster(dataDir, path.resolve(folder), (line) => print(terminal.stderr, line));
  if (hasKey) copyFileSync(secretKeyFile(folder), secretKeyFile(dataDir));

  return onDatabase(
    terminal,
    async (context) => {
      await checkSecretKeys(context).catch((error: unknown) => {
        if (!(error instanceof StartFailure)) throw error;
        throw new StartFailure(
          `${error.message}\nThe database is restored. Correct SECRET_KEY and start the service. Do not restore again.`,
        );
      });
      print(terminal.stdout, `Restored into ${dataDir}: ${await countUsers(context.database.knex)} users. Start the service now.`);
      return 0;
    },
    true,
  );
});
