/** Workload identity: which token of another issuer authenticates an application (RFC 7521 section 4.2, RFC 7523 section 2.2). */

/** A trusted workload: a Kubernetes service account, a GitHub Actions workflow, a SPIFFE ID. */
export interface FederatedCredential {
  /** Exact value of `iss`. */
  readonly issuer: string;
  /** `sub`; a trailing `*` matches the rest. */
  readonly subject: string;
  /** The only `aud`. */
  readonly audience: string;
  /** URL of the issuer's keys; absent: from its discovery document. */
  readonly jwks_uri?: string | undefined;
  /** The keys of an issuer whose URL is not reachable. */
  readonly jwks?: { readonly keys: Record<string, unknown>[] } | undefined;
}

/** After one of these, `*` matches whole segments: `repo:example/*` does not match `repo:example-of-somebody-else/*`. */
const SEGMENT_ENDS = [':', '/'];

/** @returns the problem of a credential's subject; undefined: none */
export function subjectProblem(subject: string): string | undefined {
  const at = subject.indexOf('*');
  if (at === -1) return undefined;
  if (at < subject.length - 1) return 'may contain only one *, at the end';
  return SEGMENT_ENDS.includes(subject[at - 1] ?? '') ? undefined : 'must have : or / before the *';
}

const matchesSubject = (expected: string, subject: string): boolean =>
  expected.endsWith('*') ? subject.startsWith(expected.slice(0, -1)) && subject.length >= expected.length : expected === subject;

interface Claims {
  readonly iss?: unknown;
  readonly sub?: unknown;
}

/** @returns the credentials that match the claims by issuer and subject; audience and signature are not verified yet */
export const credentialsFor = (credentials: readonly FederatedCredential[], { iss, sub }: Claims): readonly FederatedCredential[] =>
  credentials.filter(({ issuer, subject }) => issuer === iss && typeof sub === 'string' && matchesSubject(subject, sub));
