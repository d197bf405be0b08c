/** Adapters on a real database, and requests to use them in: reads remembered, writes committed at the end, as around oidc-provider. */
import type { TestContext } from 'node:test';
import type Koa from 'koa';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import als from 'oidc-provider/lib/helpers/als.js';
import { epochSeconds } from '../../../src/platform/clock/clock.ts';
import { type Database, openDatabase } from '../../../src/platform/database/database.ts';
import { CLIENT_SETTINGS } from '../../../src/protocol/servers/client-settings.ts';
import { ModelAdapter } from '../../../src/protocol/storage/model-adapter.ts';
import { MODELS, type ModelName } from '../../../src/protocol/storage/protocol-state.store.ts';
import { beginRequest } from '../../../src/protocol/storage/request-state.ts';
import { ServerState } from '../../../src/protocol/storage/server-state.ts';
import { SessionAdapter } from '../../../src/protocol/storage/session-adapter.ts';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';

/** The models of the common contract; ReplayDetection is stored once and never looked up. */
export const MODEL_NAMES = (Object.keys(MODELS) as ModelName[]).filter((name) => name !== 'ReplayDetection');
export const HOUR = 3600;
/** Whose tokens they are, and who asks. */
const CLIENT_ID = 'the-client';

export interface Servers {
  readonly database: Database;
  readonly first: ServerState;
  readonly second: ServerState;
}

/** Two authorization servers on a database of their own. */
export async function twoServers(t: TestContext): Promise<Servers> {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await openDatabase({ connection: own.connection, onError: () => {} });
  afterwards(t, () => database.close());
  const server = (key: number) => new ServerState(database.pool, key, `https://id.example/${key}`);
  return { database, first: server(1), second: server(2) };
}

export const adapterFor = (model: ModelName, server: ServerState): Adapter =>
  model === 'Session' ? new SessionAdapter(server) : new ModelAdapter(model, server);

/**
 * One request to a server.
 * @param leeway of the client that makes it, in seconds
 * @throws what `ServerState.commit` throws
 */
export async function inRequest<T>(server: ServerState, work: () => Promise<T>, leeway = 0): Promise<T> {
  const ctx = { state: {}, oidc: { client: { clientId: CLIENT_ID, [CLIENT_SETTINGS]: { refreshTokenLeeway: leeway } } } };
  const request = beginRequest(ctx as unknown as Koa.Context);
  return als.run(ctx, async () => {
    const result = await work();
    await server.commit(request);
    return result;
  });
}

/** A payload as oidc-provider would save it. */
export function payloadOf(model: ModelName, id: string, more: Record<string, unknown> = {}): AdapterPayload {
  const now = epochSeconds();
  return {
    kind: model,
    jti: id,
    clientId: CLIENT_ID,
    iat: now,
    exp: now + HOUR,
    ...(model === 'Session' ? { uid: `uid of ${id.slice(0, 4)}` } : {}),
    ...more,
  };
}

/** Every stored row of protocol state, all columns as text. */
export async function rows({ pool }: Database): Promise<string[]> {
  const { rows: found } = await pool.query<{ text: string }>(
    'SELECT p::text AS text FROM oidc_payload p UNION ALL SELECT c::text FROM browser_session_clients c',
  );
  return found.map(({ text }) => text);
}
