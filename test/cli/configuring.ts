/** Configuration files as tests write, plan and apply them, over the API of a real service. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { stringify } from 'yaml';
import { readSections } from '../../src/features/configuration/current.ts';
import { readConfiguration } from '../../src/features/configuration/file.ts';
import { RESOURCE_KINDS } from '../../src/features/configuration/kinds.ts';
import { directoryOf } from '../../src/features/configuration/names.ts';
import { type PlanStep, plan } from '../../src/features/configuration/plan.ts';
import { changes, reportLines } from '../../src/features/configuration/report.ts';
import { serviceAt } from '../../src/features/configuration/service.ts';
import { afterwards } from '../support/afterwards.ts';
import { API_TOKEN, type Service } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: configuration files have whatever shape a test gives them
export type Content = any;

export function sectionsOf(t: TestContext, content: Content) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-configuration-'));
  afterwards(t, () => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'gatehouse.yaml');
  writeFileSync(file, typeof content === 'string' ? content : stringify(content));
  return readConfiguration(file, RESOURCE_KINDS);
}

type Env = Readonly<Record<string, string>>;

function workshopAt(service: Service, deleting = false, env: Env = {}) {
  const near = serviceAt(service.listensAt, API_TOKEN);
  return { service: near, directory: directoryOf(near), env, deleting };
}

/** @param deleting does what the file does not have go? */
export const planned = async (t: TestContext, service: Service, content: Content, deleting = false, env: Env = {}): Promise<PlanStep[]> =>
  plan(workshopAt(service, deleting, env), sectionsOf(t, content), RESOURCE_KINDS);

/** @returns what is left to do afterwards, in words */
export async function applied(t: TestContext, service: Service, content: Content, deleting = false, env: Env = {}): Promise<string[]> {
  for (const step of changes(await planned(t, service, content, deleting, env))) await step.execute();
  return changes(await planned(t, service, content, deleting, env)).flatMap(reportLines);
}

export async function exported(service: Service): Promise<Content> {
  const { service: near, directory } = workshopAt(service);
  return readSections(near, directory, RESOURCE_KINDS);
}
