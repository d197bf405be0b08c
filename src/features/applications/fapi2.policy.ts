/**
 * Requirements of the FAPI 2.0 Security Profile (Final, section 5.3.2) for an application's settings. Checked when such an application is saved, when
 * an application is used at a server with the profile, and by the simulator.
 */
import type { SigningAlg } from '../authorization-servers/signing-keys.policy.ts';
import type { ApplicationSettings, Profile, SettingProblem } from './application-settings.policy.ts';

/** Section 5.4.1: algorithms of client assertions and request objects. */
export const FAPI2_ALGS: readonly string[] = ['PS256', 'ES256', 'EdDSA', 'Ed25519'];

/** Signing algorithm under the profile: the first preferred one that it allows, otherwise ES256, for which every server has a key. */
export const fapi2SigningAlg = (...wanted: readonly SigningAlg[]): SigningAlg => wanted.find((alg) => FAPI2_ALGS.includes(alg)) ?? 'ES256';

const METHODS: readonly string[] = ['private_key_jwt', 'tls_client_auth', 'self_signed_tls_client_auth'];

/** The effective profile: an application cannot deviate from a server with fapi2. @param own the application's setting */
export const profileInForce = (own: Profile | null | undefined, ofServer: Profile): Profile =>
  ofServer === 'fapi2' ? 'fapi2' : (own ?? ofServer);

/** @returns every setting that violates the profile, with the rule */
export function fapi2Problems(settings: ApplicationSettings): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const unless = (right: boolean, setting: SettingProblem['setting'], message: string) => {
    if (!right) problems.push({ setting, message: `${message} (profile fapi2)` });
  };
  unless(
    METHODS.includes(settings.token_endpoint_auth_method),
    'token_endpoint_auth_method',
    'must be private_key_jwt, tls_client_auth or self_signed_tls_client_auth',
  );
  unless(
    settings.dpop_bound_access_tokens === true || settings.tls_client_certificate_bound_access_tokens === true,
    'dpop_bound_access_tokens',
    'must be true, unless tls_client_certificate_bound_access_tokens is true',
  );
  for (const setting of ['request_object_signing_alg', 'token_endpoint_auth_signing_alg'] as const)
    unless(FAPI2_ALGS.includes(settings[setting] ?? 'ES256'), setting, `must be ${FAPI2_ALGS.join(', ')}, or absent`);
  unless(
    settings.response_types.every((type) => type === 'code'),
    'response_types',
    'must contain only code',
  );
  unless((settings.federated ?? []).length === 0, 'federated', 'must be empty: the application must authenticate with its own key');
  unless(!settings.grant_types.includes('password'), 'grant_types', 'must not contain password');
  unless(!settings.grant_types.includes('implicit'), 'grant_types', 'must not contain implicit');
  unless(
    settings.application_type === 'native' || settings.redirect_uris.every((uri) => uri.startsWith('https:')),
    'redirect_uris',
    'must begin with https://, unless the application is native',
  );
  return problems;
}

/** The first violation in one line; undefined: the application can be used under the profile. */
export function fapi2Refusal(settings: ApplicationSettings): string | undefined {
  const [first] = fapi2Problems(settings);
  return first && `${first.setting} ${first.message}`;
}
