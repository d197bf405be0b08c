/** Ten thousand users by SCIM Bulk, beside a service that answers, in at most two minutes; and what a filter costs among them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENTERPRISE, scimClient, USER } from '../support/scim.ts';
import { startService } from '../support/service.ts';

const BULK = 'urn:ietf:params:scim:api:messages:2.0:BulkRequest';
const USERS = 10_000;
const OF_ONE = 100;
const MOST_SECONDS = 120;
/** Requests at once, as provisioning clients send them. */
const AT_ONCE = 4;

test('10,000 users by Bulk take at most two minutes', async (t) => {
  const service = await startService(t);
  const scim = await scimClient(service);
  const [started, processor] = [performance.now(), process.cpuUsage()];
  const createFrom = async (first: number): Promise<void> => {
    const Operations = Array.from({ length: OF_ONE }, (_, index) => {
      const userName = `user${first + index}@example.com`;
      const data = {
        schemas: [USER, ENTERPRISE],
        userName,
        externalId: `ext-${first + index}`,
        name: { givenName: 'User', familyName: `Number ${first + index}` },
        emails: [{ value: userName, type: 'work', primary: true }],
        active: true,
        [ENTERPRISE]: { department: `Department ${index}` },
      };
      return { method: 'POST', path: '/Users', bulkId: `b${index}`, data };
    });
    const { status, body } = await scim.call('POST', '/Bulk', { schemas: [BULK], Operations });
    assert.equal(status, 200);
    assert.ok(
      body.Operations.every((one: { status: string }) => one.status === '201'),
      JSON.stringify(body.Operations[0]),
    );
  };
  const begins = Array.from({ length: USERS / OF_ONE }, (_, index) => index * OF_ONE);
  const send = async (): Promise<void> => {
    for (let first = begins.shift(); first !== undefined; first = begins.shift()) await createFrom(first);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(processor);
  t.diagnostic(`${USERS} users in ${seconds.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of processor time without PostgreSQL's`);
  assert.equal((await scim.call('GET', '/Users?count=0')).body.totalResults, USERS + 1);
  for (const filter of [
    'userName eq "USER4711@example.com"',
    'externalId eq "ext-4711"',
    'emails[type eq "work"].value eq "user4711@example.com"',
    `${ENTERPRISE}:department eq "Department 11" and name.familyName eq "Number 4711"`,
  ]) {
    const before = performance.now();
    assert.deepEqual(await scim.find(filter), ['user4711@example.com']);
    t.diagnostic(`${filter}: ${(performance.now() - before).toFixed(0)} ms`);
  }
  assert.ok(seconds <= MOST_SECONDS, `${seconds} s`);
});
