/**
 * Ory Hydra on PostgreSQL. It has no pages and no users: the flow accepts each sign-in and consent by the admin API, and only Hydra's own work is
 * measured. Client secrets have one iteration of PBKDF2; its default of 25,000 would be most of each token request.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { HYDRA_VERSION, hydraProgram } from '../long/foreign/hydra.ts';
import { mustRun } from '../long/foreign/setting.ts';
import { answering, end, freePort, startProgram } from './child.ts';
import { peerFolder, providePlace } from './database.ts';
import { issuedTokens } from './issued-tokens.ts';
import type { Plan } from './options.ts';
import { CALLBACK, CLIENT, type RunningTarget, SCOPE, type Target } from './target.ts';

const JWT_CLIENT = `${CLIENT.id}-jwt`;
/** Nothing listens there: the flow sees where the browser is sent, and answers by the API. */
const SIGN_IN_APPLICATION = 'http://127.0.0.1:9';

const configuration = (port: number, adminPort: number, dsn: string) => ({
  dsn,
  log: { level: 'error' },
  serve: {
    public: { host: '127.0.0.1', port, request_log: { disable_for_health: true } },
    admin: { host: '127.0.0.1', port: adminPort },
    cookies: { secure: false },
  },
  urls: {
    self: { issuer: `http://127.0.0.1:${port}` },
    login: `${SIGN_IN_APPLICATION}/login`,
    consent: `${SIGN_IN_APPLICATION}/consent`,
  },
  secrets: { system: [CLIENT.secret] },
  oauth2: { hashers: { algorithm: 'pbkdf2', pbkdf2: { iterations: 1 } } },
});

const client = (id: string, format: 'opaque' | 'jwt') => ({
  client_id: id,
  client_secret: CLIENT.secret,
  access_token_strategy: format,
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  redirect_uris: [CALLBACK],
  scope: SCOPE,
  token_endpoint_auth_method: 'client_secret_basic',
});

/** The default is two for each processor. Exchanging a code takes a second one within its transaction, so simultaneous exchanges can wait forever. */
const CONNECTIONS = 20;

export async function startHydra(plan: Plan): Promise<RunningTarget> {
  const folder = peerFolder();
  try {
    const program = await hydraProgram(folder.path);
    if (program === undefined) throw new Error(`Hydra ${HYDRA_VERSION} cannot be fetched here`);
    const place = await providePlace(plan.databaseUrl);
    folder.onStop(place.putAway);
    const [port, adminPort] = [await freePort(), await freePort()];
    const file = path.join(folder.path, 'hydra.json');
    writeFileSync(file, JSON.stringify(configuration(port, adminPort, `${place.url}?sslmode=disable&max_conns=${CONNECTIONS}`)));
    const env = { SQA_OPT_OUT: 'true' };
    await mustRun(folder.path, env, program, 'migrate', 'sql', '-e', '--yes', '--config', file);
    const command = [program, 'serve', 'all', '--dev', '--sqa-opt-out', '--config', file];
    const child = startProgram(command, { cores: plan.cores?.measured, env, stderr: plan.verbose ? 'inherit' : 'ignore' });
    folder.onStop(() => end(child));
    const [base, admin] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}/admin`];
    await answering(child, `${base}/health/ready`);
    for (const registered of [client(CLIENT.id, 'opaque'), client(JWT_CLIENT, 'jwt')]) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${admin}/clients`, { method: 'POST', headers, body: JSON.stringify(registered) });
      if (!answer.ok) throw new Error(`Hydra registers no client: ${answer.status} ${await answer.text()}`);
    }
    const endpoints = {
      authorize: `${base}/oauth2/auth`,
      token: `${base}/oauth2/token`,
      introspect: `${admin}/oauth2/introspect`,
      userinfo: `${base}/userinfo`,
    };
    const target: Target = {
      name: 'hydra',
      roots: [child.pid ?? 0, ...place.roots],
      servers: [{ opaque: endpoints, jwt: endpoints }],
      clientId: CLIENT.id,
      jwtClientId: JWT_CLIENT,
      clientSecret: CLIENT.secret,
      password: '',
      signInApi: `${admin}/oauth2/auth/requests`,
    };
    return { target, issueTokens: (server, count) => issuedTokens(target, server, count), stop: folder.stop };
  } catch (error) {
    await folder.stop();
    throw error;
  }
}
