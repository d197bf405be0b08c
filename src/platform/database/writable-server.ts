/**
 * Connects to the server that accepts writes (PostgreSQL manual, `target_session_attrs`): after a failover, the next connection finds the promoted
 * standby. The connection's options list the servers.
 */

import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { timings } from '../clock/timings.ts';
import { tracedStatement } from '../telemetry/tracing.ts';
import { isUnanswered, NoWritableServer, READ_ONLY_STATE } from './database-failures.ts';
import { mayRepeat, pauseAfterAttempt } from './repetition.ts';

/** Connection options of the database. */
export interface Connection extends pg.ClientConfig {
  /** URLs of several servers, or of one that must accept writes. Absent: `connectionString` or the other options define the server. */
  readonly servers?: readonly string[];
  /** Can a pooler in transaction mode be used? */
  readonly pooler?: boolean;
}

/** Last writable server of each list. It is tried first, because a replaced server that returns must not get writes. */
const preferred = new Map<string, string>();
/** Concurrent connections share one lookup. */
const looking = new Map<string, Promise<string>>();

/** Why a server is not used; undefined: it accepts writes. */
type Refusal = string | undefined;

async function refusalOf(server: string): Promise<Refusal> {
  const until = performance.now() + timings.serverLook;
  const client = new pg.Client({ connectionString: server, connectionTimeoutMillis: timings.serverLook, application_name: 'gatehouse' });
  client.on('error', () => {});
  try {
    await client.connect();
    const question = { text: 'SHOW transaction_read_only', query_timeout: Math.max(1, until - performance.now()) };
    const { rows } = await client.query<{ transaction_read_only: string }>(question);
    return rows[0]?.transaction_read_only === 'off' ? undefined : 'read only';
  } catch (error) {
    const { message, code } = error as Error & { readonly code?: string };
    return message === '' ? String(code) : message;
  } finally {
    client.end().catch(() => {});
  }
}

/** Tries a server if the previous one refused or did not respond in time. If the previous one accepts writes, no other is needed. */
async function refusalAfter(before: Promise<Refusal>, wait: number, server: string): Promise<Refusal> {
  const refusal = await Promise.race([before, delay(wait, 'silent', { ref: false })]);
  return refusal === undefined ? undefined : refusalOf(server);
}

async function look(servers: readonly string[], list: string): Promise<string> {
  const first = preferred.get(list);
  const inOrder = [...servers].sort((a, b) => Number(b === first) - Number(a === first));
  let last: Promise<Refusal> = Promise.resolve('none was asked');
  const attempts = inOrder.map((server, index) => {
    last = refusalAfter(last, index * timings.serverHeadStart, server);
    return { server, refusal: last };
  });
  const reasons: string[] = [];
  for (const { server, refusal } of attempts) {
    const reason = await refusal;
    if (reason === undefined) {
      preferred.set(list, server);
      return server;
    }
    reasons.push(reason);
  }
  throw new NoWritableServer(reasons);
}

/**
 * @returns the first server in order that accepts writes, starting with the last writable one, regardless of which responds first
 * @throws {NoWritableServer}
 */
function writableServer(servers: readonly string[]): Promise<string> {
  const list = servers.join(' ');
  const found = looking.get(list) ?? look(servers, list).finally(() => looking.delete(list));
  looking.set(list, found);
  return found;
}

/** A connection that finds its server when it opens, records whether that one stops accepting writes, and closes if it does not respond. */
export class WritableClient extends pg.Client {
  /** Was a write refused? */
  wasReadOnly = false;
  readonly #servers: readonly string[] | undefined;

  constructor(config?: Connection) {
    super(config);
    this.#servers = config?.servers;
    // Statements report the error. Without a listener, a connection that breaks before its first use or between two statements of a
    // transaction would end the process.
    this.on('error', () => {});
    this.connection.on('errorMessage', ({ code }: { readonly code?: string }) => {
      if (code === READ_ONLY_STATE) this.wasReadOnly = true;
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: ((error: Error) => void) | ((error: null, client: pg.Client) => void)): void;
  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads
  override connect(callback?: any): any {
    const servers = this.#servers;
    const connecting = servers === undefined ? super.connect() : this.#connectToOneOf(servers);
    if (callback === undefined) return connecting;
    connecting.then(() => callback(null, this), callback);
  }

  /** Repeats a statement outside of a transaction that PostgreSQL rolled back. */
  // biome-ignore lint/suspicious/noExplicitAny: pg's own overloads, handed on as they come
  override query(...args: any[]): any {
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const send = super.query.bind(this) as any;
    // A cursor or stream is an object of its own kind.
    if (typeof args[0]?.submit === 'function') return send(...args);
    const callback = args.at(-1);
    if (typeof callback === 'function') return this.#ask(send, args.slice(0, -1), tracedStatement(args[0], callback));
    return new Promise((resolve, reject) => {
      const settle = (error: unknown, result: unknown): void => (error ? reject(error) : resolve(result));
      this.#ask(send, args, tracedStatement(args[0], settle));
    }).catch((error: Error) => {
      // As in pg: the stack of the socket reader does not show the caller.
      Error.captureStackTrace(error);
      throw error;
    });
  }

  #ask(
    send: (...args: unknown[]) => void,
    args: readonly unknown[],
    callback: (error: unknown, result: unknown) => void,
    attempt = 1,
  ): void {
    send(...args, (error: unknown, result: unknown) => {
      // The transaction status before the statement: the server sends the new one later. A failed commit must not be repeated.
      if (error && this.getTransactionStatus() === 'I' && mayRepeat(error, attempt)) {
        setTimeout(() => this.#ask(send, args, callback, attempt + 1), pauseAfterAttempt(attempt));
        return;
      }
      // Later statements, such as a rollback, would also get no response, and their callers would wait as long again.
      if (isUnanswered(error)) this.end().catch(() => {});
      callback(error, result);
    });
  }

  async #connectToOneOf(servers: readonly string[]): Promise<pg.Client> {
    const { host, port } = new pg.Client({ connectionString: await writableServer(servers) });
    // pg reads both only when it connects.
    Object.assign(this, { host, port });
    return super.connect();
  }
}

// Splits a database URL with several hosts (PostgreSQL manual, "Specifying Multiple Hosts"), of which pg supports only one. Hosts in the
// query are not supported.

const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** @returns a URL for each server, in the same order */
export function serversIn(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = SEVERAL.exec(url) ?? [];
  const servers = hosts.split(',').map((host) => `${before}${host}${after}`);
  return servers.length > 1 ? servers : [url];
}

/** Values of `target_session_attrs` that allow writes. */
export const WRITING = ['read-write', 'primary'];

/** @returns the value of target_session_attrs; absent: the default */
export const attributesIn = (url: string): string =>
  new URL(serversIn(url)[0] ?? url).searchParams.get('target_session_attrs') ?? 'read-write';

/** Must a server be checked for writes before it is used? Always with several servers, and if the URL requires it. */
export const shouldTakeWrites = (url: string): boolean => serversIn(url).length > 1 || url.includes('target_session_attrs=');
