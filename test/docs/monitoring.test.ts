/** Dashboard and alert rules against the service itself: each metric is in /metrics, each label is one of its own, and each alert has its runbook. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { afterwards } from '../support/afterwards.ts';
import { startedDatabase } from '../support/database.ts';
import { runService } from '../support/process.ts';
import { STARTED } from '../support/service.ts';

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../../${name}`, import.meta.url)), 'utf8');

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly runbook_url: string };
}
const alerts: readonly Alert[] = parse(read('config/monitoring/alerts.yaml')).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
const panels: readonly { title: string; targets: { expr: string }[] }[] = JSON.parse(read('config/monitoring/dashboard.json')).panels;
const expressions = [...alerts.map(({ expr }) => expr), ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))];

/** Prometheus's own, and the labels that it adds to all that it scrapes. */
const OF_PROMETHEUS = { metrics: ['up'], labels: ['job', 'instance'] };
const METRIC = /\b(?:gatehouse|process|nodejs)_[a-z0-9_]+|\bup\b/g;

test('each metric of the dashboard and the alerts is in /metrics', async (t) => {
  const database = await startedDatabase();
  afterwards(t, () => database.drop());
  // Its metrics are there only with a replica.
  const replica = { READ_DATABASE_URL: database.url, READ_DATABASE_MAX_LAG_MS: '60000' };
  const service = await runService(t, { ...STARTED, ...replica, DATABASE_URL: database.url });
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  const known = [...types].flatMap(([name, type]) =>
    type === 'histogram' ? ['bucket', 'count', 'sum'].map((part) => `${name}_${part}`) : [name],
  );
  const used = new Set(expressions.flatMap((expr) => expr.match(METRIC) ?? []));
  assert.ok(used.size >= 8);
  assert.deepEqual(
    [...used].filter((name) => !known.includes(name) && !OF_PROMETHEUS.metrics.includes(name)),
    [],
  );
});

test('each label that they select by or sum by is one of the metric', () => {
  const reference = read('docs/reference/metrics.md');
  const labels = new Map(
    [...reference.matchAll(/^\| `(gatehouse_\w+)` \| ([^|]*) \|/gm)].map(([, name = '', list = '']) => [
      name,
      [...list.matchAll(/`(\w+)`/g)].map(([, label]) => label),
    ]),
  );
  for (const expr of expressions)
    for (const [, metric = '', selector = ''] of expr.matchAll(/\b(gatehouse_\w+?)(?:_bucket|_count|_sum)?\{([^}]*)\}/g))
      for (const [, label = ''] of selector.matchAll(/(\w+)(?:=|!=|=~|!~)"/g))
        assert.ok(labels.get(metric)?.includes(label) || OF_PROMETHEUS.labels.includes(label), `${metric} has no label ${label}: ${expr}`);
});

test('each alert has a runbook, and each runbook is one of an alert', () => {
  const headings = [...read('docs/how-to/runbooks.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  assert.deepEqual(
    alerts.map(({ alert }) => alert),
    headings,
  );
  for (const { alert, annotations } of alerts)
    assert.equal(annotations.runbook_url, `https://id.example.com/docs/how-to/runbooks#${alert.toLowerCase()}`);
});
