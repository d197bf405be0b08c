/** Imports by the command, as operators call it, beside a running service. */
import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { testDatabase } from '../../support/database.ts';
import { callCommand, type Outcome } from '../../support/process.ts';
import { newSecretKey, type Service, startService } from '../../support/service.ts';

/** Files of other services. */
export const fixture = (name: string): string => path.resolve('test/features/import/files', name);

export interface Importing {
  readonly service: Service;
  /** `gatehouse …` with the service's configuration. */
  call(...args: string[]): Promise<Outcome>;
}

export async function serviceToImportInto(t: TestContext): Promise<Importing> {
  const database = await testDatabase();
  afterwards(t, () => database.drop());
  const secretKey = newSecretKey();
  const service = await startService(t, { beside: { database, secretKey }, env: { RATE_LIMITS: 'off' } });
  const env = { DATABASE_URL: database.url, SECRET_KEY: secretKey };
  return { service, call: (...args) => callCommand(env, ...args) };
}

/** A file of its own for a test. */
export function fileWith(name: string, content: string): string {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'gatehouse-import-')), name);
  writeFileSync(file, content);
  return file;
}

/** Signs in by the API. @returns the answer */
export const authn = (service: Service, username: string, password: string) => service.api('POST', '/authn', { username, password });

/** Signs in by password and, where it is asked for, by an authenticator app. */
export async function assertSignsIn(service: Service, username: string, password: string, code?: () => string): Promise<void> {
  const first = await authn(service, username, password);
  assert.equal(first.status, 200, JSON.stringify(first.body));
  assert.equal(first.body.status, code === undefined ? 'SUCCESS' : 'MFA_REQUIRED', username);
  if (code === undefined) return;
  const { stateToken, _embedded } = first.body;
  const factor = _embedded.factors[0].id;
  const second = await service.api('POST', `/authn/factors/${factor}/verify`, { stateToken, passCode: code() });
  assert.equal(second.body.status, 'SUCCESS', JSON.stringify(second.body));
}
