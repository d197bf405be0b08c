/** Targets that are away, busy, or broken for one user: what waits, what goes on, and who is first afterwards. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { provisioningService, smallTarget, type TargetAnswer, type TargetRequest } from '../../support/small-target.ts';

type World = Awaited<ReturnType<typeof provisioningService>>;

/** Seconds from now on until each entry of the outbox is due, by what it is about. */
async function dueIn({ service }: World): Promise<ReadonlyMap<string, number>> {
  const read = 'SELECT object_key, due FROM outbox WHERE kind = $1 ORDER BY seq';
  const { rows } = await onServer(service.database.url, (client) => client.query(read, ['provisioning']));
  return new Map(rows.map(({ object_key: key, due }) => [key, Math.round((due.getTime() - Date.now()) / 1000)]));
}

const nothingWaits = (world: World) => eventually(async () => (await world.state()).counts.waiting === 0, 'nothing waits');
const isAway = (world: World) => eventually(async () => (await world.state()).awaySince !== null, 'it is away');

async function started(t: TestContext, logins: readonly string[]) {
  const target = await smallTarget(t);
  const world = await provisioningService(t);
  const ids: string[] = [];
  for (const login of logins) ids.push(await world.assign(login));
  return { target, world, ids };
}

test('a target that is busy is asked again when it says, and the outage is kept', async (t) => {
  stopClock(t);
  const { target, world } = await started(t, ['ada@busy.example']);
  const busy: TargetAnswer = { status: 429, headers: { 'retry-after': '300' } };
  target.instead = () => busy;
  await world.set(target);
  await isAway(world);
  assert.equal((await dueIn(world)).get('probe:'), 300);
  // The probe is told another time, as a date.
  target.instead = () => ({ status: 503, headers: { 'retry-after': new Date(Date.now() + 120_000).toUTCString() } });
  moveClock(t, 301);
  await eventually(async () => Math.abs(((await dueIn(world)).get('probe:') ?? 0) - 120) <= 1, 'it is put off to that time');
  for (const senseless of ['soon', '99999999999']) {
    target.instead = () => ({ status: 429, headers: { 'retry-after': senseless } });
    moveClock(t, 3601);
    const expected = senseless === 'soon' ? 20 : 3600;
    await eventually(async () => (await dueIn(world)).get('probe:') === expected, `${senseless}: ${expected} seconds`);
  }
  target.instead = () => undefined;
  moveClock(t, 3601);
  await eventually(() => target.named('ada@busy.example') !== undefined, 'it is pushed at last');
  const { awaySince, lastOutage } = await world.state();
  assert.equal(awaySince, null);
  assert.match(lastOutage.reason, /was answered with 429/);
  assert.equal(lastOutage.inARow, 1);
});

test('a target that comes and goes is known by its outages in a row', async (t) => {
  stopClock(t);
  const { target, world } = await started(t, ['ada@flaps.example']);
  // Lists are answered, and so is the probe.
  target.instead = ({ method }) => (method === 'POST' ? { status: 429 } : undefined);
  await world.set(target);
  for (const turn of [1, 2, 3]) {
    await eventually(async () => {
      const { awaySince, lastOutage } = await world.state();
      return awaySince !== null && (lastOutage?.inARow ?? 1) === turn;
    }, `away for the ${turn}. time`);
    moveClock(t, 21);
    if (turn === 3) target.instead = () => undefined;
  }
  await eventually(() => target.named('ada@flaps.example') !== undefined, 'it is pushed');
  const { lastOutage } = await world.state();
  assert.deepEqual([lastOutage.inARow, /POST \/Users was answered with 429/.test(lastOutage.reason)], [3, true]);
});

for (const [what, answer] of [
  ['breaks the connection', 'closed'],
  ['answers 502', { status: 502 }],
  ['answers 403', { status: 403, body: { detail: 'not this one' } }],
] as const) {
  test(`a target that ${what} for one user is there for all others, and is asked for that one again`, async (t) => {
    stopClock(t);
    const { target, world } = await started(t, ['bad@one.example', 'good@one.example']);
    const isBad = ({ body }: TargetRequest) => body?.userName === 'bad@one.example';
    target.instead = (request) => (isBad(request) ? answer : undefined);
    await world.set(target);
    await eventually(async () => (await world.failed()).length === 1 && target.named('good@one.example') !== undefined, 'one failed');
    const [failed] = await world.failed();
    assert.equal(failed.name, 'bad@one.example');
    const { awaySince, lastOutage } = await world.state();
    assert.deepEqual([awaySince, lastOutage], [null, null]);
    target.instead = () => undefined;
    await eventually(async () => (await dueIn(world)).size === 1, 'it waits');
    moveClock(t, 6);
    await eventually(() => target.named('bad@one.example') !== undefined, 'it is pushed');
  });
}

