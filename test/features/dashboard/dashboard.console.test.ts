/** The dashboard, without JavaScript: ranges, trends, applications, reasons and second factors, counted from the audit log beside the requests. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { createClient } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer, testDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';
import type { Page } from '../../support/user-agent.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Tomorrow, in the middle of an hour and of a day: after what the first start has written to the audit log. */
const NOON = Math.ceil(Date.now() / DAY) * DAY + 12.5 * HOUR;
const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

interface Told {
  readonly type: string;
  readonly at: number;
  readonly user?: string;
  readonly target?: string;
  readonly reason?: string;
}

const write = (service: Service, events: readonly Told[]): Promise<unknown> =>
  onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO audit_events (uuid, published, event_type, display_message, actor, client, outcome, target)
        SELECT gen_random_uuid(), to_timestamp(at / 1000), type, 'x', jsonb_build_object('id', "user"), '{}', jsonb_build_object('reason', reason, 'result', CASE WHEN reason IS NULL THEN 'SUCCESS' ELSE 'FAILURE' END),
          CASE WHEN target IS NULL THEN '[]' ELSE jsonb_build_array(jsonb_build_object('id', target, 'type', 'AppInstance')) END
        FROM jsonb_to_recordset($1::jsonb) AS told (type text, at float8, "user" text, target text, reason text)`,
      [JSON.stringify(events)],
    ),
  );

/** Events of before the first count, as after an upgrade. */
async function writeHistory(service: Service, events: readonly Told[]): Promise<void> {
  await write(service, events);
  await onServer(service.database.url, (client) => client.query('UPDATE activity_rollup SET counted_until = NULL'));
}

const counts = (service: Service, span: string): Promise<[start: string, metric: string, key: string, count: number][]> =>
  onServer(service.database.url, async (client) => {
    const { rows } = await client.query(
      `SELECT to_char(start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24') AS start, metric, key, count::int FROM activity_counts WHERE span = $1 ORDER BY start, metric, key`,
      [span],
    );
    return rows.map(({ start, metric, key, count }) => [start, metric, key, count]);
  });

const tilesOf = ({ text }: Page): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(
      text.matchAll(/<li><a href="[^"]*">([^<]*)<\/a> <strong>([^<]*)<\/strong> <span>([^<]*)<\/span>/g),
      ([, label, count, trend]) => [label, `${count}, ${trend}`],
    ),
  );

