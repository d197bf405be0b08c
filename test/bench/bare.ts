/** A baseline's process, started and stopped. */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { BareSettings } from './bare-provider.ts';
import { end, freePort, printed, startNode } from './child.ts';
import { addRows, providePlace } from './database.ts';
import type { Plan } from './options.ts';
import { CLIENT, endpointsAt, type RunningTarget, type ServerAddress, type Target, type Tokens } from './target.ts';

const ENTRY = fileURLToPath(new URL('bare-provider.js', import.meta.url));

/** More rows like those of the first token that is there. */
const MORE_ROWS = `INSERT INTO oidc (model, id, payload, grant_id, uid, expires_at)
  SELECT model, encode(sha256(n::text::bytea), 'base64'), payload, encode(sha256(n::text::bytea), 'base64'), NULL, expires_at
  FROM (SELECT * FROM oidc WHERE model = 'AccessToken' LIMIT 1) sample, generate_series($1::integer, $2::integer) n`;

export async function startBare(name: 'map' | 'plain', plan: Plan): Promise<RunningTarget> {
  const place = name === 'plain' ? await providePlace(plan.databaseUrl) : undefined;
  const [opaquePort, jwtPort] = [await freePort(), await freePort()];
  const password = randomBytes(12).toString('base64url');
  const { processes } = plan;
  const settings: BareSettings = { opaquePort, jwtPort, processes, password, databaseUrl: place?.url, dataDir: place?.dataDir };
  // Its warnings are about what a product would have to set.
  const child = startNode(ENTRY, [], {
    cores: plan.cores?.measured,
    env: { ...plan.timings, BENCH_BARE: JSON.stringify(settings) },
    stderr: plan.verbose ? 'inherit' : 'ignore',
    nodeOptions: plan.profileOptions(name),
  });
  const stop = async () => {
    await end(child);
    await place?.putAway();
  };
  try {
    await printed(child, /is ready/);
  } catch (error) {
    await stop();
    throw error;
  }
  const base = `http://127.0.0.1:${opaquePort}`;
  const server: ServerAddress = { opaque: endpointsAt(base), jwt: endpointsAt(`http://127.0.0.1:${jwtPort}`) };
  const target: Target = {
    name,
    roots: [child.pid ?? 0, ...(place?.roots ?? [])],
    // It knows no other.
    servers: [server],
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    password,
  };
  return {
    target,
    async issueTokens(_server, count) {
      const response = await fetch(`${base}/bench/tokens?count=${count}`, { method: 'POST' });
      if (!response.ok) throw new Error(await response.text());
      return (await response.json()) as Tokens[];
    },
    ...(place !== undefined && { fill: (rows: number) => place.work((client) => addRows(client, rows, MORE_ROWS)) }),
    stop,
  };
}
