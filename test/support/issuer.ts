/** An issuer of JWTs of a test's own: a key, and over HTTP its key set and discovery document. */
import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { listen } from './listen.ts';

export interface Issuer {
  readonly issuer: string;
  readonly jwks: { readonly keys: JWK[] };
  /** How often each path was asked for. */
  readonly calls: Map<string, number>;
  /** What it does at the moment. */
  readonly behaviour: { down: boolean; discovery: Record<string, unknown> };
  /** Signs `claims`, valid for ten minutes from now. @param header of the JWT, beside `alg` and `kid` */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
}

/** @param alg of its key @param path of the issuer below its origin */
export async function startIssuer(t: TestContext, { alg = 'RS256', path = '' } = {}): Promise<Issuer> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  const kid = randomUUID();
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid, use: 'sig' }] };
  const calls = new Map<string, number>();
  const behaviour: Issuer['behaviour'] = { down: false, discovery: {} };
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    const { url = '/' } = req;
    calls.set(url, (calls.get(url) ?? 0) + 1);
    const documents: Record<string, unknown> = {
      [`${path}/.well-known/openid-configuration`]: { issuer, jwks_uri: `${origin}/jwks`, ...behaviour.discovery },
      '/jwks': jwks,
    };
    const status = behaviour.down ? 503 : url in documents ? 200 : 404;
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(documents[url] ?? {}));
  });
  const issuer = `${origin}${path}`;
  return {
    issuer,
    jwks,
    calls,
    behaviour,
    sign: (claims, header = {}) =>
      new SignJWT({ iss: issuer, iat: now(), exp: now() + 600, jti: randomUUID(), ...claims })
        .setProtectedHeader({ alg, kid, ...header })
        .sign(privateKey),
  };
}

export const now = (): number => Math.floor(Date.now() / 1000);
