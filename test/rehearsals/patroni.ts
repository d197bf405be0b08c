/**
 * Three machines with PostgreSQL, Patroni and etcd, and two for Gatehouse, each in a network namespace of its own on this machine. A machine can be
 * lost, frozen, cut off from all others or from those of the database alone. Needs root and Debian's patroni, etcd-server, haproxy and postgresql.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { onServer } from '../support/database.ts';
import { type Command, eventually, SERVICE, spawnCommand } from '../support/process.ts';
import { AS_POSTGRES, folder, postgresBinaries } from './programs.ts';

const NETWORK = '10.77.0';
const BRIDGE = 'gatehouse';
const PASSWORD = 'of-the-rehearsal';
const PORTS = { client: 2379, peer: 2380, patroni: 8008, postgres: 5432, service: '3000' };
/** Seconds. The lease of the leader, the pause of Patroni's loop, and how long it tries to reach etcd or PostgreSQL: its smallest `ttl`. */
const TIMES = { ttl: 20, loop_wait: 5, retry_timeout: 5 };

/** A folder that keeps the logs of PostgreSQL, Patroni, etcd and the services. */
const LOGS = process.env.PATRONI_LOGS;

const urlAt = (address: string, database: string): string => `postgresql://gatehouse:${PASSWORD}@${address}:${PORTS.postgres}/${database}`;

const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** A machine: a network namespace with one address. */
export class Machine {
  readonly address: string;
  readonly #link: string;

