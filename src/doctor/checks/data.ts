/** Data checks: sign-in finds every user by user name, and every stored secret can be decrypted. Read-only. */

import { countSealed } from '../../features/secret-keys/sealed-values.store.ts';
import { listUncomposedLogins } from '../../features/users/users.store.ts';
import { isTimeout } from '../../platform/database/database-failures.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** Number of users listed by name. */
const TOLD = 10;

/** A statement may run as long as any other of the service's. */
async function read<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw isTimeout(error) ? new Skipped('the table is too large to check within the statement timeout') : error;
  });
}

const values = (count: number): string => `${count} ${count === 1 ? 'value' : 'values'}`;

export const dataChecks: readonly Rule<CheckContext>[] = section('Data', [
  {
    id: 'data.logins',
    sentence: 'Every user name is stored as composed Unicode (NFC), the form that sign-in searches for.',
    async run(ground) {
      ownConfig(ground);
      const found = await read(listUncomposedLogins(await ground.database(), TOLD + 1));
      if (found === undefined) throw new Skipped('the encoding of the database is not UTF8, so this cannot be checked');
      const told = found
        .slice(0, TOLD)
        .map(({ id, login, takenBy }) => `${id} ${JSON.stringify(login)}${takenBy ? ` (finds ${takenBy} instead)` : ''}`);
      const more = found.length > TOLD ? ', and more' : '';
      const remedy = 'Change each user name: under Users in the console, or with POST /api/v1/users/<id> and {"profile":{"login":"…"}}';
      must(found.length === 0, `these users cannot sign in with their user names: ${told.join(', ')}${more}. ${remedy}`);
    },
  },
  {
    id: 'data.sealed',
    sentence: 'SECRET_KEY can decrypt every stored secret.',
    async run(ground) {
      ownConfig(ground);
      const database = await ground.database();
      const { id: newest, ids } = await ground.keyring();
      const sealed = await read(countSealed(database.knex));
      const unopenable = sealed
        .filter(({ keyId }) => !ids.includes(keyId))
        .map(({ table, keyId, count }) => `${values(count)} in ${table} (key ${keyId})`);
      const remedy = 'Add the old key after the others, separated by a comma, and run gatehouse reseal. Without it these secrets are lost';
      must(unopenable.length === 0, `it cannot decrypt ${unopenable.join(', ')}. ${remedy}`);
      const sum = (of: typeof sealed) => of.reduce((before, { count }) => before + count, 0);
      const former = sum(sealed.filter(({ keyId }) => keyId !== newest));
      return `${values(sum(sealed))}${former === 0 ? '' : `, ${former} of them with an old key: run gatehouse reseal before you remove that key`}`;
    },
  },
]);
