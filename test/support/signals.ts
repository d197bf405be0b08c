/** A receiver of signals on a port of its own, which verifies what it gets as the Shared Signals Framework says. */
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { listen } from './listen.ts';
import { eventually } from './process.ts';
import type { ServiceCalls } from './service.ts';

export const SESSION_REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/session-revoked';
export const CREDENTIAL_CHANGE = 'https://schemas.openid.net/secevent/caep/event-type/credential-change';
export const ACCOUNT_DISABLED = 'https://schemas.openid.net/secevent/risc/event-type/account-disabled';
export const ACCOUNT_PURGED = 'https://schemas.openid.net/secevent/risc/event-type/account-purged';
const ALL_SIGNALS = [SESSION_REVOKED, CREDENTIAL_CHANGE, ACCOUNT_DISABLED, ACCOUNT_PURGED];
export const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
export const STREAM_UPDATED = 'https://schemas.openid.net/secevent/ssf/event-type/stream-updated';

interface SignalReceiver {
  readonly uri: string;
  /** What came, whatever was answered. */
  readonly tokens: string[];
  readonly headers: IncomingHttpHeaders[];
  /** What was answered with 202. */
  readonly accepted: string[];
  /** Waits until so many have come. */
  received(count: number): Promise<readonly string[]>;
}

/** @param answer what it answers; absent: 202 */
export async function signalReceiver(
  t: TestContext,
  answer: (res: ServerResponse) => unknown = (res) => res.writeHead(202).end(),
): Promise<SignalReceiver> {
  const tokens: string[] = [];
  const accepted: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const origin = await listen(t, '127.0.0.1', async (req, res) => {
    assert.equal(req.method, 'POST');
    assert.equal(req.headers['content-type'], 'application/secevent+jwt');
    const token = await text(req);
    tokens.push(token);
    headers.push(req.headers);
    res.once('finish', () => {
      if (res.statusCode === 202) accepted.push(token);
    });
    answer(res);
  });
  return {
    uri: `${origin}/events?of=tests`,
    tokens,
    headers,
    accepted,
    async received(count) {
      await eventually(() => tokens.length >= count, `${count} signals come, not ${tokens.length}`);
      return tokens;
    },
  };
}

export interface VerifiedSignal {
  readonly payload: JWTPayload;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: claims are asserted field by field in the tests
  readonly claims: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly subject: any;
}

/** Verifies a token as its receiver must (SSF 1.0 section 4, RFC 8417 section 4). */
export async function verifiedSignal(service: ServiceCalls, audience: string, token: string): Promise<VerifiedSignal> {
  const issuer = service.issuer('built-in');
  const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer}/keys`)), {
    issuer,
    audience,
    typ: 'secevent+jwt',
    requiredClaims: ['iat', 'jti', 'txn', 'events', 'sub_id'],
  });
  assert.deepEqual([payload.sub, payload.exp], [undefined, undefined], 'no other kind of token');
  const [[type = '', claims] = [], ...others] = Object.entries(payload.events as object);
  assert.deepEqual(others, [], 'one event a token');
  return { payload, type, claims, subject: payload.sub_id };
}

/** A stream that an administrator makes. */
export async function createStream(
  { api }: Pick<ServiceCalls, 'api'>,
  applicationId: string,
  endpointUrl: string,
  events: readonly string[] = ALL_SIGNALS,
  delivery: Record<string, unknown> = {},
): Promise<string> {
  const { status, body } = await api('POST', '/ssf/streams', {
    applicationId,
    events,
    delivery: { method: 'PUSH', endpointUrl, ...delivery },
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body.id;
}
