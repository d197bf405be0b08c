/** The parameters that the authorize endpoint knows (OAuth Parameters registry of IANA); all others are ignored (RFC 6749 section 3.1). */
export const PARAMETERS: ReadonlySet<string> = new Set([
  ...['client_id', 'response_type', 'redirect_uri', 'scope', 'state', 'response_mode', 'nonce', 'code_challenge', 'code_challenge_method'],
  ...['prompt', 'max_age', 'display', 'ui_locales', 'claims_locales', 'id_token_hint', 'login_hint', 'acr_values', 'claims'],
  ...['request', 'request_uri', 'registration', 'resource', 'audience', 'idp', 'idp_scope', 'sessionToken'],
]);

/** These may be there more than once (RFC 8707 section 2, RFC 8693 section 2.1). */
const MANY = new Set(['resource', 'audience']);

/** @returns the name of a parameter that is there twice (RFC 6749 sections 3.1 and 3.2) */
export const repeated = (parameters: Readonly<Record<string, string | readonly string[] | undefined>>): string | undefined =>
  Object.keys(parameters).find((name) => Array.isArray(parameters[name]) && !MANY.has(name));

/** A parameter's name for a description, which holds no quotes and nothing beyond ASCII (RFC 6749 section 5.2). */
export const describable = (name: string): string => (/^[\w.-]{1,100}$/.test(name) ? name : 'of another name');
