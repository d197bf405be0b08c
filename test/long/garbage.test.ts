/**
 * What a request makes goes with it. V8 clears away what is young cheaply and often; what something old points to counts as old as well, and stays until
 * the next full collection: accessors of a single object, lists of what is under way, what V8 once took for long-lived.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { dataDirectory, type RunningService, runService } from '../support/process.ts';

/** Requests: until V8 has compiled what they run through, and then those that count. */
const [UNTIL_COMPILED, COUNTED] = [4000, 2000];
const AT_ONCE = 8;
/** Of all bytes that are allocated, those that become old: a tenth where each request stays, some thousandths where none does, more while V8 is still compiling. */
const MOST_KEPT = 0.04;

/** Has each collection told, in the service alone. */
const TELL = `--import=data:text/javascript,${encodeURIComponent("import v8 from 'node:v8'; v8.setFlagsFromString('--trace-gc-nvp')")}`;
const COLLECTION = / gc=s .* allocated=(\d+) promoted=(\d+) /g;

async function many(requests: number, send: () => Promise<void>): Promise<void> {
  let left = requests;
  const user = async () => {
    while (left-- > 0) await send();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, user));
}

async function shareKept({ output }: RunningService, send: () => Promise<void>): Promise<number> {
  await many(UNTIL_COMPILED, send);
  const before = output.stdout.length;
  await many(COUNTED, send);
  const collections = [...output.stdout.slice(before).matchAll(COLLECTION)];
  assert.ok(collections.length >= 5, 'there were collections');
  const sum = (group: number) => collections.reduce((all, numbers) => all + Number(numbers[group]), 0);
  return sum(2) / sum(1);
}

const started = (t: TestContext) => runService(t, { DATA_DIR: dataDirectory(t), RATE_LIMITS: 'off', NODE_OPTIONS: TELL });

test('nothing stays of a token request', async (t) => {
  const service = await started(t);
  const app = await createClient(service, { grant_types: ['client_credentials'], response_types: [] });
  const share = await shareKept(service, async () => {
    const { status } = await post(service, 'built-in', 'token', app, { grant_type: 'client_credentials' });
    assert.equal(status, 200);
  });
  t.diagnostic(`of what is allocated ${share.toFixed(4)} become old`);
  assert.ok(share < MOST_KEPT, String(share));
});

test('nor of what the API reads', async (t) => {
  const service = await started(t);
  for (let number = 0; number < 20; number += 1)
    assert.equal((await service.api('POST', '/account/org', { orgName: `Organization ${number}` })).status, 200);
  const share = await shareKept(service, async () => {
    assert.equal((await service.api('GET', '/account/org')).body.organizations.length, 20);
  });
  t.diagnostic(`of what is allocated ${share.toFixed(4)} become old`);
  // Later versions keep some rows until V8 has compiled more than these requests make it compile, and none after that.
  assert.ok(share < (process.versions.node.startsWith('20.') ? MOST_KEPT : 2 * MOST_KEPT), String(share));
});
