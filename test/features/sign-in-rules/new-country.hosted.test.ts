/** The condition newCountry: a real database of countries (the test data that MaxMind publishes), at the sign-in page and in the simulator. */
import assert from 'node:assert/strict';
import { copyFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { currentCountryDatabase, openCountryDatabase } from '../../../src/platform/geo/country-database.ts';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import type { Received } from '../../support/requests.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const FILE = path.resolve('test/support/geo/GeoIP2-Country-Test.mmdb');
const [BRITAIN, SWEDEN, HOME] = ['2.125.160.216', '89.160.20.112', '10.0.0.1'];

class BrowserAt extends UserAgent {
  address = BRITAIN;
  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('x-forwarded-for', this.address);
    return super.send(address, { ...init, headers });
  }
}

async function start(t: TestContext, file: string | undefined = FILE) {
  const service = await startService(t, { env: { TRUST_PROXY: '1', ...(file && { GEO_DATABASE_FILE: file }) } });
  const { clientId } = await createClient(service, { grant_types: ['authorization_code'] });
  const setRules = async (...rules: unknown[]) => {
    const { status, body } = await service.api('PUT', '/settings/sign-in', { rules });
    assert.equal(status, 200, JSON.stringify(body));
  };
  const signIn = async (user: { login: string; password: string }, address: string) => {
    const browser = new BrowserAt(service.baseUrl);
    browser.address = address;
    const page = await browser.signIn(
      await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, prompt: 'login' })),
      user,
    );
    return page.status === 403 ? 'refused' : answerOf(page).code === undefined ? page.text.slice(0, 500) : 'in';
  };
  const countries = (userId: string): Promise<string[]> =>
    onServer(service.database.url, async (sql) =>
      (await sql.query('SELECT country FROM sign_in_countries WHERE user_id = $1 ORDER BY 1', [userId])).rows.map(({ country }) => country),
    );
  return { service, clientId, setRules, signIn, countries };
}

const NEW = { name: 'New country', conditions: { newCountry: true }, action: 'DENY' };

test('sign-ins note their country also without a rule; then a new one is refused, and one that is refused teaches nothing', async (t) => {
  const { service, clientId, setRules, signIn, countries } = await start(t);
  const user = await service.createUser();
  assert.equal(await signIn(user, BRITAIN), 'in');
  assert.deepEqual(await countries(user.id), ['GB']);
  await setRules(NEW);
  assert.equal(await signIn(user, BRITAIN), 'in');
  assert.equal(await signIn(user, SWEDEN), 'refused');
  assert.equal(await signIn(user, SWEDEN), 'refused');
  assert.deepEqual(await countries(user.id), ['GB']);
  assert.equal(await signIn(user, HOME), 'in', 'no country, no match');
  const filter = encodeURIComponent(`eventType eq "policy.evaluate_sign_on" and target.id eq "${user.id}"`);
  const [event] = (await service.api('GET', `/logs?filter=${filter}`)).body;
  assert.deepEqual([event.outcome.reason, event.debugContext.decision.rule], ['SIGN_IN_DENIED', 'New country']);

  const stranger = await service.createUser();
  assert.equal(await signIn(stranger, SWEDEN), 'in', 'the first country is not new');
  await setRules();
  assert.equal(await signIn(user, SWEDEN), 'in');
  assert.deepEqual(await countries(user.id), ['GB', 'SE']);
  assert.match(JSON.stringify((await service.api('GET', `/users/${user.id}/data`)).body), /"country":"SE"/);

  await setRules(NEW);
  const simulate = async (sign_in: unknown) => {
    const request = { client_id: clientId, user: stranger.id, grant_type: 'authorization_code', scopes: ['openid'], sign_in };
    const { body } = await service.api('POST', '/authorizationServers/built-in/simulate', request);
    return [body.sign_in.action, body.sign_in.steps[0].reason];
  };
  assert.deepEqual(await simulate({ ip_address: BRITAIN }), ['DENY', 'the rule fits']);
  assert.deepEqual(await simulate({ ip_address: SWEDEN }), ['ALLOW', 'the country is known']);
  assert.deepEqual(await simulate({ ip_address: HOME }), ['ALLOW', 'the country is not known']);
  assert.deepEqual(await simulate({ ip_address: SWEDEN, new_country: true }), ['DENY', 'the rule fits']);
});

test('a country is forgotten a year after the last sign-in from it', async (t) => {
  const { service, setRules, signIn, countries } = await start(t);
  const user = await service.createUser();
  assert.equal(await signIn(user, SWEDEN), 'in');
  moveClock(t, 200 * 86_400);
  assert.equal(await signIn(user, BRITAIN), 'in');
  moveClock(t, 200 * 86_400);
  assert.equal(await signIn(user, BRITAIN), 'in');
  assert.deepEqual(await countries(user.id), ['GB']);
  await setRules(NEW);
  assert.equal(await signIn(user, SWEDEN), 'refused');
});

test('without a file, and with one that cannot be read, the rule never matches and nobody is locked out', async (t) => {
  for (const file of [undefined, '/nowhere/countries.mmdb']) {
    const { service, setRules, signIn, countries } = await start(t, file ?? '');
    const user = await service.createUser();
    await setRules(NEW);
    assert.equal(await signIn(user, BRITAIN), 'in');
    assert.equal(await signIn(user, SWEDEN), 'in');
    assert.deepEqual(await countries(user.id), []);
  }
});

test('the file: addresses in each form, what is none, and a file that is replaced or broken', async (t) => {
  const database = await openCountryDatabase(FILE);
  const codes = [BRITAIN, `::ffff:${SWEDEN}`, '2001:218::1', HOME, 'not an address', ''].map((address) => database.countryOf(address));
  assert.deepEqual(codes, ['GB', 'SE', 'JP', undefined, undefined, undefined]);
  assert.ok(database.built > new Date('2020-01-01'));
  const file = path.join(tmpdir(), `countries-${process.pid}.mmdb`);
  t.after(() => rm(file, { force: true }));
  const failures: unknown[] = [];
  const look = () => currentCountryDatabase(file, (error) => failures.push(error));
  const later = t.mock.method(performance, 'now');
  const start = performance.now();
  assert.equal(await look(), undefined);
  assert.equal(failures.length, 1);
  await copyFile(FILE, file);
  later.mock.mockImplementation(() => start + 30_000);
  assert.equal(await look(), undefined, 'it is looked at once a minute');
  later.mock.mockImplementation(() => start + 70_000);
  const found = await look();
  assert.equal(found?.countryOf(SWEDEN), 'SE');
  await writeFile(file, 'no database');
  await utimes(file, new Date(), new Date());
  later.mock.mockImplementation(() => start + 140_000);
  assert.equal(await look(), found, 'the former one stays in use');
  assert.equal(failures.length, 2);
});
