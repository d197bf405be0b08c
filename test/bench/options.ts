/** What a run shall measure: the command line, parsed. */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CHEAPEST_HASH, timingsOfProcess } from '../support/short-waits.ts';
import { type Cores, shareCores } from './child.ts';
import { FLOWS } from './flows/index.ts';
import { PEERS, TARGETS, type TargetName, USERS } from './target.ts';

export const USAGE = `npm run bench -- [options]
  --flows a,b            flows whose names contain one of these (all)
  --targets a,b          of ${TARGETS.join(', ')} (all but the last two)
                         ${PEERS.join(' and ')} are fetched and built; they want --database postgres, over TCP, and --cheap-hash
  --modes a,b            of saturation, half, storm (all): at full load; latency at half of it; token requests during a storm of sign-ins
  --rounds N             times that each flow is measured on each target, interleaved (3)
  --seconds N            of each measurement (3); longer, up to ten times, where a busy machine would answer too few
  --warm-up N            seconds before each measurement, not counted (1); longer, up to forty times, until the flow has run often enough
  --concurrency N        users at once (8)
  --processes N          of the service and of the PostgreSQL baseline (1)
  --database embedded|postgres   the latter on the server of BENCH_DATABASE_URL (embedded)
  --rows N               token rows that are there before (0)
  --servers N            authorization servers beside the two that are always there (0); --servers-in-use N of them (200 at most)
  --cheap-hash           hashes passwords at the lowest cost, on all targets: measures sign-ins without the cost of the hash
  --instructions         counts those as well, where perf is installed; a little of the CPU is perf's then
  --json FILE            the report as JSON, too
  --cpu-prof FOLDER      a CPU profile of each service, when it ends
  --verbose              what the baselines complain of`;

const OURS = TARGETS.filter((name) => !PEERS.some((peer) => peer === name));

const MODES = ['saturation', 'half', 'storm'] as const;
type Mode = (typeof MODES)[number];

export interface Plan {
  readonly flows: readonly string[];
  readonly targets: readonly TargetName[];
  readonly modes: readonly Mode[];
  readonly rounds: number;
  readonly seconds: number;
  readonly warmUp: number;
  readonly concurrency: number;
  readonly processes: number;
  /** Absent: embedded. */
  readonly databaseUrl: string | undefined;
  readonly rows: number;
  readonly servers: number;
  readonly serversInUse: number;
  readonly instructions: boolean;
  readonly cheapHash: boolean;
  /** Environment of each process that hashes. */
  readonly timings: Readonly<Record<string, string>>;
  readonly json: string | undefined;
  readonly verbose: boolean;
  readonly cores: Cores | undefined;
  /** Node's options for a profile of a target. */
  profileOptions(target: TargetName): readonly string[];
}

/** @throws with a sentence for the one who typed it */
export function readPlan(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Plan {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      flows: { ...text, default: '' },
      targets: { ...text, default: OURS.join(',') },
      modes: { ...text, default: MODES.join(',') },
      rounds: { ...text, default: '3' },
      seconds: { ...text, default: '3' },
      'warm-up': { ...text, default: '1' },
      concurrency: { ...text, default: '8' },
      processes: { ...text, default: '1' },
      database: { ...text, default: 'embedded' },
      rows: { ...text, default: '0' },
      servers: { ...text, default: '0' },
      'servers-in-use': { ...text, default: '200' },
      instructions: { type: 'boolean', default: false },
      'cheap-hash': { type: 'boolean', default: false },
      json: text,
      'cpu-prof': text,
      verbose: { type: 'boolean', default: false },
    },
  });
  const positive = (name: 'seconds' | 'warm-up'): number => {
    const value = Number(values[name]);
    if (!(value > 0)) throw new Error(`--${name} must be a positive number`);
    return value;
  };
  const whole = (name: 'rounds' | 'concurrency' | 'processes' | 'rows' | 'servers' | 'servers-in-use', least: number): number => {
    const value = Number(values[name]);
    if (!(Number.isInteger(value) && value >= least)) throw new Error(`--${name} must be a whole number from ${least}`);
    return value;
  };
  const chosen = <T extends string>(name: 'targets' | 'modes', known: readonly T[]): readonly T[] => {
    const wanted = values[name].split(',');
    const unknown = wanted.filter((one) => !known.some((other) => other === one));
    if (unknown.length > 0) throw new Error(`--${name}: ${unknown.join(', ')} is none of ${known.join(', ')}`);
    return known.filter((one) => wanted.includes(one));
  };
  const concurrency = whole('concurrency', 1);
  if (concurrency > USERS) throw new Error(`--concurrency must be ${USERS} at most: so many users there are`);
  const parts = values.flows.split(',').map((part) => part.trim());
  const flows = FLOWS.map(({ name }) => name).filter((name) => parts.some((part) => name.includes(part)));
  if (flows.length === 0) throw new Error(`--flows: none of ${FLOWS.map(({ name }) => `"${name}"`).join(', ')}`);
  if (!['embedded', 'postgres'].includes(values.database)) throw new Error('--database must be embedded or postgres');
  const databaseUrl = values.database === 'postgres' ? env.BENCH_DATABASE_URL : undefined;
  if (values.database === 'postgres' && databaseUrl === undefined)
    throw new Error('--database postgres wants a server: BENCH_DATABASE_URL');
  const cheapHash = values['cheap-hash'];
  const targets = chosen('targets', TARGETS);
  if (targets.some((name) => !OURS.includes(name)) && !(cheapHash && databaseUrl !== undefined))
    throw new Error(
      `--targets ${PEERS.join(', ')}: these want --database postgres and --cheap-hash, since they hash at costs of their own`,
    );
  const processes = whole('processes', 1);
  const servers = whole('servers', 0);
  const profiles = values['cpu-prof'];
  return {
    flows,
    targets,
    modes: chosen('modes', MODES),
    rounds: whole('rounds', 1),
    seconds: positive('seconds'),
    warmUp: positive('warm-up'),
    concurrency,
    processes,
    databaseUrl,
    rows: whole('rows', 0),
    servers,
    serversInUse: Math.min(servers, whole('servers-in-use', 1)),
    instructions: values.instructions,
    cheapHash,
    timings: cheapHash ? timingsOfProcess({ passwordHash: CHEAPEST_HASH }) : {},
    json: values.json,
    verbose: values.verbose,
    cores: shareCores(processes),
    profileOptions: (target) =>
      profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(profiles, target)}`, '--cpu-prof-interval=500'],
  };
}
