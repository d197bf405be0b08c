/** What is asked of passwords, at every door by which one comes in (management API, "settings/password"; NIST SP 800-63B section 3.1.1.2). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { pino } from 'pino';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { importItems } from '../../../src/features/import/imports.service.ts';
import { firstStart } from '../../../src/features/settings/first-start.service.ts';
import { createPasswordLink, usePasswordLink } from '../../../src/features/sign-in/one-time-links.service.ts';
import { authenticatePassword } from '../../../src/features/sign-in/sign-in.service.ts';
import { loadConfig } from '../../../src/platform/config/config.ts';
import { unique } from '../../api/people.ts';
import {
  type Answer,
  causes,
  type ErrorObject,
  type ManagementApi,
  startManagementApi,
  testServices,
} from '../../support/management-api.ts';

const GOOD = 'violet engines hum';
const COMMON = 'credentials.password.value: is too common. Choose another one';
const OWN =
  'credentials.password.value: must have at least 8 letters and digits besides the user name, the e-mail address and the names of the user';
const OF_SERVICE = 'credentials.password.value: must have at least 8 letters and digits besides the name of this service';

describe('what is asked of passwords', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const credentials = (value: string) => ({ credentials: { password: { value } } });
  const person = async (): Promise<{ id: string; login: string }> => {
    const profile = { login: unique('grace'), firstName: 'Grace', lastName: 'Hopperton' };
    const { body } = await api.call<{ id: string }>('POST', '/users', { profile, ...credentials(GOOD) });
    return { id: body.id, login: profile.login };
  };
  const history = (userId: string) => api.services.database.knex('password_history').where({ user_id: userId }).orderBy('seq');

  const doors: [what: string, send: (value: string) => Promise<Answer<ErrorObject>>][] = [
    [
      'created',
      (value) => api.call('POST', '/users', { profile: { login: unique('user'), lastName: 'Hopperton' }, ...credentials(value) }),
    ],
    ['changed', async (value) => api.call('POST', `/users/${(await person()).id}`, credentials(value))],
    [
      'changed along with the name',
      async (value) => api.call('POST', `/users/${(await person()).id}`, { profile: { nickName: 'Amazing' }, ...credentials(value) }),
    ],
    [
      'replaced',
      async (value) => {
        const { id, login } = await person();
        return api.call('PUT', `/users/${id}`, { profile: { login, lastName: 'Hopperton' }, ...credentials(value) });
      },
    ],
  ];
  for (const [what, send] of doors) {
    it(`refuses a common one, the user's and the service's name, where a user is ${what}`, async () => {
      for (const [value, cause] of [
        ['Sunshine1', COMMON],
        ['hopperton-1906', OWN],
        ['Gatehouse!2026', OF_SERVICE],
      ] as const) {
        const answer = await send(value);
        assert.deepEqual([answer.status, causes(answer)], [400, [cause]]);
      }
      const answer = await send('hopperton likes compilers');
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
    });
  }

  it('judges by the names that the user has afterwards, and by the name that the service is given', async () => {
    const { id } = await person();
    const renamed = await api.call<ErrorObject>('POST', `/users/${id}`, {
      profile: { nickName: 'Quillfeather' },
      ...credentials('quillfeather12'),
    });
    assert.deepEqual(causes(renamed), [OWN]);
    await api.call('PUT', '/settings/branding', { name: 'Wunderbau GmbH' });
    assert.deepEqual(causes(await api.call('POST', `/users/${id}`, credentials('wunderbau1'))), [OF_SERVICE]);
    await api.call('PUT', '/settings/branding', {});
    assert.equal((await api.call('POST', `/users/${id}`, credentials('wunderbau1'))).status, 200);
  });

  it('refuses lines of an import, by the same words', async () => {
    const [good, poor, own] = [unique('user'), unique('user'), unique('hopperton')];
    const lines = [
      { profile: { login: good }, ...credentials(GOOD) },
      { profile: { login: poor }, ...credentials('iloveyou') },
      { profile: { login: own }, ...credentials(`${own}1`) },
    ];
    const refused: unknown[] = [];
    const items = (async function* () {
      for (const [at, value] of lines.entries()) yield { kind: 'user' as const, place: { line: at + 1 }, value };
    })();
    const options = { isComplete: true, signal: new AbortController().signal, onRefused: (line: unknown) => refused.push(line) };
    await importItems(api.services, items, SYSTEM, options);
    assert.deepEqual(refused, [
      { place: { line: 2 }, reasons: [COMMON] },
      { place: { line: 3 }, reasons: [OWN] },
    ]);
  });

  it('does not tell an administrator whether he guessed the password of a user: his choice is not compared with it', async () => {
    const { id } = await person();
    assert.equal((await api.call('POST', `/users/${id}`, credentials(GOOD))).status, 200);
  });

  it('remembers so many hashes as the policy needs, no more, deletes them with the user, and tells them nobody', async () => {
    const { id } = await person();
    for (const n of [1, 2, 3, 4, 5]) await api.call('POST', `/users/${id}`, credentials(`a long password ${n}`));
    const kept = await history(id);
    assert.equal(kept.length, 3, 'with the present one four');
    const shown = JSON.stringify([(await api.call('GET', `/users/${id}`)).body, (await api.call('GET', '/logs?limit=100')).body]);
    assert.ok(!shown.includes('argon2'));
    await api.call('PUT', '/settings/password', { historyCount: 2 });
    await api.call('POST', `/users/${id}`, credentials('a long password 6'));
    assert.equal((await history(id)).length, 1);
    await api.call('PUT', '/settings/password', { historyCount: 0 });
    await api.call('POST', `/users/${id}`, credentials('a long password 7'));
    assert.equal((await history(id)).length, 0);
    await api.call('PUT', '/settings/password', {});
    await api.call('POST', `/users/${id}`, credentials('a long password 8'));
    for (const _ of ['deactivated', 'deleted']) await api.call('DELETE', `/users/${id}`);
    assert.equal((await history(id)).length, 0);
  });

  it('takes the password from a user whose password is reset, and remembers it', async () => {
    const { id, login } = await person();
    await api.call('POST', `/users/${id}/lifecycle/reset_password?sendEmail=false`);
    const { knex } = api.services.database;
    assert.equal((await knex('users').where({ id }).first()).password_hash, null);
    assert.equal((await history(id)).length, 1);
    assert.equal(await authenticatePassword(api.services, { username: login, password: GOOD }, SYSTEM), undefined);
    const { body } = await api.call('POST', '/authn', { username: login, password: GOOD });
    assert.equal(body.errorCode, 'E0000004', 'it is no expired one that could be replaced');
  });

  it('keeps the history at twenty changes at once within its bounds', async () => {
    const { id } = await person();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => api.call('POST', `/users/${id}`, credentials(`one of twenty, ${n}`))),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    assert.equal((await history(id)).length, 3);
  });

  it('of twenty uses of one link at once remembers the replaced password once', async () => {
    const { id } = await person();
    const url = await api.services.database.transaction((trx) => createPasswordLink(trx, api.services, id, 'reset'));
    const token = url.slice(url.lastIndexOf('/') + 1);
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => usePasswordLink(api.services, { token, password: `choice number ${n}` }, SYSTEM)),
    );
    assert.equal((await history(id)).length, 1);
  });
});

it('warns of a poor ADMIN_PASSWORD at the first start, which goes on: the operator stands before no locked door', async () => {
  const { services, close } = await testServices();
  try {
    const lines: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
    const config = loadConfig({ ADMIN_USERNAME: 'admin', ADMIN_PASSWORD: 'admin12345' });
    await firstStart({ ...services, config, log }, () => {});
    assert.match(lines.join(''), /ADMIN_PASSWORD is a weak password/);
    assert.ok(!lines.join('').includes('admin12345'));
    assert.ok(await authenticatePassword(services, { username: 'admin', password: 'admin12345' }, SYSTEM));
  } finally {
    await close();
  }
});
