/** Signing algorithms of authorization servers (RFC 7518 section 3.1, RFC 8037 section 3.1). */

/** Each server has keys for these: RS256 is what OpenID Connect demands of every server, and an application may choose either. */
const BASIC_ALGS = ['RS256', 'ES256'] as const;
/** Keys for these are created on demand only: some libraries fail on unknown key types. */
export const ADDITIONAL_ALGS = ['PS256', 'EdDSA'] as const;
export const SIGNING_ALGS = [...BASIC_ALGS, ...ADDITIONAL_ALGS] as const;

export type SigningAlg = (typeof SIGNING_ALGS)[number];

export interface SigningChoice {
  /** Signs where nothing asks for another algorithm. */
  readonly signingAlg: SigningAlg;
  readonly additionalSigningAlgs: readonly (typeof ADDITIONAL_ALGS)[number][];
}

/** @returns the algorithms that a server has keys for */
export const algsOf = ({ signingAlg, additionalSigningAlgs }: SigningChoice): readonly SigningAlg[] => [
  ...new Set<SigningAlg>([...BASIC_ALGS, signingAlg, ...additionalSigningAlgs]),
];
