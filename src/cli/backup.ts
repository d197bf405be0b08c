/**
 * The command that backs up the embedded database: `gatehouse backup <new folder>`, with or without the service running. The folder contains
 * everything that `gatehouse restore` needs, including the secret key of DATA_DIR. Exit code 0 or 1.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../platform/config/config.ts';
import { copyCluster } from '../platform/embedded-postgres/backup.ts';
import { hasCluster } from '../platform/embedded-postgres/cluster.ts';
import { startEmbeddedPostgres } from '../platform/embedded-postgres/embedded-postgres.ts';
import { command } from './command.ts';
import { OpenResources, StartFailure } from './lifecycle.ts';
import { secretKeyFile } from './startup.ts';
import { print } from './terminal.ts';

export const backup = command(1, async ({ env, stdout, stderr }, given: string) => {
  if (existsSync(given)) throw new StartFailure(`${given} already exists. Name a new folder.`);
  const folder = path.resolve(given);
  const { databaseUrl, dataDir, secretKeys } = loadConfig(env);
  if (databaseUrl !== undefined)
    throw new StartFailure(
      'This command backs up the embedded database only. Back up your PostgreSQL server with pg_dump --format=custom --no-owner, and keep SECRET_KEY with the backup.',
    );
  if (!hasCluster(dataDir)) throw new StartFailure(`There is no database in ${dataDir}. Set DATA_DIR to the folder of the database.`);
  const open = new OpenResources();
  mkdirSync(path.dirname(folder), { recursive: true });
  // The folder gets its name when it is complete.
  const draft = mkdtempSync(`${folder}.unfinished-`);
  open.add(() => rmSync(draft, { recursive: true, force: true }));
  try {
    const embedded = await startEmbeddedPostgres({ dataDir, say: (line) => print(stderr, line) });
    open.add(() => embedded.stop());
    await copyCluster(embedded, draft);
    if (secretKeys === undefined) {
      copyFileSync(secretKeyFile(dataDir), secretKeyFile(draft));
      chmodSync(secretKeyFile(draft), 0o600);
    }
    renameSync(draft, folder);
  } finally {
    await open.close();
  }
  print(stdout, `Backed up: ${folder}`);
  print(
    stdout,
    secretKeys === undefined
      ? 'The backup contains the secret key. Keep it where nobody else can read it.'
      : 'The backup does not contain SECRET_KEY. Keep a copy of the key in another place.',
  );
  return 0;
});
