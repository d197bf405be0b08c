/**
 * Pairwise subjects (OpenID Connect Core section 8.1): each sector, usually a host, has its own subject for a user, so that two sectors cannot
 * compare their users. Decides which settings an application needs, and its sector.
 */
import { CIBA_GRANT, DEVICE_GRANT } from '../policies/access-policy.policy.ts';

export interface SubjectSettings {
  /** Absent: public. */
  readonly subject_type?: 'public' | 'pairwise' | undefined;
  /** A document that names the redirect URIs of several hosts that are one sector. */
  readonly sector_identifier_uri?: string | undefined;
}

interface Settings extends SubjectSettings {
  readonly redirect_uris: readonly string[];
  readonly response_types: readonly string[];
  readonly grant_types: readonly string[];
  readonly token_endpoint_auth_method: string;
  readonly jwks_uri?: string | undefined;
}

/** Grants that start without a browser. */
const WITHOUT_REDIRECT: readonly string[] = [DEVICE_GRANT, CIBA_GRANT];
const usesNoRedirect = ({ grant_types }: Pick<Settings, 'grant_types'>): boolean =>
  grant_types.some((grant) => WITHOUT_REDIRECT.includes(grant));

interface Problem {
  readonly setting: 'subject_type' | 'sector_identifier_uri' | 'jwks_uri' | 'token_endpoint_auth_method';
  readonly message: string;
}

/** @returns the host from which an application's subjects are derived; undefined: they are public */
export function sectorOf({ subject_type, sector_identifier_uri, response_types, redirect_uris, jwks_uri }: Settings): string | undefined {
  if (subject_type !== 'pairwise') return undefined;
  const uri = sector_identifier_uri ?? (response_types.length > 0 ? redirect_uris[0] : jwks_uri);
  if (uri === undefined) throw new Error('an application with pairwise subjects has a sector');
  return new URL(uri).host;
}

/** @returns every setting that contradicts pairwise subjects, or has no use without them */
export function pairwiseProblems(settings: Settings): readonly Problem[] {
  const { subject_type, sector_identifier_uri: sector } = settings;
  if (subject_type !== 'pairwise') {
    return sector === undefined ? [] : [{ setting: 'sector_identifier_uri', message: 'requires subject_type pairwise' }];
  }
  const hosts = new Set(settings.redirect_uris.map((uri) => new URL(uri).host));
  const redirects = settings.response_types.length > 0;
  const byDevice = usesNoRedirect(settings);
  const problems: Problem[] = [];
  const isNamed = byDevice ? !redirects : redirects && hosts.size === 1 && !hosts.has('');
  if (sector === undefined && !isNamed)
    problems.push({
      setting: 'sector_identifier_uri',
      message: 'is required with subject_type pairwise, unless all redirect URIs have the same host',
    });
  // OpenID Connect CIBA section 4, for every grant without a redirect: its keys identify the client's owner.
  if (byDevice && settings.jwks_uri === undefined)
    problems.push({ setting: 'jwks_uri', message: 'is required with subject_type pairwise and the device grant or CIBA' });
  if (byDevice && !['private_key_jwt', 'self_signed_tls_client_auth'].includes(settings.token_endpoint_auth_method))
    problems.push({
      setting: 'token_endpoint_auth_method',
      message: 'must be private_key_jwt or self_signed_tls_client_auth with subject_type pairwise and the device grant or CIBA',
    });
  return problems;
}

/** @param members of the document at sector_identifier_uri @returns why the application does not belong to the sector; undefined: it does */
export function sectorProblem({ redirect_uris, grant_types, jwks_uri }: Settings, members: readonly string[]): string | undefined {
  const needed = [...redirect_uris, ...(usesNoRedirect({ grant_types }) && jwks_uri !== undefined ? [jwks_uri] : [])];
  const missing = needed.find((uri) => !members.includes(uri));
  return missing && `must return a list that contains ${missing}`;
}
