/**
 * The baseline as a process: oidc-provider alone, the version Gatehouse runs on, its models in a Map; token formats, key and lifetimes as
 * Gatehouse has them. `node bare-provider.js <port of the opaque server> <port of the JWT server>`; `POST /bench/tokens?count=` on the first
 * makes tokens without a browser.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { type Adapter, type AdapterPayload, type Configuration, Provider } from 'oidc-provider';
import { ROUTES } from '../../src/oauth/endpoints.ts';
import { CLIENT, SCOPE, USER } from './target.ts';

const LIFETIME = 3600;
const AUDIENCE = 'api://default';

const rows = new Map<string, AdapterPayload>();

class MapAdapter implements Adapter {
  constructor(readonly model: string) {}
  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    rows.set(`${this.model}:${id}`, payload);
  }
  async find(id: string): Promise<AdapterPayload | undefined> {
    return rows.get(`${this.model}:${id}`);
  }
  async consume(id: string): Promise<void> {
    const row = rows.get(`${this.model}:${id}`);
    if (row !== undefined) row.consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id: string): Promise<void> {
    rows.delete(`${this.model}:${id}`);
  }
  async findByUid(): Promise<undefined> {}
  async findByUserCode(): Promise<undefined> {}
  async revokeByGrantId(): Promise<void> {}
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = { ...privateKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' };

const configuration = (accessTokenFormat: 'opaque' | 'jwt'): Configuration => ({
  adapter: (name) => new MapAdapter(name),
  jwks: { keys: [key] as NonNullable<Configuration['jwks']>['keys'] },
  routes: ROUTES,
  scopes: SCOPE.split(' '),
  claims: { openid: ['sub', 'name', 'given_name', 'family_name', 'email', 'email_verified'] },
  clients: [
    {
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      redirect_uris: ['https://app.example/callback'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    },
  ],
  conformIdTokenClaims: false,
  rotateRefreshToken: true,
  expiresWithSession: async () => false,
  ttl: { AccessToken: LIFETIME, ClientCredentials: LIFETIME, IdToken: LIFETIME, RefreshToken: 30 * 86_400, Grant: 90 * 86_400 },
  findAccount: async (_ctx, sub) => ({
    accountId: sub,
    claims: async () => ({
      sub,
      name: `${USER.firstName} ${USER.lastName}`,
      given_name: USER.firstName,
      family_name: USER.lastName,
      email: USER.email,
      email_verified: true,
    }),
  }),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    userinfo: { enabled: true },
    resourceIndicators: {
      enabled: accessTokenFormat === 'jwt',
      defaultResource: () => AUDIENCE,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: '', audience: AUDIENCE, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
    },
  },
});

/** What a sign-in would have left behind, made by the library's own models. */
async function issueTokens(provider: Provider, count: number) {
  const client = await provider.Client.find(CLIENT.id);
  if (client === undefined) throw new Error('there is no client');
  const tokens = [];
  for (let made = 0; made < count; made += 1) {
    const grant = new provider.Grant({ clientId: CLIENT.id, accountId: USER.login });
    grant.addOIDCScope(SCOPE);
    const common = { client, accountId: USER.login, grantId: await grant.save(), scope: SCOPE, gty: 'authorization_code' };
    const accessToken = await new provider.AccessToken(common).save();
    const refreshToken = await new provider.RefreshToken({ ...common, rotations: 0, authTime: Math.floor(Date.now() / 1000) }).save();
    tokens.push({ accessToken, refreshToken });
  }
  return tokens;
}

function serve(port: number, format: 'opaque' | 'jwt'): Promise<void> {
  const provider = new Provider(`http://127.0.0.1:${port}`, configuration(format));
  const answer = provider.callback();
  const server = createServer((req, res) => {
    const url = new URL(req.url ?? '/', provider.issuer);
    if (url.pathname !== '/bench/tokens') return void answer(req, res);
    issueTokens(provider, Number(url.searchParams.get('count'))).then(
      (tokens) => res.end(JSON.stringify(tokens)),
      (error: unknown) => res.writeHead(500).end(String(error)),
    );
  });
  return new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
}

const [opaque, jwt] = process.argv.slice(2).map(Number);
if (opaque === undefined || jwt === undefined) throw new Error('two ports are needed');
await serve(opaque, 'opaque');
await serve(jwt, 'jwt');
process.stdout.write('The baseline is ready\n');