  constructor(
    t: TestContext,
    readonly name: string,
    host: number,
  ) {
    this.address = `${NETWORK}.${host}`;
    this.#link = `gh-${name}`;
    ip('netns', 'add', name);
    afterwards(t, () => {
      this.signal('SIGKILL');
      // By itself it would end some time after its namespace, and be in the way of the next run.
      ip('link', 'delete', this.#link);
      ip('netns', 'delete', name);
    });
    ip('link', 'add', this.#link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', this.#link, 'master', BRIDGE, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'address', 'add', `${this.address}/24`, 'dev', 'eth0');
  }

  /** What makes a command run on this machine. `ip` becomes the command: the process has the number that `spawn` knows. */
  get prefix(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** Sends a signal to all that runs there: SIGKILL is the loss of the machine, SIGSTOP a machine that answers nobody. */
  signal(signal: NodeJS.Signals): void {
    for (const pid of ip('netns', 'pids', this.name).split('\n').filter(Boolean)) {
      try {
        process.kill(Number(pid), signal);
      } catch {} // It has ended meanwhile.
    }
  }

  /** Pulls the cable, or plugs it in again. */
  connect(isConnected: boolean): void {
    ip('link', 'set', this.#link, isConnected ? 'up' : 'down');
  }

  /** Cuts it off from some machines only, or lets it reach them again. */
  reach(others: readonly Machine[], isReached: boolean): void {
    for (const { address } of others) ip('-n', this.name, 'route', isReached ? 'delete' : 'add', 'blackhole', address);
  }
}

/** The network between the machines; 10.77.0.1 is this machine. */
export function network(t: TestContext): void {
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  afterwards(t, () => ip('link', 'delete', BRIDGE));
  ip('address', 'add', `${NETWORK}.1/24`, 'dev', BRIDGE);
  ip('link', 'set', BRIDGE, 'up');
}

interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** A PostgreSQL of three machines that chooses its leader by itself. */
export class Cluster {
  readonly machines: readonly Machine[];
  readonly #home: string;
  readonly #etcd = new Map<string, ChildProcess>();

  private constructor(
    t: TestContext,
    private readonly isSynchronous: boolean,
  ) {
    // In memory where there is room: etcd gives its leader up when a busy disk holds it up. The loss of a machine is SIGKILL, which loses nothing of a file.
    this.#home = folder(t, makeDataFolder());
    this.machines = [1, 2, 3].map((n) => new Machine(t, `database${n}`, 10 + n));
  }

  static async start(t: TestContext, { isSynchronous }: { isSynchronous: boolean }): Promise<Cluster> {
    const cluster = new Cluster(t, isSynchronous);
    for (const machine of cluster.machines) cluster.boot(machine);
    await cluster.settled();
    const { address } = await cluster.leader();
    await onServer(urlAt(address, 'postgres'), (client) => client.query('CREATE DATABASE gatehouse'));
    return cluster;
  }

  /** All machines, as DATABASE_URL names them. */
  get url(): string {
    const addresses = this.machines.map(({ address }) => `${address}:${PORTS.postgres}`).join(',');
    return `postgresql://gatehouse:${PASSWORD}@${addresses}/gatehouse?target_session_attrs=read-write`;
  }

  /** Starts all that runs on a machine of the database. */
  boot(machine: Machine): void {
    this.startEtcd(machine);
    this.#spawn(machine, 'patroni', [this.#configure(machine)]);
  }

  startEtcd(machine: Machine): void {
    const { name, address } = machine;
    const all = this.machines.map((one) => `${one.name}=http://${one.address}:${PORTS.peer}`).join(',');
    const child = this.#spawn(machine, 'etcd', [
      ...['--name', name, '--data-dir', path.join(this.#home, `etcd-${name}`), '--initial-cluster', all],
      ...['--listen-peer-urls', `http://${address}:${PORTS.peer}`, '--initial-advertise-peer-urls', `http://${address}:${PORTS.peer}`],
      ...['--listen-client-urls', `http://${address}:${PORTS.client}`, '--advertise-client-urls', `http://${address}:${PORTS.client}`],
      ...['--enable-v2', '--logger', 'zap', '--log-level', 'error'],
    ]);
    this.#etcd.set(name, child);
  }

  killEtcd({ name }: Machine): void {
    this.#etcd.get(name)?.kill('SIGKILL');
  }

  #spawn(machine: Machine, program: string, args: readonly string[]): ChildProcess {
    const [command = '', ...prefix] = machine.prefix;
    const { uid, gid } = AS_POSTGRES;
    const unprivileged = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', program];
    const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', HOME: this.#home };
    const log = openSync(LOGS === undefined ? '/dev/null' : path.join(LOGS, `${machine.name}-${program}.log`), 'a');
    const child = spawn(command, [...prefix, ...unprivileged, ...args], { cwd: '/', env, stdio: ['ignore', log, log] });
    closeSync(log);
    return child;
  }

  #configure({ name, address }: Machine): string {
    const home = path.join(this.#home, name);
    mkdirSync(home, { recursive: true });
    const local = (user: string) => ({ username: user, password: PASSWORD });
    const configuration = {
      scope: 'gatehouse',
      name,
      restapi: { listen: `${address}:${PORTS.patroni}`, connect_address: `${address}:${PORTS.patroni}` },
      // Patroni 3.0 (Debian 12) with `etcd3` lets a leader that was frozen take the lease back from its successor, which loses what was acknowledged since.
      etcd: { hosts: this.machines.map((one) => `${one.address}:${PORTS.client}`) },
      bootstrap: {
        dcs: {
          ...TIMES,
          synchronous_mode: this.isSynchronous,
          postgresql: { use_pg_rewind: true, parameters: { max_connections: 200, wal_keep_size: '512MB' } },
        },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen: `${address}:${PORTS.postgres}`,
        connect_address: `${address}:${PORTS.postgres}`,
        data_dir: path.join(home, 'data'),
        bin_dir: postgresBinaries(),
        pgpass: path.join(home, 'pgpass'),
        authentication: { superuser: local('gatehouse'), replication: local('replicator'), rewind: local('rewinder') },
        pg_hba: [`host all all ${NETWORK}.0/24 scram-sha-256`, `host replication all ${NETWORK}.0/24 scram-sha-256`, 'local all all trust'],
        parameters: { unix_socket_directories: home },
      },
      watchdog: { mode: 'off' },
    };
    const file = path.join(home, 'patroni.json');
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(configuration));
    execFileSync('chown', ['-R', `${AS_POSTGRES.uid}:${AS_POSTGRES.gid}`, this.#home]);
    return file;
  }

  /** What Patroni says of its members, asked of any that answers. */
  async members(): Promise<readonly Member[]> {
    for (const { address } of this.machines) {
      try {
        const response = await fetch(`http://${address}:${PORTS.patroni}/cluster`, { signal: AbortSignal.timeout(1000) });
        return ((await response.json()) as { members: Member[] }).members;
      } catch {} // Another one knows.
    }
    return [];
  }

  async leader(): Promise<Machine> {
    const name = (await this.members()).find(({ role }) => role === 'leader')?.name;
    const found = this.machines.find((machine) => machine.name === name);
    assert.ok(found !== undefined, 'there is a leader');
    return found;
  }

  /** The machines that follow the leader. */
  async replicas(): Promise<readonly Machine[]> {
    const leader = await this.leader();
    return this.machines.filter((machine) => machine !== leader);
  }

  /** Waits until one leads and two follow it, one of them synchronously where that is wanted. */
  async settled(): Promise<void> {
    const wanted = ['leader', this.isSynchronous ? 'sync_standby' : 'replica', 'replica'];
    await eventually(
      async () => {
        const members = await this.members();
        const roles = members.filter(({ state }) => state === 'running' || state === 'streaming').map(({ role }) => role);
        return roles.length === 3 && wanted.every((role) => roles.includes(role));
      },
      'one leads and two follow',
      180,
    );
  }

  /** Asks the machine that leads. */
  async query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    const { address } = await this.leader();
    return (await onServer(urlAt(address, 'gatehouse'), (client) => client.query(text, [...values]))).rows as Row[];
  }
}

/** Starts the service on a machine and waits until it is ready. */
export async function serviceOn(t: TestContext, machine: Machine, env: Readonly<Record<string, string>>): Promise<Command> {
  const command = spawnCommand(t, [...machine.prefix, ...SERVICE.program], { ...env, HOST: machine.address, PORT: PORTS.service });
  if (LOGS !== undefined) command.child.stdout?.on('data', (text: string) => appendFileSync(path.join(LOGS, `${machine.name}.log`), text));
  await command.printed(SERVICE.ready);
  return command;
}

/** Where the service of a machine listens. */
export const serviceAddress = ({ address }: Machine): string => `${address}:${PORTS.service}`;
