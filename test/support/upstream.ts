/**
 * An external provider of a test's own on loopback, OpenID Connect or OAuth 2.0: it signs whoever comes in at once, checks what a real one checks (client,
 * redirect URI, PKCE, one use of a code), and lies where the test tells it to.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { CALLBACK } from '../protocol/servers/relying-party.ts';
import { listen } from './listen.ts';
import type { ServiceCalls } from './service.ts';
import type { Page, UserAgent } from './user-agent.ts';

export const CLIENT = { id: 'gatehouse-at-upstream', secret: 'a-secret-that-only-both-know' };

/** What it says of whoever signs in, and how it misbehaves; a test changes it at will. */
interface Behaviour {
  subject: string;
  claims: Record<string, unknown>;
  /** The user gives up, or whatever other error it answers. */
  error?: string;
  errorDescription?: string;
  alg: 'RS256' | 'ES256';
  formPost: boolean;
  /** Replaces claims of the ID token; undefined removes one. */
  idToken: JWTPayload;
  /** What `iss` of the authorization response says; undefined: as RFC 9207 has it. */
  responseIssuer?: string | null;
  userinfo: boolean;
  userinfoClaims: Record<string, unknown>;
  /** The token endpoint never answers. */
  silent: boolean;
  /** Signs with a key that its key set does not hold. */
  foreignKey: boolean;
  discoveryIssuer?: string;
  /** Replaces members of the discovery document. */
  discovery: Record<string, unknown>;
  /** Announces `iss` in the authorization response, and leaves it out (RFC 9207). */
  omitIssuer: boolean;
  /** Makes the ID token in the place of a signature. @param key the public key that everybody knows */
  forge?: ((payload: JWTPayload, kid: string, key: Parameters<typeof exportJWK>[0]) => Promise<string>) | undefined;
  /** What a path answers in the place of what it should. */
  instead: Record<string, Instead>;
  down: boolean;
}

