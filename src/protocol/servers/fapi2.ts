/** The profile `fapi2` at run time (FAPI 2.0 Security Profile Final section 5.3.2): requirements beyond an application's settings. */
import { LIFETIMES } from '../../../config/defaults.ts';
import { FAPI2_ALGS } from '../../features/applications/fapi2.policy.ts';
import { errors } from '../library/oidc-provider.ts';
import { clientSettings, effectiveProfile } from './client-settings.ts';

type Server = Parameters<typeof effectiveProfile>[1];

export const isFapi2 = (client: object | undefined, server: Server): boolean => effectiveProfile(client, server) === 'fapi2';

/** Seconds: at most 60 (section 5.3.2.1). */
export const codeLifetime = (client: object | undefined, server: Server): number =>
  isFapi2(client, server) ? LIFETIMES.authorizationCodeOfFapi2 : LIFETIMES.authorizationCode;

/** @throws {errors.UnauthorizedClient} with the setting of the application and the rule that it violates */
export function checkFapi2Client(client: object | undefined, server: Server): void {
  const refusal = client !== undefined && isFapi2(client, server) ? clientSettings(client).breaksFapi2 : undefined;
  if (refusal !== undefined) throw new errors.UnauthorizedClient(`the application does not follow FAPI 2.0: ${refusal}`);
}

/** Section 5.3.2.1: the audience is the issuer, as a string. @throws {errors.InvalidClientAuth} */
export function checkFapi2Assertion({ aud }: { readonly aud?: unknown }, { alg }: { readonly alg?: unknown }, issuer: string): void {
  if (aud !== issuer) throw new errors.InvalidClientAuth(`the aud of the client assertion must be the text ${issuer} (profile fapi2)`);
  if (!FAPI2_ALGS.includes(String(alg)))
    throw new errors.InvalidClientAuth(`the client assertion must be signed with ${FAPI2_ALGS.join(', ')} (profile fapi2)`);
}

/** Metadata of a server with the profile: a subset of what the service supports. */
export const FAPI2_METADATA = {
  require_pushed_authorization_requests: true,
  response_types_supported: ['code'],
  response_modes_supported: ['query', 'form_post', 'jwt', 'query.jwt', 'form_post.jwt'],
  request_object_signing_alg_values_supported: FAPI2_ALGS,
  token_endpoint_auth_signing_alg_values_supported: FAPI2_ALGS,
} as const;
