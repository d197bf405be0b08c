/**
 * `npm run bench:directory -- [--members 1000000] [--departments 10000] [--organizations 1000] [--providers 1000]`: how fast a big organization is read, over
 * HTTP, beside as many small ones, and the identity providers of organizations are found. All is filled in the database itself; the people have no passwords.
 */
import { randomBytes } from 'node:crypto';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { signInForm } from './authorization.ts';
import { settle } from './database.ts';
import { CALLS, type Row, timed } from './directory-calls.ts';
import { type GatehouseProcess, startProcess } from './gatehouse.ts';
import { createTemplate, fillProviders, measureDiscovery, planOfDiscovery, startIssuer } from './home-realms.ts';
import { Browser } from './http.ts';
import { commit, machine } from './report.ts';
import { markdown } from './table.ts';

const ADMIN_PASSWORD = randomBytes(12).toString('base64url');
/** Departments below each department of the big organization. */
const BREADTH = 10;

const { values: options } = parseArgs({
  options: {
    members: { type: 'string', default: '1000000' },
    departments: { type: 'string', default: '10000' },
    organizations: { type: 'string', default: '1000' },
    providers: { type: 'string', default: '1000' },
  },
});

function positive(name: keyof typeof options): number {
  const value = Number(options[name]);
  if (!(Number.isInteger(value) && value > 0)) throw new Error(`--${name} must be a positive whole number`);
  return value;
}
const size = {
  members: positive('members'),
  departments: positive('departments'),
  organizations: positive('organizations'),
  providers: positive('providers'),
};
if (size.providers > size.organizations) throw new Error('--providers must not be more than --organizations');

/** The keys that refer from one table to another are left unchecked: it is their checks that would take the time. */
const fill = ({ members, departments, organizations }: typeof size): string => `
  SET session_replication_role = replica;
  INSERT INTO organizations (id, name, created, last_updated)
    SELECT 'org_' || n, CASE n WHEN 0 THEN 'Big' ELSE 'Small ' || n END, now(), now() FROM generate_series(0, ${organizations}) n ORDER BY n;
  INSERT INTO departments (id, org_id, parent_id, name, created, last_updated)
    SELECT 'dep_' || n, 'org_0', CASE WHEN n >= ${BREADTH} THEN 'dep_' || n / ${BREADTH} END, 'Department ' || n, now(), now()
    FROM generate_series(0, ${departments - 1}) n ORDER BY n;
  INSERT INTO users (id, login, email, status, profile, created, last_updated)
    SELECT 'usr_' || n, 'user' || n || '@example.com', 'user' || n || '@example.com', 'ACTIVE',
      jsonb_build_object('firstName', 'First ' || n % 1000, 'lastName', 'Last ' || n, 'memberNumber', 'M' || n, 'seats', n % 1000,
        'tags', jsonb_build_array('tag' || n % 5000, 'all')), now(), now()
    FROM generate_series(0, ${members - 1}) n ORDER BY n;
  INSERT INTO memberships (org_id, user_id, dep_id, created)
    SELECT 'org_0', 'usr_' || n, CASE WHEN n % 10 > 0 THEN 'dep_' || n % ${departments} END, now() FROM generate_series(0, ${members - 1}) n;
  INSERT INTO member_counts (org_id, n, folded) VALUES ('org_0', ${members}, true);
  INSERT INTO member_totals (org_id, seq, n) SELECT id, seq, CASE id WHEN 'org_0' THEN ${members} ELSE 0 END FROM organizations;`;

/** Of attributes that the operator has added. */
const ATTRIBUTES = {
  memberNumber: { title: 'Member number', type: 'string' },
  seats: { title: 'Seats', type: 'integer' },
  tags: { title: 'Tags', type: 'array' },
};

