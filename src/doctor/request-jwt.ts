/** The JWTs that carry the parameters of an authorization request (OpenID Connect Core section 6.1), right but for what a rule says. */
import { SignJWT } from 'jose';
import type { Json } from './answers.ts';
import type { Visit } from './visit.ts';
import type { Application } from './ward.ts';

/** @param claims undefined leaves one out @param by absent: the application for every flow */
export async function requestClaims(visit: Visit, claims: Json = {}, by?: Application): Promise<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1000);
  const right = { iss: (by ?? (await visit.everything())).id, aud: visit.issuer, iat: now, exp: now + 60 };
  return Object.fromEntries(Object.entries({ ...right, ...claims }).filter(([, value]) => value !== undefined));
}

/** Signed with the client secret. */
export async function requestBySecret(visit: Visit, claims: Json = {}, alg = 'HS256'): Promise<string> {
  const { secret } = await visit.everything();
  return new SignJWT(await requestClaims(visit, claims)).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

/** Of the application that signs with a key. */
export async function requestByKey(visit: Visit, claims: Json = {}, alg = 'RS256'): Promise<string> {
  const right = await requestClaims(visit, claims, await visit.signing());
  return new SignJWT(right).setProtectedHeader({ alg }).sign(await visit.ward.keyFor(alg));
}
