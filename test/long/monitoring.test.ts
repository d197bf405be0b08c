/** The alert rules by Prometheus's own tool: they are valid, and fire at what they shall. PROMTOOL names it; else Debian's (apt-get install prometheus). */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith, mustRun } from './foreign/setting.ts';

const root = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const PROMTOOL = process.env.PROMTOOL ?? '/usr/bin/promtool';

test('the alert rules are valid, and fire', async (t) => {
  if (!existsSync(PROMTOOL)) return t.skip('no promtool here: apt-get install prometheus');
  const cwd = folderWith(t, {
    'alerts.yaml': readFileSync(root('config/monitoring/alerts.yaml'), 'utf8'),
    'alerts.test.yaml': readFileSync(root('test/long/monitoring/alerts.test.yaml'), 'utf8'),
  });
  await mustRun(cwd, {}, PROMTOOL, 'check', 'rules', path.join(cwd, 'alerts.yaml'));
  await mustRun(cwd, {}, PROMTOOL, 'test', 'rules', path.join(cwd, 'alerts.test.yaml'));
});
