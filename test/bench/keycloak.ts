/**
 * Keycloak in production mode on PostgreSQL: one node with its local cache, sessions in the database as by default, and rotating refresh tokens as in
 * Gatehouse. Passwords have one iteration of PBKDF2. It logs only errors and records no events.
 */
import { randomBytes } from 'node:crypto';
import { KEYCLOAK_ADMIN, Keycloak, keycloakDistribution } from '../long/foreign/keycloak.ts';
import { mustRun } from '../long/foreign/setting.ts';
import { answering, end, freePort, startProgram } from './child.ts';
import { peerFolder, providePlace } from './database.ts';
import { issuedTokens } from './issued-tokens.ts';
import type { Plan } from './options.ts';
import { CALLBACK, CLIENT, loginOf, PERSON, type RunningTarget, type Target, USERS } from './target.ts';

/** Newer than the version whose exports other tests import. */
const VERSION = '26.7.3';
const REALM = 'bench';

const realm = (password: string) => ({
  realm: REALM,
  enabled: true,
  sslRequired: 'none',
  // As long as those of the others, so that tokens issued at the start are valid in the last flow. The default is a minute.
  accessTokenLifespan: 3600,
  passwordPolicy: 'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
  revokeRefreshToken: true,
  refreshTokenMaxReuse: 0,
  clients: [
    {
      ...{ clientId: CLIENT.id, secret: CLIENT.secret, redirectUris: [CALLBACK], serviceAccountsEnabled: true, standardFlowEnabled: true },
      // It introspects only tokens whose audience the client is.
      protocolMappers: [
        {
          ...{ name: 'audience', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper' },
          config: { 'included.client.audience': CLIENT.id, 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
        },
      ],
    },
  ],
  users: Array.from({ length: USERS }, (_, user) => ({
    ...{ username: loginOf(user), email: loginOf(user), emailVerified: true, enabled: true, ...PERSON },
    credentials: [{ type: 'password', value: password }],
  })),
});

export async function startKeycloak(plan: Plan): Promise<RunningTarget> {
  const folder = peerFolder();
  try {
    const distribution = await keycloakDistribution(folder.path, VERSION);
    if (distribution === undefined) throw new Error(`Keycloak ${VERSION} cannot be fetched here`);
    const place = await providePlace(plan.databaseUrl);
    folder.onStop(place.putAway);
    const { hostname, port: databasePort, pathname, username, password: databasePassword } = new URL(place.url ?? '');
    const port = await freePort();
    const env = {
      ...KEYCLOAK_ADMIN,
      KC_DB_URL: `jdbc:postgresql://${hostname}:${databasePort}${pathname}`,
      KC_DB_USERNAME: username,
      KC_DB_PASSWORD: databasePassword,
    };
    await mustRun(distribution, {}, 'bash', 'bin/kc.sh', 'build', '--db=postgres');
    const base = `http://127.0.0.1:${port}`;
    const listen = [
      '--cache=local',
      '--http-enabled=true',
      '--http-host=127.0.0.1',
      `--http-port=${port}`,
      `--hostname=${base}`,
      '--log-level=error',
    ];
    const command = ['bash', `${distribution}/bin/kc.sh`, 'start', '--optimized', ...listen];
    const child = startProgram(command, { cores: plan.cores?.measured, env });
    folder.onStop(() => end(child));
    await answering(child, `${base}/realms/master`);
    const password = randomBytes(12).toString('base64url');
    const api = new Keycloak(base);
    await api.call('POST', '', realm(password));
    const at = `${api.issuer(REALM)}/protocol/openid-connect`;
    const endpoints = { authorize: `${at}/auth`, token: `${at}/token`, introspect: `${at}/token/introspect`, userinfo: `${at}/userinfo` };
    const target: Target = {
      name: 'keycloak',
      roots: [child.pid ?? 0, ...place.roots],
      servers: [{ opaque: endpoints, jwt: endpoints }],
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      // With offline_access each sign-in would write a second session.
      scope: 'openid profile email',
      password,
    };
    return { target, issueTokens: (server, count) => issuedTokens(target, server, count), stop: folder.stop };
  } catch (error) {
    await folder.stop();
    throw error;
  }
}
