/** 100,000 users moved in beside a running service, with sign-ins going on. The times are told; what is compared is what was written. */
import assert from 'node:assert/strict';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import { serviceToImportInto } from '../features/import/importing.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import type { Service } from '../support/service.ts';

const USERS = 100_000;
const GROUPS = 50;
/** Of "correct horse battery staple", by bcrypt with a work factor of 5. */
const HASH = { algorithm: 'BCRYPT', workFactor: 5, salt: 'abcdefghijklmnopqrstuu', value: 'FiPhXf1sVd3pCCRO.uVh34H/qI/ZsuS' };

const userOf = (n: number) => ({
  profile: {
    login: `moved-${n}`,
    email: `moved-${n}@example.com`,
    emailVerified: true,
    firstName: `First ${n}`,
    lastName: `Last ${n % 1000}`,
  },
  credentials: { password: { hash: HASH } },
  groups: [`group ${n % GROUPS}`],
  factors: n % 10 === 0 ? [{ type: 'TOTP', secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }] : [],
});

async function* lines() {
  for (let n = 0; n < USERS; n += 1) yield `${JSON.stringify(userOf(n))}\n`;
}

/** Signs in until the work ends. @returns milliseconds of each sign-in */
async function signInDuring(service: Service, login: string, password: string, work: Promise<unknown>): Promise<number[]> {
  let isOver = false;
  const end = work.finally(() => {
    isOver = true;
  });
  const times: number[] = [];
  while (!isOver) {
    const begun = performance.now();
    const { status } = await service.api('POST', '/authn', { username: login, password });
    assert.equal(status, 200);
    times.push(performance.now() - begun);
  }
  await end;
  return times;
}

const median = (times: readonly number[]): number => [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] ?? 0;

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-import-'));
  afterwards(t, () => rmSync(made, { recursive: true }));
  return made;
}

test('100,000 users with groups, hashes and authenticator apps move in beside sign-ins, once', async (t) => {
  const { service, call } = await serviceToImportInto(t);
  for (let n = 0; n < GROUPS; n += 1) assert.equal((await service.api('POST', '/groups', { profile: { name: `group ${n}` } })).status, 200);
  const { login, password } = await service.createUser();
  const file = path.join(folder(t), 'users.ndjson');
  await pipeline(Readable.from(lines()), createWriteStream(file));

  const begun = performance.now();
  const importing = call('import', 'ndjson', file);
  const times = await signInDuring(service, login, password, importing);
  const seconds = (performance.now() - begun) / 1000;
  const { code, stdout, stderr } = await importing;
  assert.equal(code, 0, stderr);
  t.diagnostic(`imported in ${seconds.toFixed(1)} s: ${stdout.trim()}`);
  t.diagnostic(
    `${times.length} sign-ins meanwhile, ${Math.round(median(times))} ms in the middle, ${Math.round(Math.max(...times))} ms at most`,
  );
  await onServer(service.database.url, async (client) => {
    const counted = async (sql: string) => Number((await client.query(sql)).rows[0].count);
    assert.equal(await counted("SELECT count(*) FROM users WHERE login LIKE 'moved-%'"), USERS);
    assert.equal(await counted('SELECT count(*) FROM group_members'), USERS);
    assert.equal(await counted('SELECT count(*) FROM user_factors'), USERS / 10);
    assert.equal(await counted("SELECT count(*) FROM audit_events WHERE event_type = 'group.user_membership.add'"), USERS);
  });

  const again = await call('import', 'ndjson', file);
  assert.equal(again.code, 0, again.stderr);
  t.diagnostic(`again: ${again.stdout.trim()}`);
  assert.match(again.stdout, /^0 imported, 0 refused, 100000 existed already/);
});
