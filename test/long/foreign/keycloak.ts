/** Keycloak as it is distributed: fetched from Maven Central, started on a port of its own, and administered by REST. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { afterwards } from '../../support/afterwards.ts';
import { freePort } from '../../support/process.ts';
import { runProgram } from './setting.ts';

export const KEYCLOAK_VERSION = '26.0.8';
export const KEYCLOAK_ADMIN = { KC_BOOTSTRAP_ADMIN_USERNAME: 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD: 'admin of keycloak' };

/** @param folder gets it @returns the folder of the distribution; undefined: it is not to be had here */
export async function keycloakDistribution(folder: string, version = KEYCLOAK_VERSION): Promise<string | undefined> {
  const artifact = `org.keycloak:keycloak-quarkus-dist:${version}:zip`;
  const goal = ['org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  const { code, output } = await runProgram(folder, {}, 'mvn', '--batch-mode', '--quiet', ...goal);
  if (code === 0) return path.join(folder, `keycloak-${version}`);
  if (code === undefined || /Could not (transfer|find artifact)|Could not resolve|PluginResolution/.test(output)) return undefined;
  throw new Error(output.slice(-4000));
}

/** It builds itself at its first start. */
const PATIENCE = 300_000;

interface RunningKeycloak {
  readonly api: Keycloak;
  /** Its database is closed afterwards. */
  stop(): Promise<void>;
}

export async function startKeycloak(t: TestContext, folder: string): Promise<RunningKeycloak> {
  const port = await freePort();
  const args = ['bin/kc.sh', 'start-dev', '--http-host=127.0.0.1', `--http-port=${port}`, '--log-level=warn'];
  const child = spawn('bash', args, {
    cwd: folder,
    env: { ...process.env, ...KEYCLOAK_ADMIN },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  afterwards(t, stop);
  const api = new Keycloak(`http://127.0.0.1:${port}`);
  for (const end = Date.now() + PATIENCE; !(await api.isUp()); ) {
    assert.ok(child.exitCode === null && Date.now() < end, `Keycloak is not up: ${output.slice(-4000)}`);
    await setTimeout(500);
  }
  return { api, stop };
}

/** Its administration by REST. */
export class Keycloak {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base;
  }

  /** Of a realm. */
  issuer(realm: string): string {
    return `${this.#base}/realms/${realm}`;
  }

  async isUp(): Promise<boolean> {
    const answer = await fetch(`${this.#base}/realms/master`).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.ok === true;
  }

  async #token(): Promise<string> {
    const { KC_BOOTSTRAP_ADMIN_USERNAME: username, KC_BOOTSTRAP_ADMIN_PASSWORD: password } = KEYCLOAK_ADMIN;
    const body = new URLSearchParams({ client_id: 'admin-cli', grant_type: 'password', username, password });
    const answer = await fetch(`${this.#base}/realms/master/protocol/openid-connect/token`, { method: 'POST', body });
    return ((await answer.json()) as { access_token: string }).access_token;
  }

  // biome-ignore lint/suspicious/noExplicitAny: representations of Keycloak
  async call(method: string, at: string, body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${await this.#token()}`, 'content-type': 'application/json' };
    const answer = await fetch(`${this.#base}/admin/realms${at}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${at}: ${answer.status} ${text}`);
    return text === '' ? answer.headers.get('location')?.split('/').at(-1) : JSON.parse(text);
  }
}
