/**
 * Eight hours of a company in SOAK_MINUTES (10). Two services with a faster clock run behind haproxy. Under load, they are upgraded from the former release,
 * restarted and killed, keys rotate and tokens expire. Nothing acknowledged is lost, memory and rows stay bounded, and requests fail only if a killed
 * process was answering them. SOAK_USERS is the size of the company: by default 333 for each minute.
 */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { flowNamed } from '../bench/flows/index.ts';
import { endpointsAt, type Target } from '../bench/target.ts';
import { FastClock } from '../rehearsals/fast-clock.ts';
import { formerRelease } from '../rehearsals/former-release.ts';
import { folder, haproxy, postgres } from '../rehearsals/programs.ts';
import { Traffic } from '../rehearsals/traffic.ts';
import { setPolicies } from '../support/access-policies.ts';
import { afterwards } from '../support/afterwards.ts';
import { makeDataFolder } from '../support/data-folder.ts';
import { type Command, eventually, freePort, SERVICE, spawnCommand } from '../support/process.ts';
import { ADMIN, API_TOKEN, callsTo, newSecretKey } from '../support/service.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const HOURS = 8;
const USERS = Number(process.env.SOAK_USERS ?? Math.round((MINUTES * 1000) / 3));
/** Requests for each user in the eight hours. */
const EACH: Readonly<Record<string, number>> = {
  'sign-in': 1,
  code: 4,
  refresh: 8,
  'client credentials': 2,
  user: 0.01,
  'introspect, hint': 12,
  'introspect, no hint': 12,
  userinfo: 4,
  'organization list': 0.5,
  'organization detail': 0.5,
};
/** Flows of the bench that only read; the others are those of `Traffic`. */
const READS = ['introspect, hint', 'introspect, no hint', 'userinfo', 'organization list', 'organization detail'];
/** Senders of each kind. */
const AT_ONCE = 8;
/** Users who sign in. */
const ACCOUNTS = 100;
const SERVER = 'soak';
/** Milliseconds until the balancer notices that a service has ended or started. */
const NOTICED = 5000;
/** A request on a connection that was being closed. Release 0.1.0 closes idle ones 0.2 s after SIGTERM, before the balancer has noticed. */
const CUT_OFF = /socket hang up|UND_ERR_SOCKET|ECONNRESET/;
/** Reachable memory at the end of the day, relative to that after its first quarter. */
const MOST_GROWTH = 1.1;
/** Rows at the end of the day, relative to three hours before; by then rows are being removed. */
const MOST_ROWS = 1.1;

const isMissing = !existsSync('/usr/sbin/haproxy') || !existsSync('/usr/lib/postgresql');

