/** An application's back-channel logout endpoint on a port of its own, and the steps around it (OpenID Connect Back-Channel Logout 1.0 section 2.5). */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { onServer, type TestDatabase } from '../../support/database.ts';
import { listen } from '../../support/listen.ts';
import { eventually } from '../../support/process.ts';
import type { Received } from '../../support/requests.ts';
import type { ServiceCalls } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { createClient, SIGNED_OUT, type TestClient, tokensFor } from '../servers/relying-party.ts';

export interface Receiver {
  readonly uri: string;
  /** The logout tokens that came, whatever was answered. */
  readonly tokens: string[];
  /** Waits until so many have come. */
  received(count: number): Promise<readonly string[]>;
}

/** @param answer what the application answers; absent: 200 */
export async function receiver(t: TestContext, answer: (res: ServerResponse) => unknown = (res) => res.end()): Promise<Receiver> {
  const tokens: string[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    assert.equal(req.method, 'POST');
    assert.match(req.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/);
    const form = new URLSearchParams(await text(req));
    assert.deepEqual([...form.keys()], ['logout_token']);
    tokens.push(form.get('logout_token') ?? '');
    answer(res);
  });
  return {
    uri: `${origin}/back-channel-logout?of=application`,
    tokens,
    async received(count) {
      await eventually(() => tokens.length >= count, `${count} logout tokens come, not ${tokens.length}`);
      return tokens;
    },
  };
}

/** An application that wants to be told; with `sid` unless it says otherwise. */
export const told = (service: ServiceCalls, uri: string, settings: Record<string, unknown> = {}): Promise<TestClient> =>
  createClient(service, { backchannel_logout_uri: uri, backchannel_logout_session_required: true, ...settings });

/** Signs in at several applications in one browser. @returns the ID token of each */
export async function signInAt(
  service: ServiceCalls,
  user: { login: string; password: string },
  places: readonly (readonly [serverId: string, client: TestClient])[],
  browser = new UserAgent(service.baseUrl),
) {
  const idTokens: string[] = [];
  for (const [serverId, client] of places) {
    const { status, body } = await tokensFor(service, browser, user, client, { serverId });
    assert.equal(status, 200, JSON.stringify(body));
    idTokens.push(body.id_token);
  }
  const logout = (): Promise<Received> => {
    const parameters = new URLSearchParams({ id_token_hint: idTokens[0] ?? '', post_logout_redirect_uri: SIGNED_OUT });
    return browser.send(`${service.issuer(places[0]?.[0] ?? 'built-in')}/logout?${parameters}`);
  };
  return { browser, idTokens, sids: idTokens.map((token) => decodeJwt(token).sid), logout };
}

/** Verifies a logout token as its application must (section 2.6). */
export async function verified(service: ServiceCalls, serverId: string, client: TestClient, token: string): Promise<JWTPayload> {
  const issuer = service.issuer(serverId);
  const { payload, protectedHeader } = await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer}/keys`)), {
    issuer,
    audience: client.clientId,
    typ: 'logout+jwt',
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
  });
  assert.ok(protectedHeader.kid !== undefined);
  assert.deepEqual(payload.events, { 'http://schemas.openid.net/event/backchannel-logout': {} });
  assert.equal(Number(payload.exp) - Number(payload.iat), 120);
  assert.equal(payload.nonce, undefined, 'section 2.4: a nonce is prohibited');
  return payload;
}

export interface Waiting {
  readonly attempts: number;
  readonly last_error: string | null;
  /** Seconds until it is due, by the clock of the test. */
  readonly ahead: number;
  readonly payload: Record<string, unknown>;
}

/** What waits in the outbox. */
export const waiting = ({ url }: TestDatabase): Promise<Waiting[]> =>
  onServer(url, async (sql) => {
    const { rows } = await sql.query<Waiting & { due: Date }>('SELECT attempts, last_error, due, payload FROM outbox ORDER BY seq');
    return rows.map(({ due, ...row }) => ({ ...row, ahead: (due.getTime() - Date.now()) / 1000 }));
  });

/** Lets the pause before the next attempt be over. */
export const hurry = ({ url }: TestDatabase) =>
  onServer(url, (sql) => sql.query('UPDATE outbox SET due = $1', [new Date(Date.now() - 60_000)]));
