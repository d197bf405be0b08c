/** Several processes on one port (`WORKERS`): they are replaced when they die, counted together, and end together. */
import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { test } from 'node:test';
import { pauseAfter } from '../../src/cli/workers.ts';
import { afterwards } from '../support/afterwards.ts';
import { startedDatabase } from '../support/database.ts';
import { eventually, gone, type RunningService, runService } from '../support/process.ts';
import { STARTED } from '../support/service.ts';

/** The processes that have answered requests up to now, by the log. */
const answering = ({ output }: RunningService): number[] => [
  ...new Set([...output.stdout.matchAll(/"pid":(\d+),"requestId"/g)].map(([, pid]) => Number(pid))),
];

const ask = (service: RunningService, path: string) => fetch(service.baseUrl + path, { headers: { connection: 'close' } });

/** Opens connections that are kept alive, and sends a request on each. @returns how many are with which process, by the log */
async function sharesOf(service: RunningService, connections: number): Promise<ReadonlyMap<number, number>> {
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true }));
  for (const agent of agents)
    await new Promise((resolve) => get(`${service.baseUrl}/health/live`, { agent }, (response) => response.resume().once('end', resolve)));
  const pids = await eventually(() => {
    const found = [...service.output.stdout.matchAll(/"pid":(\d+),"requestId"/g)].map(([, pid]) => Number(pid));
    return found.length === connections ? found : undefined;
  }, 'all requests are in the log');
  for (const agent of agents) agent.destroy();
  return new Map([...new Set(pids)].map((pid) => [pid, pids.filter((one) => one === pid).length]));
}

async function startTwo(t: Parameters<typeof runService>[0]): Promise<RunningService> {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  const service = await runService(t, { DATABASE_URL: database.url, ...STARTED, WORKERS: '2', LOG_LEVEL: 'info' });
  const shares = await sharesOf(service, 16);
  assert.deepEqual(
    [...shares.values()],
    [8, 8],
    'all workers listened when the start was reported: connections are spread from the first on',
  );
  assert.ok(!answering(service).includes(service.child.pid ?? 0), 'the primary does not');
  return service;
}

test('two workers, one killed, then the primary', async (t) => {
  const service = await startTwo(t);

  await t.test('a worker that dies is replaced, and meanwhile the other answers', async () => {
    const [victim = 0] = answering(service);
    process.kill(victim, 'SIGKILL');
    await gone(victim);
    assert.equal((await ask(service, '/health/ready')).status, 200);
    await eventually(async () => (await ask(service, '/health/ready')).ok && answering(service).length === 3, 'a third one answers');
  });

  await t.test('workers do not outlive a primary that is killed', async () => {
    service.child.kill('SIGKILL');
    for (const worker of answering(service)) await gone(worker);
  });
});

test('two workers, from a request to the end', async (t) => {
  const service = await startTwo(t);

  await t.test('/metrics tells of all workers together, whichever is asked', async () => {
    const total = async (): Promise<number> => {
      const text = await (await ask(service, '/metrics')).text();
      return Number(/^gatehouse_http_requests_total\{method="GET",family="\/health",status="200"\} (\d+)$/m.exec(text)?.[1]);
    };
    const before = await total();
    for (let i = 0; i < 10; i += 1) await (await ask(service, '/health/live')).text();
    // Asked several times: each worker in turn.
    assert.deepEqual([await total(), await total()], [before + 10, before + 10]);
  });

  await t.test('SIGTERM ends all workers, with exit code 0', async () => {
    const workers = answering(service);
    assert.equal(await service.stop(), 0);
    for (const worker of workers) await gone(worker);
    assert.ok(!service.output.stdout.includes('replaced'));
  });
});

test('workers that die at once are replaced more and more slowly', () => {
  assert.deepEqual([0, 1, 2, 3, 20].map(pauseAfter), [0, 200, 400, 800, 10_000]);
});
