/** What authorization servers sign with (RFC 7518 section 3.1). Each has keys for all of them: RS256 is what OpenID Connect demands of every server, and an application may choose either. */
export const SIGNING_ALGS = ['RS256', 'ES256'] as const;

export type SigningAlg = (typeof SIGNING_ALGS)[number];
