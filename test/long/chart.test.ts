/**
 * The Helm chart by Helm's own lint, kubeconform and the schemas of Kubernetes: two Go modules, a Python package, and the operator's own definition of ServiceMonitor.
 * What it renders is kept in test/long/chart/rendered.yaml; UPDATE_SNAPSHOTS=true writes it, and the digest of the checked files, which every test run compares
 * (test/docs/deployment.test.ts). HELM and KUBECONFORM name programs that are there already.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { CHECKED_DIGEST, digestOfChart } from '../support/chart-digest.ts';
import { folderWith, install, mustRun, pipInstall, runProgram } from './foreign/setting.ts';

const MODULES = {
  HELM: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
  KUBECONFORM: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
};
const OPERATOR = 'github.com/prometheus-operator/prometheus-operator@v0.85.0';
const SCHEMAS = 'kubernetes-validate==1.37.0';
/** The oldest that is maintained, and the newest that the schemas know. */
const VERSIONS = ['1.34.0', '1.37.0'];

/** What the chart renders of Kubernetes' own. */
const KINDS = /^(configmap|deployment|horizontalpodautoscaler|ingress|job|networkpolicy|poddisruptionbudget|service)-/;

const root = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const CHART = root('config/charts/gatehouse');
const VALUES = root('test/long/chart/values.yaml');
const RENDERED = root('test/long/chart/rendered.yaml');
const FEWEST = ['--set', 'image.repository=gatehouse,baseUrl=https://id.example.com,secretName=gatehouse'];

/** @returns the program, and why it cannot be had */
async function build(cwd: string, name: keyof typeof MODULES): Promise<{ program: string; missing: string | undefined }> {
  const given = process.env[name];
  if (given !== undefined) return { program: given, missing: undefined };
  const [, program = ''] = /\/([a-z]+)@/.exec(MODULES[name]) ?? [];
  const missing = await install(cwd, 'env', `GOBIN=${cwd}`, 'go', 'install', MODULES[name]);
  return { program: path.join(cwd, program), missing };
}

const template = (cwd: string, helm: string, version: string, ...values: string[]): Promise<string> =>
  mustRun(cwd, {}, helm, 'template', 'gatehouse', CHART, '--namespace', 'identity', '--kube-version', version, ...values);

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
}

/** As `kubectl` with strict validation: a field that is not listed is refused. */
const strict = (schema: Schema): Schema => ({
  ...schema,
  ...(schema.items !== undefined && { items: strict(schema.items) }),
  ...(schema.properties !== undefined && {
    properties: Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, strict(field)])),
    ...(schema['x-kubernetes-preserve-unknown-fields'] !== true && { additionalProperties: false }),
  }),
});

/** Writes the schema of ServiceMonitor where kubeconform looks for it. @returns why it cannot be had */
async function writeServiceMonitor(cwd: string): Promise<string | undefined> {
  const { code, output } = await runProgram(cwd, {}, 'go', 'mod', 'download', '-json', OPERATOR);
  if (code !== 0) return `${OPERATOR}: ${output.trim()}`;
  const file = path.join(JSON.parse(output).Dir, 'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml');
  const { openAPIV3Schema } = parse(readFileSync(file, 'utf8')).spec.versions[0].schema;
  // Of metadata it says no more than that it is an object.
  mkdirSync(path.join(cwd, 'crds'));
  writeFileSync(path.join(cwd, 'crds/servicemonitor-monitoring-v1.json'), JSON.stringify(strict(openAPIV3Schema)));
  return undefined;
}

/** Writes the schemas of Kubernetes where kubeconform looks for them, each whole: in the package they share definitions by an address that is none of a file. */
function writeSchemas(cwd: string, from: string): void {
  for (const version of VERSIONS) {
    const folder = path.join(from, `v${version}-local-strict`);
    mkdirSync(path.join(cwd, 'schemas', `v${version}`), { recursive: true });
    const schemaOf = (file: string) =>
      JSON.parse(readFileSync(path.join(folder, file), 'utf8').replaceAll('"/api/_definitions.json#', '"#'));
    const { $defs } = schemaOf('_definitions.json');
    for (const file of readdirSync(folder).filter((name) => KINDS.test(name)))
      writeFileSync(path.join(cwd, 'schemas', `v${version}`, file), JSON.stringify({ ...schemaOf(file), $defs }));
  }
}

