/** What a client's JWT for its own authentication must say beyond what oidc-provider checks (RFC 7523 section 3, draft-ietf-oauth-rfc7523bis). */
import { errors } from '../library/oidc-provider.ts';

const TYPES: readonly unknown[] = [undefined, 'JWT', 'client-authentication+jwt'];

/**
 * One audience, and that is us: with a foreign one beside ours, the other server could present the assertion here (CVE-2025-27370).
 * @param audiences ours: the issuer, and the token endpoint where that is accepted
 * @param audience the claim `aud`
 * @param type the header `typ`; another kind of token must not serve as an assertion
 * @throws {errors.InvalidClientAuth}
 */
export function checkAssertion(audiences: readonly string[], audience: unknown, type: unknown): void {
  const [only, ...others] = [audience].flat();
  if (others.length > 0 || !audiences.includes(only as string))
    throw new errors.InvalidClientAuth(`the client assertion must have one audience: ${audiences.join(' or ')}`);
  if (!TYPES.includes(type))
    throw new errors.InvalidClientAuth('the client assertion must have no typ, or JWT or client-authentication+jwt');
}