test('403 for everything is a fault of the settings: everyone waits, and nobody is marked as failed', async (t) => {
  stopClock(t);
  const { target, world } = await started(t, ['ada@forbidden.example']);
  target.instead = () => ({ status: 403, body: { detail: 'no scope' } });
  await world.set(target);
  await isAway(world);
  assert.match((await world.state()).awayReason, /403 \(no scope\)/);
  assert.deepEqual(await world.failed(), []);
});

for (const leavers of ['DEACTIVATE', 'DELETE']) {
  test(`behind a wrong address nobody counts as gone (${leavers})`, async (t) => {
    stopClock(t);
    const { target, world, ids } = await started(t, ['ada@moved.example']);
    await world.set(target, { leavers });
    await nothingWaits(world);
    target.instead = () => ({ status: 404 });
    await world.ok('POST', `/users/${ids[0]}/lifecycle/suspend`);
    await isAway(world);
    assert.match((await world.state()).awayReason, /\/Users is not there/);
    target.instead = () => undefined;
    moveClock(t, 21);
    const isGone = () => (leavers === 'DELETE' ? target.users.length === 0 : target.users[0]?.active === false);
    await eventually(isGone, 'the leaver is taken away');
  });
}

test('after an outage users who left are first, however many wait', async (t) => {
  stopClock(t);
  const logins = Array.from({ length: 24 }, (_, index) => `user${index}@queue.example`);
  const { target, world, ids } = await started(t, logins);
  await world.set(target);
  await nothingWaits(world);
  target.instead = () => 'closed';
  for (const id of ids) await world.ok('POST', `/users/${id}`, { profile: { nickName: 'Changed' } });
  const leaver = ids.at(-1);
  await world.ok('POST', `/users/${leaver}/lifecycle/suspend`);
  await isAway(world);
  await eventually(async () => {
    const due = [...(await dueIn(world)).entries()].filter(([key]) => key !== 'probe:');
    return due.every(([, seconds]) => seconds >= 300);
  }, 'all are put off');
  target.requests.length = 0;
  target.instead = () => undefined;
  moveClock(t, 21);
  await eventually(() => target.changes().length === logins.length, 'all are pushed');
  const place = target.requests.filter(({ method }) => method === 'PUT').findIndex(({ body }) => body.active === false);
  // Three are under way at once.
  assert.ok(place >= 0 && place < 3, `place ${place}`);
});

test('while others wait, a user who leaves is next', async (t) => {
  stopClock(t);
  const logins = Array.from({ length: 12 }, (_, index) => `user${index}@next.example`);
  const { target, world, ids } = await started(t, logins);
  await world.set(target);
  await nothingWaits(world);
  const waiting: (() => void)[] = [];
  let isHeld = true;
  target.instead = async ({ method }) => {
    if (isHeld && method === 'PUT') await new Promise<void>((resolve) => void waiting.push(resolve));
    return undefined;
  };
  for (const id of ids.slice(0, -1)) await world.ok('POST', `/users/${id}`, { profile: { nickName: 'Changed' } });
  await eventually(() => waiting.length >= 1, 'the first are under way');
  await world.ok('DELETE', `/apps/${world.app}/users/${ids.at(-1)}`);
  isHeld = false;
  for (const resolve of waiting) resolve();
  await eventually(() => target.changes().length >= 2 * logins.length, 'all are pushed');
  const puts = target.requests.filter(({ method }) => method === 'PUT');
  const place = puts.findIndex(({ body }) => body.active === false);
  // Behind those that were under way, and beside two more.
  assert.ok(place >= 0 && place < 6, `place ${place} of ${puts.length}`);
});

test('who leaves after an hour of failed pushes is counted from the first attempt, and never given up', async (t) => {
  stopClock(t);
  const { target, world, ids } = await started(t, ['ada@stuck.example']);
  await world.set(target);
  await nothingWaits(world);
  const fail = (failures: number, digest: string | null) =>
    onServer(world.service.database.url, (client) =>
      client.query("UPDATE provisioned_resources SET state = 'FAILED', failures = $1, digest = $2 WHERE kind = 'user'", [failures, digest]),
    );
  await fail(62, null);
  target.instead = ({ method }) => (method === 'PUT' ? { status: 503 } : undefined);
  await world.ok('POST', `/users/${ids[0]}/lifecycle/suspend`);
  const isDueIn = (seconds: number) =>
    eventually(async () => (await dueIn(world)).get(`user:${ids[0]}`) === seconds, `it is tried again after ${seconds} seconds`);
  await isDueIn(5);
  const [failed] = await world.failed();
  assert.equal(failed.name, 'ada@stuck.example');
  await fail(62, 'leaving');
  moveClock(t, 6);
  await isDueIn(3600);
  target.instead = () => undefined;
  moveClock(t, 3601);
  await eventually(() => target.users[0]?.active === false, 'she is inactive');
});