async function tools(t: TestContext) {
  const cwd = folderWith(t, {});
  const helm = await build(cwd, 'HELM');
  const kubeconform = await build(cwd, 'KUBECONFORM');
  const { python, missing } = await pipInstall(cwd, SCHEMAS);
  const reason = helm.missing ?? kubeconform.missing ?? missing ?? (await writeServiceMonitor(cwd));
  if (reason !== undefined) return { reason };
  const where = 'import kubernetes_validate, os; print(os.path.dirname(kubernetes_validate.__file__))';
  writeSchemas(cwd, path.join((await mustRun(cwd, {}, python, '-c', where)).trim(), 'kubernetes-json-schema'));
  const validate = (version: string, file: string) =>
    runProgram(
      cwd,
      {},
      kubeconform.program,
      ...['-strict', '-summary', '-output', 'json', '-kubernetes-version', version],
      ...['-schema-location', `${cwd}/schemas/{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json`],
      ...['-schema-location', `${cwd}/crds/{{.ResourceKind}}{{.KindSuffix}}.json`],
      file,
    );
  return { cwd, helm: helm.program, validate };
}

test('the Helm chart', async (t) => {
  const { reason, ...there } = await tools(t);
  if (reason !== undefined || !('helm' in there)) return t.skip(reason);
  const { cwd, helm, validate } = there as Required<typeof there>;
  let failed = 0;
  const check = (what: string, work: () => Promise<void>): Promise<void> =>
    t.test(what, () =>
      work().catch((error: unknown) => {
        failed += 1;
        throw error;
      }),
    );

  await check('passes helm lint, strictly', async () => {
    for (const values of [['--values', VALUES], FEWEST]) await mustRun(cwd, {}, helm, 'lint', CHART, '--strict', ...values);
  });

  await check('renders what is kept', async () => {
    const rendered = await template(cwd, helm, '1.34.0', '--values', VALUES);
    if (process.env.UPDATE_SNAPSHOTS === 'true') writeFileSync(RENDERED, rendered);
    assert.equal(rendered, readFileSync(RENDERED, 'utf8'), 'look at the difference; UPDATE_SNAPSHOTS=true keeps what is rendered now');
  });

  for (const version of VERSIONS)
    await check(`is valid for Kubernetes ${version}, with everything and with the least`, async () => {
      for (const [values, most] of [
        [['--values', VALUES], 10],
        [FEWEST, 5],
      ] as const) {
        const file = path.join(cwd, 'rendered.yaml');
        writeFileSync(file, await template(cwd, helm, version, ...values));
        const { code, output } = await validate(version, file);
        assert.equal(code, 0, output);
        assert.deepEqual(JSON.parse(output).summary, { valid: most, invalid: 0, errors: 0, skipped: 0 });
      }
    });

  await check('a field that Kubernetes does not know is found', async () => {
    const file = path.join(cwd, 'wrong.yaml');
    for (const [right, wrong] of [
      ['readinessProbe:', 'readyProbe:'],
      ['authorization:', 'authorisation:'],
    ] as const) {
      writeFileSync(file, readFileSync(RENDERED, 'utf8').replace(right, wrong));
      const { code, output } = await validate('1.34.0', file);
      assert.notEqual(code, 0, output);
    }
  });

  await check('values that are missing, wrong or unknown are named', async () => {
    const refused: [values: string[], reason: RegExp][] = [
      [
        [],
        /(image\/repository|secretName|baseUrl)[\s\S]*(image\/repository|secretName|baseUrl)[\s\S]*(image\/repository|secretName|baseUrl)/,
      ],
      [[...FEWEST, '--set', 'baseUrl=http://id.example.com'], /baseUrl/],
      [[...FEWEST, '--set', 'replicaCount=3'], /replicaCount/],
      [[...FEWEST, '--set', 'serviceMonitor.enabled=true'], /serviceMonitor\/tokenSecretName/],
      [[...FEWEST, '--set', 'configuration.enabled=true'], /configuration\/secretName/],
      [[...FEWEST, '--set', 'telemetry.protocol=grpc'], /telemetry\/protocol/],
      [[...FEWEST, '--set', 'telemetry.endpoint=collector:4317'], /telemetry\/endpoint/],
    ];
    for (const [values, reason] of refused) {
      const { code, output } = await runProgram(cwd, {}, helm, 'template', CHART, '--kube-version', '1.34.0', ...values);
      assert.notEqual(code, 0);
      assert.match(output, reason);
    }
  });

  await check('is the one whose digest is kept', async () => {
    const digest = digestOfChart();
    if (process.env.UPDATE_SNAPSHOTS === 'true' && failed === 0) writeFileSync(CHECKED_DIGEST, `${digest}\n`);
    assert.equal(readFileSync(CHECKED_DIGEST, 'utf8').trim(), digest, 'UPDATE_SNAPSHOTS=true keeps it, once everything else passes');
  });
});
