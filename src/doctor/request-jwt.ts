/** The JWTs that carry the parameters of an authorization request (OpenID Connect Core section 6.1), right but for what a rule says. */
import { SignJWT } from 'jose';
import type { Json } from './answers.ts';
import type { TestApplication } from './fixtures.ts';
import type { RuleContext } from './rule-context.ts';

/** @param claims undefined leaves one out @param by absent: the application for every flow */
export async function requestClaims(visit: RuleContext, claims: Json = {}, by?: TestApplication): Promise<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1000);
  const right = { iss: (by ?? (await visit.everything())).id, aud: visit.issuer, iat: now, exp: now + 60 };
  return Object.fromEntries(Object.entries({ ...right, ...claims }).filter(([, value]) => value !== undefined));
}

/** Signed with the client secret. */
export async function requestBySecret(visit: RuleContext, claims: Json = {}, alg = 'HS256'): Promise<string> {
  const { secret } = await visit.everything();
  return new SignJWT(await requestClaims(visit, claims)).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

/** Request JWT signed with the application's private key. */
export async function requestByKey(visit: RuleContext, claims: Json = {}, alg = 'RS256'): Promise<string> {
  const right = await requestClaims(visit, claims, await visit.signing());
  return new SignJWT(right).setProtectedHeader({ alg }).sign(await visit.ward.keyFor(alg));
}
