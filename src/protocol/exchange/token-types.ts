/** Identifiers of token types (RFC 8693 section 3, draft-ietf-oauth-identity-assertion-authz-grant section 4.3). */

/** Types that can be presented. */
export const TOKEN_TYPES = {
  accessToken: 'urn:ietf:params:oauth:token-type:access_token',
  idToken: 'urn:ietf:params:oauth:token-type:id_token',
  jwt: 'urn:ietf:params:oauth:token-type:jwt',
} as const;

/** Can only be requested. */
export const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
