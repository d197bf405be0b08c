/** Steps that the tests of the OAuth endpoints share: an application, its authorization request, and the raw calls that libraries refuse to make. */
import { createHash, randomBytes } from 'node:crypto';
import { sendRequest } from '../../support/requests.ts';
import type { ServiceCalls } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';

export const CALLBACK = 'https://app.example/callback';
export const SIGNED_OUT = 'https://app.example/signed-out';

export interface TestClient {
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

/** A confidential application for the code flow with refresh tokens. */
export function createClient(
  service: ServiceCalls,
  settings: Record<string, unknown> = {},
  credentials: Record<string, unknown> = {},
): Promise<TestClient> {
  return service.createApp(
    {
      redirect_uris: [CALLBACK],
      post_logout_redirect_uris: [SIGNED_OUT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      ...settings,
    },
    credentials,
  );
}

export const verifier = (): string => randomBytes(32).toString('base64url');
export const challengeOf = (value: string): string => createHash('sha256').update(value).digest('base64url');

/** The address of an authorization request; a parameter of undefined is left out. */
export function authorizeUrl(service: ServiceCalls, serverId: string, parameters: Record<string, string | undefined>): URL {
  const url = new URL(`${service.issuer(serverId)}/authorize`);
  const defaults = { response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'some-state', nonce: 'some-nonce' };
  for (const [name, value] of Object.entries({ ...defaults, ...parameters })) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The parameters that a redirect carries, of query and fragment. */
export const answerOf = ({ url }: Pick<Page, 'url'>): Record<string, string> => ({
  ...Object.fromEntries(url.searchParams),
  ...Object.fromEntries(new URLSearchParams(url.hash.slice(1))),
});

export interface JsonAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: what the endpoint answers is asserted field by field in the tests
  readonly body: any;
}

/** Posts a form to an endpoint, authenticated by client_secret_basic, or by client_id alone. */
export async function post(
  service: ServiceCalls,
  serverId: string,
  endpoint: string,
  client: TestClient,
  form: Record<string, string>,
): Promise<JsonAnswer> {
  const { clientId, clientSecret } = client;
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  if (clientSecret !== undefined) headers.authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const body = new URLSearchParams(clientSecret === undefined ? { client_id: clientId, ...form } : form).toString();
  const response = await sendRequest(`${service.issuer(serverId)}/${endpoint}`, { method: 'POST', headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

/** Signs a user in for an application and exchanges the code. */
export async function tokensFor(
  service: ServiceCalls,
  browser: UserAgent,
  user: { login: string; password: string },
  client: TestClient,
  { serverId = 'built-in', scope = 'openid profile email offline_access' }: { serverId?: string; scope?: string } = {},
): Promise<JsonAnswer> {
  const proof = verifier();
  const url = authorizeUrl(service, serverId, { client_id: client.clientId, scope, code_challenge: challengeOf(proof) });
  const page = await browser.visit(url);
  const arrived = page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, user);
  const { code = '' } = answerOf(arrived);
  return post(service, serverId, 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof });
}

export async function userinfo(service: ServiceCalls, serverId: string, accessToken: string): Promise<JsonAnswer> {
  const response = await sendRequest(`${service.issuer(serverId)}/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });
  return { status: response.status, headers: response.headers, body: await response.json() };
}