export interface Instead {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

export interface UpstreamServer {
  readonly issuer: string;
  readonly origin: string;
  readonly behaviour: Behaviour;
  /** Of the last authorization request. */
  asked(): URLSearchParams;
  /** How often each path was asked for. */
  readonly calls: Map<string, number>;
  /** A new key signs from now on, the old one is gone. */
  rotate(): Promise<void>;
}

interface Request {
  readonly parameters: URLSearchParams;
  used: boolean;
}

/** No upstream's: what it signs must not be believed. RSA keys take their time, so it is the same for all upstreams of a process. */
let foreign: ReturnType<typeof generateKeyPair> | undefined;
function foreignKeys(): ReturnType<typeof generateKeyPair> {
  foreign ??= generateKeyPair('RS256');
  return foreign;
}

/** @param path of the issuer; @param more answers further paths as an API of the provider; undefined: not found */
export async function startUpstream(
  t: TestContext,
  { path = '', more }: { path?: string; more?: (url: URL, req: IncomingMessage) => unknown } = {},
): Promise<UpstreamServer> {
  const behaviour: Behaviour = {
    subject: 'subject-1',
    claims: { email: 'ada@example.com', email_verified: true, given_name: 'Ada', family_name: 'Lovelace', name: 'Ada Lovelace' },
    alg: 'RS256',
    formPost: false,
    idToken: {},
    userinfo: true,
    userinfoClaims: {},
    silent: false,
    foreignKey: false,
    discovery: {},
    omitIssuer: false,
    instead: {},
    down: false,
  };
  const codes = new Map<string, Request>();
  const calls = new Map<string, number>();
  let last = new URLSearchParams();
  const makeKeys = async () => ({ RS256: await generateKeyPair('RS256'), ES256: await generateKeyPair('ES256') });
  let keys = await makeKeys();
  let kid = randomUUID();

  const origin = await listen(t, '127.0.0.1', (req, res) => {
    answer(req, res, new URL(req.url ?? '/', origin)).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  const issuer = `${origin}${path}`;

  const json = (res: ServerResponse, body: unknown, status = 200) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  function authorize(res: ServerResponse, parameters: URLSearchParams): void {
    last = parameters;
    const fields = new URLSearchParams({ state: parameters.get('state') ?? '' });
    const { error, errorDescription, responseIssuer } = behaviour;
    if (error !== undefined) {
      fields.set('error', error);
      if (errorDescription !== undefined) fields.set('error_description', errorDescription);
    } else {
      const code = randomUUID();
      codes.set(code, { parameters, used: false });
      fields.set('code', code);
    }
    if (responseIssuer !== null && !behaviour.omitIssuer) fields.set('iss', responseIssuer ?? issuer);
    const target = parameters.get('redirect_uri') ?? '';
    if (!behaviour.formPost) return void res.writeHead(302, { location: `${target}?${fields}` }).end();
    const inputs = [...fields].map(([name, value]) => `<input type="hidden" name="${name}" value="${value}">`).join('');
    const page = `<!doctype html><title>Upstream</title><form id="back" method="post" action="${target}">${inputs}<button id="go">Go</button></form>`;
    res.writeHead(200, { 'content-type': 'text/html' }).end(page);
  }

  async function token(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (behaviour.silent) return;
    const form = new URLSearchParams(await text(req));
    // RFC 6749 section 2.3.1: both are form-encoded first.
    const [id, secret] = Buffer.from(req.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64')
      .toString()
      .split(':')
      .map(decodeURIComponent);
    if (id !== CLIENT.id || secret !== CLIENT.secret) return json(res, { error: 'invalid_client' }, 401);
    const request = codes.get(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const right =
      request?.used === false &&
      request.parameters.get('redirect_uri') === form.get('redirect_uri') &&
      request.parameters.get('code_challenge_method') === 'S256' &&
      request.parameters.get('code_challenge') === challenge;
    if (request === undefined || !right) return json(res, { error: 'invalid_grant', error_description: '<script>alert(1)</script>' }, 400);
    request.used = true;
    const seconds = Math.floor(Date.now() / 1000);
    const payload: JWTPayload = {
      ...{
        iss: issuer,
        sub: behaviour.subject,
        aud: CLIENT.id,
        iat: seconds,
        exp: seconds + 300,
        nonce: request.parameters.get('nonce') ?? undefined,
      },
      ...behaviour.claims,
      ...behaviour.idToken,
    };
    const key = behaviour.foreignKey ? (await foreignKeys()).privateKey : keys[behaviour.alg].privateKey;
    const sent = JSON.parse(JSON.stringify(payload)) as JWTPayload;
    const idToken =
      (await behaviour.forge?.(sent, kid, keys[behaviour.alg].publicKey)) ??
      (await new SignJWT(sent).setProtectedHeader({ alg: behaviour.alg, kid }).sign(key));
    const openid = (request.parameters.get('scope') ?? '').split(' ').includes('openid');
    json(res, {
      access_token: 'upstream-access-token',
      token_type: 'bearer',
      scope: 'read:user,user:email',
      ...(openid && { id_token: idToken }),
    });
  }

  async function answer(req: IncomingMessage, res: ServerResponse, url: URL): Promise<void> {
    if (url.pathname === '/favicon.ico') return void res.writeHead(204).end();
    const at = url.pathname.slice(path.length);
    calls.set(at, (calls.get(at) ?? 0) + 1);
    if (behaviour.down) return void req.socket.destroy();
    const instead = behaviour.instead[at];
    if (instead !== undefined) {
      const { status = 200, headers = { 'content-type': 'application/json' }, body } = instead;
      return void res.writeHead(status, headers).end(body);
    }
    if (at === '/.well-known/openid-configuration') {
      return json(res, {
        issuer: behaviour.discoveryIssuer ?? issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...(behaviour.userinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
        id_token_signing_alg_values_supported: ['RS256', 'ES256'],
        authorization_response_iss_parameter_supported: behaviour.responseIssuer !== null,
        ...behaviour.discovery,
      });
    }
    if (at === '/authorize') return authorize(res, url.searchParams);
    if (at === '/token') return token(req, res);
    if (at === '/userinfo') return json(res, { sub: behaviour.subject, ...behaviour.userinfoClaims });
    if (at === '/jwks') {
      const jwk = { ...(await exportJWK(keys[behaviour.alg].publicKey)), kid, alg: behaviour.alg, use: 'sig' };
      return json(res, { keys: [jwk] });
    }
    const found = more?.(url, req);
    json(res, found ?? {}, found === undefined ? 404 : 200);
  }

  return {
    issuer,
    origin,
    behaviour,
    asked: () => last,
    calls,
    async rotate() {
      keys = await makeKeys();
      kid = randomUUID();
    },
  };
}

/** The settings of an identity provider for the API; what is given replaces. */
export const idpBody = (
  upstream: UpstreamServer,
  policy: Record<string, unknown> = {},
  protocol: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
) => ({
  name: 'Acme <b>Login</b>',
  type: 'OIDC',
  protocol: {
    issuer: { url: upstream.issuer },
    credentials: { client: { client_id: CLIENT.id, client_secret: CLIENT.secret } },
    ...protocol,
  },
  policy: { provisioning: { action: 'AUTO' }, ...policy },
  ...more,
});

/** @returns its id */
export async function createIdp(service: ServiceCalls, body: Record<string, unknown>): Promise<string> {
  const answer = await service.api('POST', '/idps', body);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body.id;
}

/** Goes on from the page that the redirect URI shows. */
export async function followRefresh(agent: UserAgent, page: Page): Promise<Page> {
  const refresh = page.headers.get('refresh');
  return refresh === null ? page : agent.visit(refresh.replace(/^0;url=/, ''));
}

/** At the provider, whose answer is brought back. @param out where the service has sent the browser */
export async function throughUpstream(agent: UserAgent, out: URL): Promise<Page> {
  const response = await fetch(out, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location !== null) return followRefresh(agent, await agent.visit(location));
  const html = await response.text();
  const action = /action="([^"]*)"/.exec(html)?.[1] ?? '';
  const fields = [...html.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name = '', value = '']): [string, string] => [name, value]);
  // As a browser posts from another site: without the cookies that are SameSite=Lax.
  const stranger = agent.window();
  const headers = { origin: out.origin, 'sec-fetch-site': 'cross-site', cookie: '' };
  const answered = await fetch(new URL(action, stranger.origin), {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
    redirect: 'manual',
  });
  const page: Page = { url: new URL(action), status: answered.status, headers: answered.headers, text: await answered.text() };
  return followRefresh(agent, page);
}

/** The link of a sign-in page that leads to the provider. */
export function linkTo(page: Page, idpId: string): string {
  const [, href] = new RegExp(`href="([^"]*/upstream/${idpId}[^"]*)"`).exec(page.text) ?? [];
  if (href === undefined) throw new Error(`no link to ${idpId} at ${page.url}: ${page.text.slice(0, 3000)}`);
  return href.replaceAll('&amp;', '&');
}

/** From the application's request by the button on the sign-in page to the provider and back. @returns the application's callback, or the page where it ended */
export async function signInAt(agent: UserAgent, request: URL, idpId: string): Promise<Page> {
  const page = await agent.visit(request);
  return throughUpstream(agent, (await agent.visit(linkTo(page, idpId))).url);
}

/** Is the sign-in done: back at the application, with a code of this service? The address of a page that explains holds one of the provider's. */
export const isAdmitted = ({ url }: Pick<Page, 'url'>): boolean => url.href.startsWith(CALLBACK) && url.searchParams.has('code');

/** The code of the page that explains what went wrong. */
export const problemOf = (page: Page): string | undefined => /id="error-code">([^<]*)</.exec(page.text)?.[1];