test('eight hours of a company, an upgrade and restarts among them', async (t) => {
  if (isMissing) return t.skip('apt-get install haproxy postgresql');
  const former = formerRelease(t);
  // In memory where there is room: a busy disk would hold statements up for longer than the service waits.
  const database = await postgres(t, [], folder(t, makeDataFolder()));
  const [entry, ...ports] = [await freePort(), await freePort(), await freePort()];
  const base = `http://localhost:${entry}`;
  const clock = new FastClock(Date.now(), (HOURS * 60) / MINUTES);
  const env = {
    BASE_URL: base,
    DATABASE_URL: database.url,
    SECRET_KEY: newSecretKey(),
    ADMIN_PASSWORD: ADMIN.password,
    ADMIN_API_TOKEN: API_TOKEN,
    TRUST_PROXY: '1',
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'error',
    SOAK_CLOCK: String(clock),
    NODE_OPTIONS: `--import ${new URL('../rehearsals/soak-process.js', import.meta.url).href}`,
  };
  const start = async (program: readonly string[], port = '') => {
    const command = spawnCommand(t, program, { ...env, PORT: port });
    await command.printed(SERVICE.ready);
    return command;
  };
  const running: Command[] = [await start(former.program, ports[0]), await start(former.program, ports[1])];
  const addresses = ports.map((port) => `127.0.0.1:${port}`);
  await haproxy(t, entry, addresses);
  await eventually(async () => (await fetch(`${base}/health/ready`)).ok, 'the balancer has found them');

  const service = callsTo(base);
  const call = async (method: string, path: string, body: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await call('POST', '/authorizationServers', {
    id: SERVER,
    name: 'Soak',
    audiences: ['api://soak'],
    accessTokenFormat: 'opaque',
    accessTokenLifetimeMinutes: 120,
  });
  // Two hours: tokens stay active until they are looked up, and their rows are removed within the day.
  await setPolicies(service, SERVER, [{ rules: [{ actions: { token: { refreshTokenWindowMinutes: 120 } } }] }]);
  await call('PUT', '/settings/sign-in', { sessionIdleMinutes: 60 });
  const { orgId } = await call('POST', '/account/org', { orgName: 'Company' });

  const rates = Object.fromEntries(Object.entries(EACH).map(([kind, times]) => [kind, (times * USERS) / (MINUTES * 60)]));
  const traffic = new Traffic(service, { serverId: SERVER, users: ACCOUNTS, rates, clockFactor: clock.factor });
  afterwards(t, () => traffic.stop());
  await traffic.start(AT_ONCE);
  const endpoints = endpointsAt(service.issuer(SERVER));
  const server = { opaque: endpoints, jwt: endpoints };
  const target: Target = {
    name: 'gatehouse',
    roots: [],
    servers: [server],
    clientId: traffic.client.clientId,
    clientSecret: traffic.client.clientSecret ?? '',
    password: '',
    directory: { api: `${base}/api/v1`, apiToken: API_TOKEN, orgId },
  };
  for (const name of READS) {
    const flow = flowNamed(name);
    traffic.add(name, AT_ONCE, async () => {
      const { access_token, refresh_token } = traffic.newest;
      const seat = { server, login: '', tokens: { accessToken: access_token, refreshToken: refresh_token } };
      await flow.request(await flow.prepare(target, seat));
    });
  }

  const replace = async (index: 0 | 1, signal: NodeJS.Signals = 'SIGTERM') => {
    const ended = await running[index]?.stop(signal);
    assert.equal(ended, signal === 'SIGTERM' ? 0 : signal);
    running[index] = await start(SERVICE.program, ports[index]);
    await delay(NOTICED);
  };
  /** Megabytes that are reachable in the second service: it runs from the upgrade to the end. */
  const heap = async () => {
    const { child, output } = running[1] as Command;
    const lines = () => [...output.stdout.matchAll(/^MEMORY (.*)$/gm)].map(([, line = '']) => JSON.parse(line) as NodeJS.MemoryUsage);
    const before = lines().length;
    child.kill('SIGUSR2');
    const { heapUsed, external, rss } = await eventually(() => lines()[before], 'it prints its memory');
    return { reachable: (heapUsed + external) / 2 ** 20, rss: rss / 2 ** 20 };
  };
  const rows = async () => {
    // Rows are removed when the hour after the one in which they expire has ended. The service checks every minute.
    const late = clock.at(Date.now()) / 1000 - 2 * 3600 - 2 * 60 * clock.factor;
    const text =
      'SELECT count(*)::integer AS all, count(*) FILTER (WHERE expires_at < to_timestamp($1))::integer AS late FROM oidc_payload';
    return (await database.query<{ all: number; late: number }>(text, [late]))[0] ?? assert.fail();
  };
  const rotate = async () => {
    await call('POST', `/authorizationServers/${SERVER}/credentials/lifecycle/keyRotate`, { use: 'sig' });
  };

  const restart = { name: 'restart (SIGTERM)', act: () => replace(0) };
  const rotation = { name: 'keys rotate', act: rotate };
  const upgrade = {
    name: `upgrade from ${former.version}`,
    act: async () => {
      await replace(0);
      await replace(1);
    },
  };
  const kill = { name: 'restart (SIGKILL)', act: () => replace(0, 'SIGKILL') };
  const events = new Map([
    [1, upgrade],
    ...[2.5, 3.5, 5.5, 6.5, 7.5].map((hour) => [hour, restart] as const),
    [4.5, kill],
    ...[3, 4, 5, 6, 7].map((hour) => [hour, rotation] as const),
  ]);

  const morning = Date.now();
  const idTokens: string[] = [];
  const table: { hour: number; reachable: number; rows: number }[] = [];
  for (let hour = 0.5; hour <= HOURS; hour += 0.5) {
    await delay(Math.max(0, morning + (hour * 3_600_000) / clock.factor - Date.now()));
    const { name, act } = events.get(hour) ?? { name: '', act: async () => {} };
    const begun = performance.now();
    await act();
    const taken = traffic.take();
    idTokens.push(traffic.newest.id_token);
    const [lost, { reachable, rss }, { all, late }] = [
      await traffic.missing(taken, (text, values) => database.query(text, values)),
      await heap(),
      await rows(),
    ];
    for (const { what } of taken.failures) console.log(what);
    table.push({ hour, reachable, rows: all });
    console.table([
      {
        hour,
        event: name,
        answered: traffic.total,
        'seconds without an answer': (taken.silence / 1000).toFixed(1),
        failed: taken.failures.length,
        acknowledged: `${taken.tokens.length} tokens, ${taken.used.length} uses, ${taken.users.length} users`,
        lost: Object.values(lost).join(', '),
        'reachable MB': reachable.toFixed(1),
        'RSS MB': rss.toFixed(0),
        rows: all,
        late,
      },
    ]);
    assert.deepEqual(lost, { tokens: 0, uses: 0, users: 0, events: 0 }, `hour ${hour}`);
    assert.equal(late, 0, 'expired rows are removed');
    const allowed = ({ at, what }: (typeof taken.failures)[number]) =>
      at > begun - NOTICED && ((name === kill.name && at < begun + NOTICED) || (name === upgrade.name && CUT_OFF.test(what)));
    assert.deepEqual(
      taken.failures.filter((failure) => !allowed(failure)),
      [],
      `hour ${hour}`,
    );
  }
  await traffic.stop();
  console.log(Object.fromEntries(traffic.answered), `planned: ${Math.round(Object.values(EACH).reduce((sum, one) => sum + one) * USERS)}`);

  const at = (hour: number) => table.find((line) => line.hour === hour) ?? assert.fail();
  const told = table.map(({ hour, reachable, rows }) => `${hour}: ${reachable.toFixed(1)} MB, ${rows} rows`).join('; ');
  assert.ok(at(HOURS).reachable < at(HOURS / 4).reachable * MOST_GROWTH, `memory: ${told}`);
  assert.ok(at(HOURS).rows < at(HOURS - 3).rows * MOST_ROWS, `rows: ${told}`);

  const keys = createRemoteJWKSet(new URL(`${service.issuer(SERVER)}/keys`));
  for (const token of idTokens) {
    const { iat = 0 } = decodeJwt(token);
    await jwtVerify(token, keys, { issuer: service.issuer(SERVER), audience: target.clientId, currentDate: new Date(iat * 1000) });
  }
  for (const command of running) assert.equal(await command.stop(), 0);
});
