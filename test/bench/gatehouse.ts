/** Gatehouse as its users start it: a real process, durable as it is by default. Only the rate limits are off, and the log tells warnings. */
import { randomBytes, randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { START_OPTIONS } from '../support/start-options.ts';
import { type Cores, end, freePort, printed, startNode } from './child.ts';
import { addRows, type Place, providePlace } from './database.ts';
import { issuedTokens, many } from './issued-tokens.ts';
import type { Plan } from './options.ts';
import { CALLBACK, endpointsAt, loginOf, PERSON, type RunningTarget, type ServerAddress, type Target, USERS } from './target.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const ORGANIZATIONS = 20;

/**
 * More rows like those of the first token that is there, issued in the ten days before; in the order of the key, so that each page of its index is
 * written once for many of them. How a key begins: protocol/storage/row-keys.ts.
 */
const MORE_ROWS = `INSERT INTO oidc_payload (id, model, server_key, payload, account_id, client_id, grant_id, expires_at, exp_hour)
  SELECT number.id, model, server_key, payload, account_id, client_id, number.id, expires_at, exp_hour
  FROM (SELECT lpad(to_hex((extract(epoch FROM now()) / 60)::integer - 1 - n % 14400), 7, '0') || encode(sha256(n::text::bytea), 'base64') COLLATE "C" AS id, n
      FROM generate_series($1::integer, $2::integer) n ORDER BY 1) number,
    (SELECT * FROM oidc_payload WHERE model = 3 LIMIT 1) sample`;

/** The same, but of hours that are over. */
const EXPIRED_ROWS = MORE_ROWS.replace('- 1 - n', '- 43200 - n').replace(
  'expires_at, exp_hour\n  FROM',
  "expires_at - interval '30 days', exp_hour - 720 + n % 200\n  FROM",
);

export interface GatehouseProcess {
  readonly pid: number;
  readonly base: string;
  /** Of an administrator. */
  readonly apiToken: string;
  readonly place: Place;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly databaseUrl?: string | undefined;
  readonly processes?: number;
  readonly cores?: Cores | undefined;
  /** Of the process, beside those it always has, e.g. `--cpu-prof`. */
  readonly nodeOptions?: readonly string[];
  readonly timings?: Plan['timings'];
  readonly env?: Readonly<Record<string, string>>;
}

export async function startProcess({
  databaseUrl,
  processes = 1,
  cores,
  nodeOptions = [],
  timings = {},
  env: more = {},
}: ProcessOptions = {}): Promise<GatehouseProcess> {
  const place = await providePlace(databaseUrl);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const apiToken = randomBytes(32).toString('base64url');
  const env = {
    ...timings,
    ...more,
    PORT: String(port),
    BASE_URL: base,
    ADMIN_API_TOKEN: apiToken,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
    WORKERS: String(processes),
    ...(place.dataDir !== undefined && { DATA_DIR: place.dataDir }),
    ...(place.url !== undefined && { DATABASE_URL: place.url, SECRET_KEY: randomBytes(32).toString('base64url') }),
  };
  const child = startNode(MAIN, [], { cores: cores?.measured, env, nodeOptions: [...START_OPTIONS, ...nodeOptions] });
  const stop = async () => {
    await end(child);
    await place.putAway();
  };
  try {
    await printed(child, /is ready/);
    return { pid: child.pid ?? 0, base, apiToken, place, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export interface RunningGatehouse extends Required<RunningTarget> {
  /** More rows that have expired. */
  fillExpired(rows: number): Promise<void>;
  /** @returns how many expired rows there are */
  expired(): Promise<number>;
}

export async function startGatehouse(plan: Plan): Promise<RunningGatehouse> {
  const service = await startProcess({ ...plan, nodeOptions: plan.profileOptions('gatehouse') });
  try {
    return await furnish(service, plan);
  } catch (error) {
    await service.stop();
    throw error;
  }
}

async function furnish({ pid, base, apiToken, place, stop }: GatehouseProcess, { servers, serversInUse }: Plan): Promise<RunningGatehouse> {
  const api = `${base}/api/v1`;
  const create = async <T>(resource: string, body: unknown): Promise<T> => {
    const key = randomUUID();
    const call = () =>
      fetch(api + resource, {
        method: 'POST',
        headers: { authorization: `SSWS ${apiToken}`, 'content-type': 'application/json', 'idempotency-key': key },
        body: JSON.stringify(body),
      });
    let response = await call();
    // A thousand servers have two thousand keys: on a busy machine the service may have to be asked again.
    for (let times = 0; response.status === 503 && times < 10; times += 1) response = await call();
    if (!response.ok) throw new Error(`${resource}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  const password = randomBytes(12).toString('base64url');
  await many(USERS, (user) =>
    create('/users', {
      profile: { ...PERSON, login: loginOf(user), email: loginOf(user) },
      credentials: { password: { value: password } },
    }),
  );
  const orgs = await many(ORGANIZATIONS, (org) => create<{ orgId: string }>('/account/org', { orgName: `Organization ${org}` }));
  const { credentials } = await create<{ credentials: { oauthClient: { client_id: string; client_secret: string } } }>('/apps', {
    label: 'Load',
    settings: {
      oauthClient: { redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] },
    },
  });
  const builtIn: ServerAddress = { opaque: endpointsAt(`${base}/oauth/v1`), jwt: endpointsAt(`${base}/oauth/v1/default`) };
  const more = await many(servers, async (number): Promise<ServerAddress> => {
    const id = `bench${number}`;
    // RSA keys take their time: those that nobody uses do with others.
    const signingAlg = number < serversInUse ? 'RS256' : 'ES256';
    await create('/authorizationServers', {
      id,
      name: `Bench ${number}`,
      audiences: [`api://${id}`],
      accessTokenFormat: 'opaque',
      signingAlg,
    });
    return { opaque: endpointsAt(`${base}/oauth/v1/${id}`), jwt: builtIn.jwt };
  });
  const target: Target = {
    name: 'gatehouse',
    roots: [pid, ...place.roots],
    servers: servers === 0 ? [builtIn] : more.slice(0, serversInUse),
    clientId: credentials.oauthClient.client_id,
    clientSecret: credentials.oauthClient.client_secret,
    password,
    directory: { api, apiToken, orgId: orgs[0]?.orgId ?? '' },
  };
  return {
    target,
    issueTokens: (server, count) => issuedTokens(target, server, count),
    fill: (rows) => place.work((client) => addRows(client, rows, MORE_ROWS)),
    fillExpired: (rows) => place.work((client) => addRows(client, rows, EXPIRED_ROWS)),
    async expired() {
      let count = 0;
      await place.work(async (client) => {
        const { rows } = await client.query<{ count: string }>(
          "SELECT count(*) FROM oidc_payload WHERE expires_at < now() - interval '2 hours'",
        );
        count = Number(rows[0]?.count);
      });
      return count;
    },
    stop,
  };
}
