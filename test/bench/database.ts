/** Where a target keeps its data: an embedded PostgreSQL of its own, or a database of its own on a server that is given. Both as durable as they are by default. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { databaseUrl, dropDatabase, onServer } from '../support/database.ts';
import { isPostgres, parentOf } from './cpu.ts';

export interface Place {
  /** One of both. */
  readonly dataDir?: string;
  readonly url?: string;
  /** The server's first process, where it does not descend from the service's and can be seen from here. */
  readonly roots: readonly number[];
  /** Does some work on a connection of its own. */
  work(work: (client: pg.Client) => Promise<void>): Promise<void>;
  putAway(): Promise<void>;
}

/** @param server URL of any database on a server; absent: embedded */
export const providePlace = (server: string | undefined): Promise<Place> => (server === undefined ? folder() : database(server));

async function folder(): Promise<Place> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  chmodSync(dataDir, 0o711); // as root, the database's user has to pass
  return {
    dataDir,
    roots: [],
    // Joins the server as a second service would.
    async work(work) {
      const embedded = await startEmbeddedPostgres({ dataDir, say: () => {} });
      try {
        const client = new pg.Client(embedded.superuser);
        await client.connect();
        await work(client).finally(() => client.end());
      } finally {
        await embedded.stop();
      }
    },
    putAway: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

async function database(server: string): Promise<Place> {
  const name = `gatehouse_bench_${randomBytes(6).toString('hex')}`;
  const roots = await onServer(server, async (client) => {
    await client.query(`CREATE DATABASE ${name}`);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const pid = rows[0]?.pid ?? 0;
    const postmaster = isPostgres(pid) ? parentOf(pid) : undefined;
    return postmaster !== undefined && isPostgres(postmaster) ? [postmaster] : [];
  });
  const url = databaseUrl(server, name);
  return { url, roots, work: (work) => onServer(url, work), putAway: () => dropDatabase(server, name) };
}

export interface PeerFolder {
  readonly path: string;
  /** Adds a step of `stop`. */
  onStop(step: () => unknown): void;
  /** Takes the steps, the last first, and removes the folder. */
  stop(): Promise<void>;
}

/** A folder for a peer's program. */
export function peerFolder(): PeerFolder {
  const made = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-peer-'));
  const steps: (() => unknown)[] = [() => rmSync(made, { recursive: true, force: true })];
  return {
    path: made,
    onStop: (step) => void steps.push(step),
    async stop() {
      for (const step of steps.splice(0).reverse()) await step();
    },
  };
}

/** What PostgreSQL would do by itself within minutes. */
export async function settle(client: pg.Client): Promise<void> {
  await client.query('VACUUM (ANALYZE)');
  await client.query('CHECKPOINT');
}

/** Rows that one statement adds: a bounded transaction. */
const AT_ONCE = 2_500_000;

/** @param statement adds the rows of the numbers from $1 to $2 */
export async function addRows(client: pg.Client, rows: number, statement: string): Promise<void> {
  await client.query("SET statement_timeout = 0; SET synchronous_commit = off; SET work_mem = '512MB'");
  for (let first = 1; first <= rows; first += AT_ONCE) {
    await client.query(statement, [first, Math.min(first + AT_ONCE - 1, rows)]);
  }
  await settle(client);
}
