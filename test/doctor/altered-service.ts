/** A service of a test's own behind a door that may change its answers on the way out: what a service would be that breaks one rule. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { TestContext } from 'node:test';
import { MODELS } from '../../src/protocol/storage/protocol-state.store.ts';
import { afterwards } from '../support/afterwards.ts';
import { onServer } from '../support/database.ts';
import { type Command, runCommand } from '../support/process.ts';
import { API_TOKEN, type Service, startService } from '../support/service.ts';

export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly form: URLSearchParams;
}

interface Answered {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** Changes an answer in place, or lets it be. */
export type Alter = (asked: Asked, answered: Answered) => void;

export interface AlteredService extends Service {
  /** From now on. */
  alter(alter: Alter): void;
}

async function textOf(stream: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export async function startAltered(t: TestContext, env: Readonly<Record<string, string>> = {}): Promise<AlteredService> {
  let alter: Alter = () => {};
  let target = '';
  const door = createServer(async (incoming, outgoing) => {
    const sent = await textOf(incoming);
    const url = new URL(incoming.url ?? '/', target);
    const { method = 'GET', headers } = incoming;
    const forwarded = request(url, { method, headers, agent: false }).end(sent);
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage];
    const answered: Answered = { status: reply.statusCode ?? 500, headers: { ...reply.headers }, text: await textOf(reply) };
    for (const name of ['content-length', 'transfer-encoding', 'connection', 'keep-alive']) delete answered.headers[name];
    alter({ method, url, headers, form: new URLSearchParams(sent) }, answered);
    for (const [name, value] of Object.entries(answered.headers)) if (value !== undefined) outgoing.setHeader(name, value);
    outgoing.writeHead(answered.status).end(answered.text);
  }).listen(0, '127.0.0.1');
  await once(door, 'listening');
  afterwards(t, () => {
    door.close();
    door.closeAllConnections();
  });
  const { port } = door.address() as { port: number };
  const service = await startService(t, { env: { ...env, BASE_URL: `http://localhost:${port}` } });
  target = service.listensAt;
  return {
    ...service,
    alter(next) {
      alter = next;
    },
  };
}

/** Runs the doctor against a service, as somebody far from it does. */
export const doctor = (t: TestContext, service: Service, ...args: string[]): Command =>
  runCommand(t, 'doctor', { GATEHOUSE_TOKEN: API_TOKEN }, '--url', service.baseUrl, ...args);

/** The rules by their outcome. */
export function outcomes(stdout: string): Record<'ok' | 'FAIL' | 'skip', string[]> {
  const of = (mark: string) => [...stdout.matchAll(new RegExp(`^${mark} +([\\w.-]+): `, 'gm'))].map(([, id = '']) => id);
  return { ok: of('ok'), FAIL: of('FAIL'), skip: of('skip') };
}

/** Everything that the doctor may make, by its id. */
export async function everything(service: Service): Promise<string[]> {
  const found: string[] = [];
  for (const path of ['/apps', '/users?filter=status pr', '/authorizationServers', '/groups']) {
    const { body } = await service.api('GET', `${path}${path.includes('?') ? '&' : '?'}limit=200`);
    found.push(...body.map(({ id }: { id: string }) => id));
  }
  const { body } = await service.api('GET', '/account/org?limit=200');
  return [...found, ...body.organizations.map(({ orgId }: { orgId: string }) => orgId)];
}

export async function mustLeaveNothing(t: TestContext, service: Service, before: readonly string[]): Promise<void> {
  await t.test('and leaves nothing behind: no application, user, server, organization, session, token or mail', async () => {
    assert.deepEqual(await everything(service), before);
    await onServer(service.database.url, async (client) => {
      const state = await client.query('SELECT model, payload, expires_at FROM oidc_payload WHERE model <> $1', [MODELS.ReplayDetection]);
      assert.deepEqual(state.rows, [], 'but that a request JWT was used, for as long as it lives: a minute');
      const tables = await client.query(
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'audit%' AND tablename <> 'failures_by_address'",
      );
      assert.ok(tables.rows.length > 20);
      for (const { name } of tables.rows) {
        const { rows } = await client.query(`SELECT * FROM "${name}" AS t WHERE t::text LIKE '%doctor%'`);
        assert.deepEqual(rows, [], name);
      }
      assert.deepEqual((await client.query('SELECT kind FROM outbox')).rows, [], 'no mail was written');
    });
  });
}

/** Rules that fail on the server of the tests: it may be fast rather than durable, and have the locale C. */
export const faultsOfServer = (url: string): Promise<string[]> =>
  onServer(url, async (client) => {
    const { rows } = await client.query("SELECT current_setting('fsync') = 'on' AS durable, lower('\u0414') = '\u0434' AS folds");
    return [...(rows[0].durable ? [] : ['database.durability']), ...(rows[0].folds ? [] : ['database.letter-case'])];
  });
