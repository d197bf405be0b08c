/** A report as tables of Markdown, as docs/performance takes them. */
import { AGAINST_PEER, MEMORY, P99_AT_HALF, verdict } from './goals.ts';
import type { Report, Row } from './report.ts';
import { PEERS } from './target.ts';

type Cell = string | number;

export function markdown(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`;
  return [head, head.map(() => '---'), ...rows].map(line).join('\n');
}

const fixed = (value: number, digits: number): string => (Number.isNaN(value) ? '–' : value.toFixed(digits));

export function tables(report: Report): string {
  return [facts(report), throughput(report), ratios(report), toPeers(report), half(report), storms(report), memories(report)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function facts(report: Report): string {
  const { load, rounds, seconds, concurrency, processes, rowsBefore, servers, serversInUse } = report;
  const areMissing = report.instructionsWanted && Number.isNaN(report.hash.instructions);
  return [
    `${report.machine}; Node ${report.node}; commit ${report.commit}; load before ${fixed(load[0], 1)}, at the end ${fixed(load[1], 1)}.`,
    `${report.database}; ${processes} ${processes === 1 ? 'process' : 'processes'}; ${rowsBefore} token rows before; ${servers} more authorization servers, ${serversInUse} of them in use.`,
    `Median of ${rounds} interleaved rounds of ${seconds} s, ${concurrency} concurrent; ${report.pinned ? 'the generator on a core of its own' : 'the generator shares the cores'}. CPU is that of the service and its PostgreSQL together; one password hash${report.cheapHash ? ' of the least cost' : ''} is ${fixed(report.hash.cpu, report.cheapHash ? 2 : 1)} ms of it${Number.isNaN(report.hash.instructions) ? '' : ` (${fixed(report.hash.instructions, 1)} million instructions)`}.`,
    ...(areMissing
      ? [
          'Instructions are not counted: perf is not installed, or this machine has no hardware counters (`perf stat -e instructions true` tells).',
        ]
      : []),
  ].join('\n');
}

function throughput({ rows }: Report): string {
  if (rows.length === 0) return '';
  const work = ({ instructions }: Row): number => instructions.service + instructions.database;
  const counted = rows.some((row) => !Number.isNaN(work(row)));
  return markdown(
    ['flow', 'target', 'flows/s', 'p50 ms', 'p99 ms', 'CPU ms/flow', 'service', 'PostgreSQL', ...(counted ? ['M instructions'] : [])],
    rows.map((row) => [
      row.flow,
      row.target,
      fixed(row.throughput, 0),
      fixed(row.p50, 1),
      fixed(row.p99, 1),
      fixed(row.cpu.service + row.cpu.database, 2),
      fixed(row.cpu.service, 2),
      fixed(row.cpu.database, 2),
      ...(counted ? [fixed(work(row), 2)] : []),
    ]),
  );
}

function ratios(report: Report): string {
  const compared = report.ratios.filter(({ toMap, toPlain }) => !Number.isNaN(toMap) || !Number.isNaN(toPlain));
  if (compared.length === 0) return '';
  const counted = compared.some(({ instructions }) => !Number.isNaN(instructions.toMap) || !Number.isNaN(instructions.toPlain));
  return markdown(
    ['CPU of Gatehouse', 'to plain PostgreSQL', 'goal', '', 'to Map', 'goal', '', ...(counted ? ['instructions: to plain', 'to Map'] : [])],
    compared.map(({ flow, withoutHash, toMap, mapGoal, toPlain, plainGoal, instructions }) => [
      withoutHash ? `${flow}, without its hash` : flow,
      fixed(toPlain, 2),
      plainGoal ?? '–',
      verdict(toPlain, plainGoal),
      fixed(toMap, 2),
      mapGoal ?? '–',
      verdict(toMap, mapGoal),
      ...(counted ? [fixed(instructions.toPlain, 2), fixed(instructions.toMap, 2)] : []),
    ]),
  );
}

function toPeers(report: Report): string {
  const measured = PEERS.filter((peer) => report.ratios.some((ratio) => ratio.toPeers[peer] !== undefined));
  if (measured.length === 0) return '';
  return markdown(
    ['CPU of Gatehouse', ...measured.flatMap((peer) => [`to ${peer}`, 'goal', ''])],
    report.ratios
      .filter((ratio) => measured.some((peer) => ratio.toPeers[peer] !== undefined))
      .map(({ flow, withoutHash, toPeers: to }) => [
        withoutHash ? `${flow}, without its hash` : flow,
        ...measured.flatMap((peer) => {
          const [value, goal] = [to[peer] ?? Number.NaN, withoutHash ? AGAINST_PEER : undefined];
          return [fixed(value, 2), Number.isNaN(value) ? '–' : (goal ?? '–'), verdict(value, goal)];
        }),
      ]),
  );
}

function half(report: Report): string {
  if (report.half.length === 0) return '';
  return markdown(
    ['at half of saturation', 'flows/s', 'p50 ms', 'p99 ms', 'goal', ''],
    report.half.map(({ flow, rate, p50, p99 }) => [
      flow,
      fixed(rate, 0),
      fixed(p50, 1),
      fixed(p99, 1),
      P99_AT_HALF,
      verdict(p99, P99_AT_HALF),
    ]),
  );
}

function storms({ storms: all }: Report): string {
  if (all.length === 0) return '';
  return markdown(
    ['token requests beside sign-ins', 'alone p50 ms', 'p99', 'in the storm p50 ms', 'p99', 'token requests/s', 'sign-ins/s'],
    all.map(({ target, alone, during }) => [
      target,
      fixed(alone.p50, 1),
      fixed(alone.p99, 1),
      fixed(during.p50, 1),
      fixed(during.p99, 1),
      fixed(during.throughput, 0),
      fixed(during.beside ?? Number.NaN, 0),
    ]),
  );
}

function memories({ rows, serversInUse }: Report): string {
  const targets = [...new Set(rows.map(({ target }) => target))];
  if (targets.length === 0) return '';
  const goal = serversInUse > 100 ? MEMORY.many : MEMORY.few;
  return markdown(
    ['memory, most', 'largest process of the service, MiB (RSS)', 'PostgreSQL MiB (PSS)', 'goal', ''],
    targets.map((target) => {
      const most = (share: 'service' | 'database') =>
        Math.max(...rows.filter((row) => row.target === target).map(({ memory }) => memory[share]));
      const ours = target === 'gatehouse';
      return [
        target,
        fixed(most('service'), 0),
        fixed(most('database'), 0),
        ours ? goal : '–',
        ours ? verdict(most('service'), goal) : '–',
      ];
    }),
  );
}
