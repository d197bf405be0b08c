/** Gatehouse as its users start it: a real process on its own embedded database, durable as it is by default. Only the rate limits are off. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserAgent } from '../support/user-agent.ts';
import { end, freePort, printed, type RunningTarget, SCOPE, type Target, type Tokens, USER } from './target.ts';

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const CALLBACK = 'https://app.example/callback';

export interface GatehouseProcess {
  readonly pid: number;
  readonly base: string;
  /** Of an administrator. */
  readonly apiToken: string;
  /** With the embedded database, which may be joined. */
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** @param nodeOptions of the process, e.g. `--cpu-prof` */
export async function startProcess(nodeOptions: readonly string[] = []): Promise<GatehouseProcess> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-bench-'));
  chmodSync(dataDir, 0o711); // as root, the database's user has to pass
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const apiToken = randomBytes(32).toString('base64url');
  const settings = {
    PORT: String(port),
    BASE_URL: base,
    DATA_DIR: dataDir,
    ADMIN_API_TOKEN: apiToken,
    RATE_LIMITS: 'off',
    LOG_LEVEL: 'warn',
  };
  const child = spawn(process.execPath, [...nodeOptions, MAIN], {
    env: { PATH: process.env.PATH, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async () => {
    await end(child);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await printed(child, /is ready/);
    return { pid: child.pid ?? 0, base, apiToken, dataDir, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param nodeOptions of the process, e.g. `--cpu-prof` */
export async function startGatehouse(nodeOptions: readonly string[]): Promise<RunningTarget> {
  const { pid, base, apiToken, stop } = await startProcess(nodeOptions);
  try {
    const password = randomBytes(12).toString('base64url');
    await call(base, apiToken, '/users', { profile: USER, credentials: { password: { value: password } } });
    const { credentials } = await call<{ credentials: { oauthClient: { client_id: string; client_secret: string } } }>(
      base,
      apiToken,
      '/apps',
      {
        label: 'Load',
        settings: {
          oauthClient: { redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token', 'client_credentials'] },
        },
      },
    );
    const target: Target = {
      name: 'gatehouse',
      pid,
      opaque: `${base}/oauth/v1`,
      jwt: `${base}/oauth/v1/default`,
      clientId: credentials.oauthClient.client_id,
      clientSecret: credentials.oauthClient.client_secret,
    };
    const browser = await signedIn(target, password);
    return { target, issueTokens: (count) => Promise.all(Array.from({ length: count }, () => authorize(browser, target))), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function call<T>(base: string, apiToken: string, resource: string, body: unknown): Promise<T> {
  const response = await fetch(`${base}/api/v1${resource}`, {
    method: 'POST',
    headers: { authorization: `SSWS ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${resource}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

function authorizationUrl({ opaque, clientId }: Target): string {
  const state = randomBytes(16).toString('hex');
  const query = { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, scope: SCOPE, state, nonce: state };
  return `${opaque}/authorize?${new URLSearchParams(query)}`;
}

async function signedIn(target: Target, password: string): Promise<UserAgent> {
  const browser = new UserAgent(new URL(target.opaque).origin);
  await browser.signIn(await browser.visit(authorizationUrl(target)), { login: USER.login, password });
  return browser;
}

async function authorize(browser: UserAgent, target: Target): Promise<Tokens> {
  const { url, text } = await browser.visit(authorizationUrl(target));
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url} ${text}`);
  const response = await fetch(`${target.opaque}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${target.clientId}:${target.clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }),
  });
  if (!response.ok) throw new Error(`no tokens: ${response.status} ${await response.text()}`);
  const { access_token, refresh_token } = (await response.json()) as { access_token: string; refresh_token: string };
  return { accessToken: access_token, refreshToken: refresh_token };
}