const linkTo = ({ text }: Page, label: string): string =>
  new RegExp(`<a href="([^"]+)"[^>]*>(?:<bdi>)?${label}`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(`no link ${label}`);

/** Waits until all that has happened is counted. */
async function counted(service: Service, expected: number): Promise<void> {
  await eventually(async () => {
    const total = (await counts(service, 'DAY')).reduce((sum, [, , , count]) => sum + count, 0);
    return total === expected;
  }, `${expected} events are counted`);
}

test('the dashboard: numbers of each range beside the time before, applications, reasons and second factors', async (t) => {
  stopClock(t);
  moveClock(t, (NOON - Date.now()) / 1000);
  const service = await startService(t, { sendsOutbox: true });
  const [anna, ben, cleo] = await Promise.all([1, 2, 3].map(() => service.createUser()));
  assert(anna !== undefined && ben !== undefined && cleo !== undefined);
  await onServer(service.database.url, (client) =>
    client.query(
      "INSERT INTO user_factors (id, user_id, type, name, created, sealed_secret, last_step) VALUES ('one', $1, 'TOTP', 'x', now(), 'x', 0)",
      [anna.id],
    ),
  );
  const { clientId: shop } = await createClient(service);
  const { agent } = await enter(service);
  const start = (user: { id: string }, at: number): Told => ({ type: 'user.session.start', user: user.id, at });
  const sso = (user: { id: string }, target: string, at: number): Told => ({ type: 'user.authentication.sso', user: user.id, target, at });
  const fails = (reason: string, at: number): Told => ({ type: 'user.authentication.failure', user: 'unknown', reason, at });
  // The administrator has signed in, and opened the console.
  await counted(service, 2);
  const events = [
    ...[
      start(anna, NOON - 3 * HOUR),
      start(anna, NOON - 2 * DAY),
      start(ben, NOON - 5 * DAY),
      start(ben, NOON - 40 * DAY),
      start(cleo, NOON - 100 * DAY),
    ],
    ...[sso(anna, shop, NOON - 3 * HOUR), sso(ben, shop, NOON - 5 * DAY), sso(ben, 'gone', NOON - 5 * DAY), sso(ben, shop, NOON - 9 * DAY)],
    ...[fails('INVALID_CREDENTIALS', NOON - HOUR), fails('INVALID_CREDENTIALS', NOON - 2 * DAY), fails('LOCKED_OUT', NOON - 2 * DAY)],
    { type: 'app.oauth2.as.authorize', user: cleo.id, target: shop, reason: 'NOT_ASSIGNED', at: NOON - 26 * HOUR },
    { type: 'app.oauth2.as.authorize', user: cleo.id, target: shop, reason: 'invalid_request: the parameter …', at: NOON - HOUR },
  ];
  await writeHistory(service, events);
  await counted(service, 2 + events.length - 1);
  // Numbers are read at most twice a minute.
  moveClock(t, 60);

  const week = await agent.visit('/admin?range=7d');
  const tiles = tilesOf(week);
  assert.match(tiles['Sign-ins'] ?? '', /^4, None in the 7 days before$/);
  assert.match(tiles['Failed sign-ins'] ?? '', /^4, None in the 7 days before$/);
  assert.match(tiles['Active users'] ?? '', /^3, ▲ 200 % more than in the 7 days before \(1\)$/);
  assert.match(tiles['Second factors'] ?? '', /^33 %, 1 of 3 active users$/);
  assert.match(wordsOf(week), /Test application 2 1 .*Why sign-ins failed Wrong password 2/);
  assert.match(wordsOf(week), /gone deleted 1 0/);
  assert.match(wordsOf(week), /Not assigned to the application 1/);
  assert.match(wordsOf(week), /Passkey 0 0 % Authenticator app 1 33 % No second factor 2 67 %/);
  assert.match(wordsOf(await agent.visit(linkTo(week, 'Wrong password'))), /INVALID_CREDENTIALS/);
  assert.equal((await agent.visit(linkTo(week, 'Test application'))).status, 200);

  const day = await agent.visit('/admin?range=24h');
  assert.match(tilesOf(day)['Sign-ins'] ?? '', /^2, /);
  assert.match(tilesOf(day)['Failed sign-ins'] ?? '', /^1, As many as in the 24 hours before$/);
  assert.match(tilesOf(day)['Active users'] ?? '', /^2, /);
  assert.match(wordsOf(day), /Hour Sign-ins Failed 12:00 .*09:00 1 0/);
  assert.match(tilesOf(await agent.visit('/admin?range=90d'))['Sign-ins'] ?? '', /^5, ▲ 400 % more than in the 90 days before \(1\)$/);
  assert.match(tilesOf(await agent.visit('/admin?range=for-ever'))['Sign-ins'] ?? '', /^4, ▲ 300 % more than in the 30 days before \(1\)$/);

  // A user who is deleted was not active.
  await service.api('DELETE', `/users/${ben.id}`);
  await service.api('DELETE', `/users/${ben.id}`);
  moveClock(t, 60);
  assert.match(tilesOf(await agent.visit('/admin?range=7d'))['Active users'] ?? '', /^2, None in the 7 days before$/);
});

test('counted in every process, again and again, by hours and days, late events too: the numbers are the same', async (t) => {
  stopClock(t);
  moveClock(t, (NOON - Date.now()) / 1000);
  const beside = { database: await testDatabase(), secretKey: newSecretKey() };
  afterwards(t, () => beside.database.drop());
  const service = await startService(t, { beside, sendsOutbox: true });
  await startService(t, { beside, sendsOutbox: true });
  const user = await service.createUser();
  const start = (at: number): Told => ({ type: 'user.session.start', user: user.id, at });
  await writeHistory(service, [start(NOON), start(NOON - 3 * DAY), start(NOON - 200 * DAY)]);
  await counted(service, 2);
  assert.deepEqual(await counts(service, 'DAY'), [
    [`${dateOf(NOON - 3 * DAY)} 00`, 'sign-in', '', 1],
    [`${dateOf(NOON)} 00`, 'sign-in', '', 1],
  ]);
  // Committed later than another one that happened after it.
  await write(service, [start(NOON - 60_000)]);
  await counted(service, 3);
  moveClock(t, 3600);
  await write(service, [start(NOON + HOUR)]);
  await counted(service, 4);
  await write(service, [start(NOON + HOUR - 60_000)]);
  await counted(service, 5);
  moveClock(t, 20 * 3600);
  await write(service, [start(NOON + 21 * HOUR)]);
  await counted(service, 6);
  assert.deepEqual((await counts(service, 'DAY')).slice(1), [
    [`${dateOf(NOON)} 00`, 'sign-in', '', 4],
    [`${dateOf(NOON + DAY)} 00`, 'sign-in', '', 1],
  ]);
  assert.deepEqual(
    (await counts(service, 'HOUR')).filter(([hour]) => hour < dateOf(NOON - DAY)),
    [],
    'hours are kept for three days',
  );
});

test('next steps are a list with ticks, which is gone when all is done; totals and health are told', async (t) => {
  const service = await startService(t, { env: { SMTP_URL: 'smtp://127.0.0.1:2525', MAIL_FROM: 'us@example.org' } });
  await service.api('POST', '/api-tokens', { name: 'Soon over', expiresAt: new Date(Date.now() + 5 * DAY).toISOString() });
  await service.api('POST', '/api-tokens', { name: 'Lives long', expiresAt: new Date(Date.now() + 50 * DAY).toISOString() });
  const { agent, page } = await enter(service);
  assert.match(wordsOf(page), /API token “Soon over”/);
  assert.doesNotMatch(page.text, /Lives long/);
  assert.match(
    wordsOf(page),
    /Database Responds in \d+ ms.*Audit log last sealed.*Mail A mail server is configured.*Undelivered e-mails None/,
  );
  const steps = ({ text }: Page): string[] =>
    Array.from(text.matchAll(/aria-hidden="true">(✓|○)<\/span> <div><a href="[^"]*">([^<]+)/g), ([, tick, label]) => `${tick} ${label}`);
  assert.deepEqual(steps(page), [
    '○ Create an application',
    '✓ Create an API token',
    '○ Set the branding',
    '✓ Set up mail',
    '○ Protect an MCP server',
  ]);
  await createClient(service);
  assert.deepEqual(steps(await agent.visit('/admin')).slice(0, 1), ['✓ Create an application']);
  await service.api('PUT', '/settings/branding', { name: randomBytes(4).toString('hex') });
  assert.deepEqual(steps(await agent.visit('/admin')), []);
  assert.equal(tilesOf(page)['Applications'], '0, In total');
  assert.equal(tilesOf(await agent.visit('/admin'))['Applications'], '0, In total', 'counts hold for a minute');
  moveClock(t, 61);
  assert.equal(tilesOf(await agent.visit('/admin'))['Applications'], '1, In total');
});
