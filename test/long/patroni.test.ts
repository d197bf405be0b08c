/**
 * Faults of a whole cluster under load (test/rehearsals/patroni.ts): three machines with PostgreSQL, Patroni and etcd, two with Gatehouse behind haproxy.
 * After each fault, all that was acknowledged has to be there. `PATRONI_MINUTES` (10) says how long the faults are repeated; `PATRONI_MODE=asynchronous`
 * counts what is lost without synchronous replication instead. `PATRONI_FAULT` chooses faults by a part of their name, `PATRONI_LOGS` names a folder for
 * the logs of the programs.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster, Machine, network, serviceAddress, serviceOn } from '../rehearsals/patroni.ts';
import { haproxy } from '../rehearsals/programs.ts';
import { Traffic } from '../rehearsals/traffic.ts';
import { afterwards } from '../support/afterwards.ts';
import { type Command, eventually, freePort } from '../support/process.ts';
import { callsTo, newSecretKey } from '../support/service.ts';

const MINUTES = Number(process.env.PATRONI_MINUTES ?? 10);
const IS_SYNCHRONOUS = process.env.PATRONI_MODE !== 'asynchronous';
/** Milliseconds: how long a fault lasts before the machine comes back. Longer than Patroni's lease of 20 s. */
const FAULT = 40_000;
/** Milliseconds of load before the next fault. */
const CALM = 5000;

interface Fault {
  readonly name: string;
  /** @returns what ends it */
  begin(): Promise<() => unknown>;
}

const isMissing = ['/usr/bin/patroni', '/usr/bin/etcd', '/usr/sbin/haproxy', '/usr/sbin/ip'].some((file) => !existsSync(file));

test('a cluster that chooses its leader by itself', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('needs root, for network namespaces');
  if (isMissing) return t.skip('apt-get install patroni etcd-server haproxy postgresql iproute2');
  network(t);
  const cluster = await Cluster.start(t, { isSynchronous: IS_SYNCHRONOUS });
  const machines = [new Machine(t, 'service1', 21), new Machine(t, 'service2', 22)] as const;
  const entry = await freePort();
  const base = `http://localhost:${entry}`;
  const env = {
    BASE_URL: base,
    DATABASE_URL: cluster.url,
    SECRET_KEY: newSecretKey(),
    TRUST_PROXY: '1',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    ADMIN_PASSWORD: 'Rehearsal-of-2026-faults',
    ADMIN_API_TOKEN: 'test-api-token-0123456789-0123456789',
  };
  const running = new Map<Machine, Command>();
  const start = async (machine: Machine) => running.set(machine, await serviceOn(t, machine, env));
  for (const machine of machines) await start(machine);
  await haproxy(t, entry, machines.map(serviceAddress));
  await eventually(async () => (await fetch(`${base}/health/ready`)).ok, 'the balancer has found them');

  const whole = (name: string, choose: () => Promise<Machine>, isFrozen: boolean): Fault => ({
    name,
    async begin() {
      const machine = await choose();
      machine.signal(isFrozen ? 'SIGSTOP' : 'SIGKILL');
      return () => (isFrozen ? machine.signal('SIGCONT') : cluster.boot(machine));
    },
  });
  const leader = () => cluster.leader();
  const replica = async () => (await cluster.replicas())[0] as Machine;
  const faults: readonly Fault[] = [
    whole('leader lost', leader, false),
    whole('leader frozen', leader, true),
    {
      name: 'leader cut off from all',
      async begin() {
        const machine = await leader();
        machine.connect(false);
        return () => machine.connect(true);
      },
    },
    {
      name: 'leader cut off from the other databases only',
      async begin() {
        const [machine, others] = [await leader(), await cluster.replicas()];
        machine.reach(others, false);
        return () => machine.reach(others, true);
      },
    },
    whole('replica lost', replica, false),
    {
      name: 'etcd member lost',
      async begin() {
        const machine = await replica();
        cluster.killEtcd(machine);
        return () => cluster.startEtcd(machine);
      },
    },
    {
      name: 'service lost',
      async begin() {
        await running.get(machines[0])?.stop('SIGKILL');
        return () => start(machines[0]);
      },
    },
    {
      name: 'service cut off',
      async begin() {
        machines[1].connect(false);
        return () => machines[1].connect(true);
      },
    },
  ];

  const chosen = faults.filter(({ name }) => name.includes(process.env.PATRONI_FAULT ?? ''));
  const traffic = new Traffic(callsTo(base));
  afterwards(t, () => traffic.stop());
  await traffic.start(2);
  await delay(CALM);
  assert.deepEqual(traffic.take().failures, [], 'without a fault, nothing fails');

  const table: Record<string, string | number>[] = [];
  const end = Date.now() + MINUTES * 60_000;
  for (let round = 0; round === 0 || Date.now() < end; round += 1) {
    for (const fault of chosen) {
      const undo = await fault.begin();
      await delay(FAULT);
      await undo();
      await cluster.settled();
      await eventually(async () => (await fetch(`${base}/health/ready`)).ok, 'ready again');
      await delay(CALM);
      const taken = traffic.take();
      const { tokens, used, users, failures, silence } = taken;
      const lost = await traffic.missing(taken, (text, values) => cluster.query(text, values));
      table.push({
        fault: fault.name,
        'seconds without an answer': (silence / 1000).toFixed(1),
        failed: failures.length,
        acknowledged: `${tokens.length} tokens, ${used.length} uses, ${users.length} users`,
        lost: Object.values(lost).join(', '),
      });
      console.table(table.slice(-1));
      for (const { at, what } of failures) console.log(`${new Date(performance.timeOrigin + at).toISOString()} ${what}`);
      if (IS_SYNCHRONOUS) assert.deepEqual(lost, { tokens: 0, uses: 0, users: 0, events: 0 }, fault.name);
      const before = traffic.failures.length;
      await delay(CALM);
      assert.deepEqual(traffic.failures.slice(before), [], `after "${fault.name}" nothing fails`);
    }
  }
  await traffic.stop();
  console.table(table);
  for (const command of running.values()) assert.equal(await command.stop(), 0);
});
