/** `gatehouse export users`: what it writes can be imported elsewhere. */
import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { codeOf, enrolledUser } from '../../support/factors.ts';
import { assertSignsIn, fileWith, fixture, type Importing, serviceToImportInto } from './importing.ts';

const newPath = (name: string): string => path.join(path.dirname(fileWith('x', '')), name);

/** What users refer to, for the other installation. */
async function prepare({ service }: Importing): Promise<void> {
  await service.api('POST', '/meta/schemas/user/default', {
    definitions: { custom: { id: '#custom', type: 'object', properties: { shoeSize: { title: 'Shoe size', type: 'integer' } } } },
  });
}

test('users go out with their passwords and apps where that is asked for, and move in elsewhere as they were', async (t) => {
  const first = await serviceToImportInto(t);
  await prepare(first);
  await first.call('import', 'keycloak', fixture('keycloak-realm.json'));
  const { login, password, secret } = await enrolledUser(first.service, { firstName: '=1+1' });

  const plain = await first.call('export', 'users', '--format', 'ndjson');
  assert.equal(plain.code, 0, plain.stderr);
  assert.doesNotMatch(plain.stdout, /hash|secret|argon2|"factors"/i);
  const exported = newPath('users.ndjson');
  const all = ['--with-password-hashes', '--with-totp-secrets'];
  assert.equal((await first.call('export', 'users', '--format', 'ndjson', ...all, '--output', exported)).code, 0);
  assert.equal(statSync(exported).mode & 0o777, 0o600);
  assert.equal((await first.call('export', 'users', '--output', exported)).code, 2, 'a file that is there is left as it is');
  const { body: events } = await first.service.api('GET', '/logs?filter=eventType%20eq%20%22system.export.users%22');
  assert.equal(events.length, 2);

  const second = await serviceToImportInto(t);
  await prepare(second);
  // All but the users.
  const realm = JSON.parse(readFileSync(fixture('keycloak-realm.json'), 'utf8'));
  await second.call('import', 'keycloak', fileWith('realm.json', JSON.stringify({ ...realm, users: [] })));
  const moved = await second.call('import', exported);
  assert.equal(moved.code, 0, moved.stderr);
  await assertSignsIn(second.service, 'ada', 'old password of ada');
  // The code of now was used elsewhere, and is a new one here.
  await assertSignsIn(second.service, login, password, () => codeOf(secret, 1));

  const records = (text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ profile }) => profile.login !== 'admin');
  const again = await second.call('export', 'users', '--format', 'ndjson', ...all);
  const withoutPassword = ({ credentials: _, ...user }: { credentials?: unknown }) => user;
  assert.deepEqual(records(again.stdout).map(withoutPassword), records(readFileSync(exported, 'utf8')).map(withoutPassword));
  const untouched = (text: string) => records(text).find(({ profile }) => profile.login === 'bob');
  assert.deepEqual(untouched(again.stdout), untouched(readFileSync(exported, 'utf8')));
});

test('the table has the same users, and formulas do no harm in it', async (t) => {
  const first = await serviceToImportInto(t);
  await prepare(first);
  await first.call('import', 'keycloak', fixture('keycloak-realm.json'));
  const { login: formula } = await first.service.createUser({ firstName: '=1+1' });
  const table = newPath('users.csv');
  assert.equal((await first.call('export', 'users', '--format', 'csv', '--with-password-hashes', '--output', table)).code, 0);
  assert.match(readFileSync(table, 'utf8'), /,'=1\+1,/);

  const second = await serviceToImportInto(t);
  await prepare(second);
  const realm = JSON.parse(readFileSync(fixture('keycloak-realm.json'), 'utf8'));
  await second.call('import', 'keycloak', fileWith('realm.json', JSON.stringify({ ...realm, users: [] })));
  const moved = await second.call('import', 'csv', table);
  assert.equal(moved.code, 0, moved.stderr);
  await assertSignsIn(second.service, 'bob', 'old password of bob');
  assert.equal((await second.service.api('GET', '/users/eve')).body.status, 'SUSPENDED');
  assert.equal((await second.service.api('GET', `/users/${formula}`)).body.profile.firstName, '=1+1');
  assert.equal((await second.service.api('GET', '/users/ada')).body.profile.shoeSize, 44);
  const groups = (await second.service.api('GET', '/users/ada/groups')).body;
  assert.deepEqual(groups.map((group: { profile: { name: string } }) => group.profile.name).sort(), ['role:manager', 'staff/engineering']);
});
