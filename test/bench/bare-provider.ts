/**
 * A baseline as a process: oidc-provider alone, the version Gatehouse runs on. `node bare-provider.js` reads its {@link BareSettings} from
 * BENCH_BARE; `POST /bench/tokens?count=` makes tokens without a browser. Several processes share a port, as Gatehouse's workers do.
 */
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Provider } from 'oidc-provider';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/embedded-postgres.ts';
import { inMap, inPostgres, type Store } from './bare-adapters.ts';
import { bareConfiguration, CLIENT_METADATA, newKey } from './bare-configuration.ts';
import { answerSignIn, enrol } from './bare-sign-in.ts';
import { CLIENT, loginOf, SCOPE } from './target.ts';

export interface BareSettings {
  readonly opaquePort: number;
  readonly jwtPort: number;
  readonly processes: number;
  readonly password: string;
  /** A database that is empty; a folder for an embedded one; or neither, for a Map. */
  readonly databaseUrl?: string | undefined;
  readonly dataDir?: string | undefined;
}

/** What the first process has found and hands on. */
interface Shared {
  readonly settings: BareSettings;
  readonly connection: pg.ClientConfig | undefined;
  readonly key: object;
}

/** What a sign-in would have left behind, made by the library's own models. */
async function issueTokens(provider: Provider, count: number) {
  const client = await provider.Client.find(CLIENT.id);
  if (client === undefined) throw new Error('there is no client');
  const tokens = [];
  for (let made = 0; made < count; made += 1) {
    const accountId = loginOf(made);
    const grant = new provider.Grant({ clientId: CLIENT.id, accountId });
    grant.addOIDCScope(SCOPE);
    const common = { client, accountId, grantId: await grant.save(), scope: SCOPE, gty: 'authorization_code' };
    const accessToken = await new provider.AccessToken(common).save();
    const refreshToken = await new provider.RefreshToken({ ...common, rotations: 0, authTime: Math.floor(Date.now() / 1000) }).save();
    tokens.push({ accessToken, refreshToken });
  }
  return tokens;
}

async function listen(port: number, format: 'opaque' | 'jwt', store: Store, key: object): Promise<void> {
  const provider = new Provider(`http://127.0.0.1:${port}`, bareConfiguration(store, key, format));
  const answer = provider.callback();
  async function route(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = req.url ?? '/';
    if (url.startsWith('/sign-in/')) await answerSignIn(provider, store, req, res);
    else if (url.startsWith('/bench/tokens')) {
      res.end(JSON.stringify(await issueTokens(provider, Number(new URL(url, provider.issuer).searchParams.get('count')))));
    } else await answer(req, res);
  }
  const server = createServer((req, res) => {
    route(req, res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
}

const storeIn = (connection: pg.ClientConfig | undefined): Store => (connection === undefined ? inMap() : inPostgres(poolOf(connection)));

function poolOf(connection: pg.ClientConfig): pg.Pool {
  const pool = new pg.Pool({ ...connection, max: 10, idleTimeoutMillis: 300_000 });
  pool.on('error', () => {});
  return pool;
}

async function serve({ settings, connection, key }: Shared, store = storeIn(connection)): Promise<void> {
  await listen(settings.opaquePort, 'opaque', store, key);
  await listen(settings.jwtPort, 'jwt', store, key);
}

async function begin(settings: BareSettings): Promise<void> {
  const embedded = settings.dataDir === undefined ? undefined : await startEmbeddedPostgres({ dataDir: settings.dataDir, say: () => {} });
  process.once('SIGTERM', () => {
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill();
    void embedded?.stop().finally(() => process.exit(0));
    if (embedded === undefined) process.exit(0);
  });
  const connection = embedded?.connection ?? (settings.databaseUrl === undefined ? undefined : { connectionString: settings.databaseUrl });
  const store = storeIn(connection);
  await store.prepare();
  await store.adapter('Client').upsert(CLIENT.id, CLIENT_METADATA, 0);
  await enrol(store, settings.password);
  const shared: Shared = { settings, connection, key: newKey() };
  if (settings.processes === 1 || connection === undefined) await serve(shared, store);
  else {
    for (let started = 0; started < settings.processes; started += 1) {
      await once(cluster.fork({ BENCH_SHARED: JSON.stringify(shared) }), 'message');
    }
  }
  process.stdout.write('The baseline is ready\n');
}

if (cluster.isPrimary) await begin(JSON.parse(process.env.BENCH_BARE ?? '{}'));
else {
  await serve(JSON.parse(process.env.BENCH_SHARED ?? '{}'));
  process.send?.('ready');
}
