/** A digest of the Helm chart: building Helm and kubeconform takes minutes, so a test run only compares what they have checked. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

/** The digest of the chart that passed test/long/chart.test.ts. */
export const CHECKED_DIGEST = root('test/long/chart/checked.sha256');

/** @returns the digest of the chart, of the values that the test gives it, and of what Helm renders with them */
export function digestOfChart(): string {
  const chart = 'config/charts/gatehouse';
  const templates = readdirSync(root(`${chart}/templates`)).map((name) => `templates/${name}`);
  const files = ['Chart.yaml', 'values.yaml', 'values.schema.json', ...templates.sort()].map((name) => `${chart}/${name}`);
  const hash = createHash('sha256');
  for (const file of [...files, 'test/long/chart/values.yaml', 'test/long/chart/rendered.yaml']) {
    const content = readFileSync(root(file));
    hash.update(`${file} ${content.length}\n`).update(content);
  }
  return hash.digest('hex');
}