async function addAttributes({ base, apiToken }: GatehouseProcess): Promise<void> {
  const response = await fetch(`${base}/api/v1/meta/schemas/user/default`, {
    method: 'POST',
    headers: { authorization: `SSWS ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ definitions: { custom: { properties: ATTRIBUTES } } }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

/** As a second service would, and leaves it as the database would tidy it up by itself within minutes. @returns how PostgreSQL finds the providers of a domain */
async function fillDatabase({ place }: GatehouseProcess, templateId: string): Promise<string> {
  let plan = '';
  await place.work(async (client) => {
    await client.query(fill(size));
    await client.query(fillProviders(size, templateId));
    await settle(client);
    plan = await planOfDiscovery(client);
  });
  return plan;
}

const measure = ({ base, apiToken }: GatehouseProcess, call: string, path: string): Promise<Row> =>
  timed(call, async () => {
    const response = await fetch(`${base}/api/v1${path}`, { headers: { authorization: `SSWS ${apiToken}` } });
    const body = await response.arrayBuffer();
    if (!response.ok) throw new Error(`${call}: ${response.status} ${Buffer.from(body).toString()}`);
    return body.byteLength;
  });

/** @returns the address of the next page; undefined: it is the last one */
async function nextOf({ base, apiToken }: GatehouseProcess, path: string): Promise<string | undefined> {
  const { headers } = await fetch(`${base}/api/v1${path}`, { headers: { authorization: `SSWS ${apiToken}` } });
  return /<[^>]*\/api\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

async function lastOf(service: GatehouseProcess, path: string): Promise<string> {
  const next = await nextOf(service, path);
  return next === undefined ? path : lastOf(service, next);
}

/** The list of the console, which is searched by names. */
async function measureConsole({ base }: GatehouseProcess): Promise<Row[]> {
  const browser = new Browser();
  const { action, form } = signInForm(await browser.visit(new URL(`${base}/admin`)));
  form.set('username', 'admin');
  form.set('password', ADMIN_PASSWORD);
  await browser.visit(action, form.toString());
  const look = (name: string, query: string) =>
    timed(name, async () => {
      const { status, text } = await browser.send(new URL(`${base}/admin/organizations?${query}`));
      if (status !== 200) throw new Error(`${name}: ${status} ${text.slice(0, 500)}`);
      return Buffer.byteLength(text);
    });
  return [
    await look('console, organizations by name', ''),
    await look('console, organizations by members', 'sort=-members'),
    await look('console, by members, a page in the middle', `sort=-members&page=${Math.ceil(size.organizations / 50)}`),
    await look('console, search for one organization', `q=small+${Math.ceil(size.organizations / 2)}`),
    await look('console, search that all but one match', 'q=small'),
    await look('console, search that none matches', 'q=nowhere'),
  ];
}

/** As a table of Markdown, as docs/performance takes it. */
function table(rows: readonly Row[], loadBefore: number): string {
  const cells = rows.map(({ call, p50, p99, bytes }) => [call, p50.toFixed(1), p99.toFixed(1), (bytes / 1024).toFixed(1)]);
  return [
    `${machine()}; Node ${process.versions.node}; commit ${commit()}; load before ${loadBefore.toFixed(1)}`,
    `${size.departments} departments and ${size.members} members in one of ${size.organizations + 1} organizations; ${size.providers} identity providers of organizations; ${CALLS} calls each, one after the other`,
    '',
    markdown(['call', 'p50 ms', 'p99 ms', 'answer KiB'], cells),
  ].join('\n');
}

const loadBefore = os.loadavg()[0] ?? 0;
const { issuer, close } = await startIssuer();
const service = await startProcess({ env: { ALLOW_PRIVATE_NETWORK: 'true', ADMIN_PASSWORD } });
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void service.stop().finally(() => process.exit(1)));
try {
  await addAttributes(service);
  const template = await createTemplate(service, issuer);
  const plan = await fillDatabase(service, template);
  const search = (expression: string) => `/users?search=${encodeURIComponent(expression)}`;
  const half = Math.floor(size.members / 2);
  const calls: [call: string, path: string][] = [
    ['detail', '/account/org/org_0'],
    ['tree', '/account/org/org_0/tree'],
    ['list, first page', '/account/org'],
    ['list, last page', `/account/org?limit=200&page=${Math.ceil((size.organizations + 1) / 200)}`],
    ['providers, first page', '/idps?limit=200'],
    ['providers, last page', await lastOf(service, '/idps?limit=200')],
    ['providers, search for one', `/idps?q=${encodeURIComponent(`Provider ${size.providers}`)}`],
    ['providers of an organization', `/account/org/org_${Math.floor(size.organizations / size.providers)}/idp`],
    ['members, first page', '/account/org/org_0/member?limit=200'],
    ['members, the second page', (await nextOf(service, '/account/org/org_0/member?limit=200')) ?? '/account/org/org_0/member'],
    ['attribute eq, one user', search(`profile.memberNumber eq "m${half}"`)],
    ['attribute eq, nobody', search('profile.memberNumber eq "nobody"')],
    ['attribute sw, some', search(`profile.memberNumber sw "M${half}"`)],
    ['attribute eq, a number', search(`profile.seats eq 7`)],
    ['attribute eq, an element', search(`profile.tags eq "tag77"`)],
    ['attribute eq, everybody', search(`profile.tags eq "all"`)],
    ['attribute co, one user', search(`profile.memberNumber co "${half}"`)],
    ['attribute co, nobody', search('profile.memberNumber co "nobody"')],
    ['attribute gt, half of all', search('profile.seats gt 500')],
    ['attribute gt, one in a thousand', search('profile.seats gt 998')],
    ['attribute lt, nobody', search('profile.seats lt 0')],
    ['two attributes', search(`profile.tags eq "all" and profile.memberNumber eq "M${half}"`)],
  ];
  const rows: Row[] = [];
  for (const [call, path] of calls) rows.push(await measure(service, call, path));
  rows.push(...(await measureConsole(service)));
  rows.push(...(await measureDiscovery(service, template)));
  console.log(`${table(rows, loadBefore)}\n\n${plan}`);
} finally {
  await service.stop();
  close();
}
