/** Is what the database holds of use: is every user found by their login, and does everything open that is sealed? Rows are read and nothing is changed. */

import { countSealed } from '../../features/secret-keys/sealed-values.store.ts';
import { listUncomposedLogins } from '../../features/users/users.store.ts';
import { isTimeout } from '../../platform/database/database-failures.ts';
import { must, type Rule, Skipped, section } from '../rule.ts';
import { type CheckContext, ownConfig } from './check-context.ts';

/** So many users are told by name. */
const TOLD = 10;

/** A statement may run as long as any other of the service's. */
async function read<T>(reading: Promise<T>): Promise<T> {
  return reading.catch((error: unknown) => {
    throw isTimeout(error) ? new Skipped('there is more than can be looked through in the time of a statement') : error;
  });
}

const values = (count: number): string => `${count} ${count === 1 ? 'value' : 'values'}`;

export const dataChecks: readonly Rule<CheckContext>[] = section('Data', [
  {
    id: 'data.logins',
    sentence: 'Every login is kept in the form in which it is looked for, composed Unicode (NFC).',
    async run(ground) {
      ownConfig(ground);
      const found = await read(listUncomposedLogins(await ground.database(), TOLD + 1));
      if (found === undefined) throw new Skipped('the database is not in UTF8, and cannot tell');
      const told = found
        .slice(0, TOLD)
        .map(({ id, login, takenBy }) => `${id} ${JSON.stringify(login)}${takenBy ? ` (which finds ${takenBy})` : ''}`);
      const more = found.length > TOLD ? ', and more' : '';
      const remedy = 'Give each another login: at Users of the console, or POST /api/v1/users/<id> with {"profile":{"login":"…"}}';
      must(found.length === 0, `nobody signs in by the login of ${told.join(', ')}${more}. ${remedy}`);
    },
  },
  {
    id: 'data.sealed',
    sentence: 'SECRET_KEY holds the key of everything that is sealed.',
    async run(ground) {
      ownConfig(ground);
      const database = await ground.database();
      const { id: newest, ids } = await ground.keyring();
      const sealed = await read(countSealed(database.knex));
      const unopenable = sealed
        .filter(({ keyId }) => !ids.includes(keyId))
        .map(({ table, keyId, count }) => `${values(count)} in ${table} (key ${keyId})`);
      const remedy = 'Add the key of then behind the others, separated by a comma, then gatehouse reseal; without it these are lost';
      must(unopenable.length === 0, `it does not open ${unopenable.join(', ')}. ${remedy}`);
      const sum = (of: typeof sealed) => of.reduce((before, { count }) => before + count, 0);
      const former = sum(sealed.filter(({ keyId }) => keyId !== newest));
      return `${values(sum(sealed))}${former === 0 ? '' : `, ${former} of them with a former key: gatehouse reseal before it goes`}`;
    },
  },
]);
