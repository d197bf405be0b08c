/** The authorization request of the playground (OpenID Connect Core 1.0 sections 3.1.2.1, 3.2.2.1 and 3.3.2.1, RFC 7636 section 4.3): pure. */
import type { SessionFields, Transaction } from './session.ts';

/** Does the response contain a code, which is exchanged for tokens? */
export const bringsCode = (responseType: string): boolean => responseType.split(' ').includes('code');

/**
 * @param codeChallenge of the transaction's code verifier
 * @returns the parameters in reading order, without those that were not selected
 */
export function authorizationParameters(
  { choices, state, nonce }: Transaction,
  { clientId, redirectUri, codeChallenge }: { readonly clientId: string; readonly redirectUri: string; readonly codeChallenge: string },
): SessionFields {
  const parameters: SessionFields = [
    ['client_id', clientId],
    ['redirect_uri', redirectUri],
    ['response_type', choices.response_type],
    ['response_mode', choices.response_mode],
    ['scope', choices.scope],
    ['prompt', choices.prompt],
    ['login_hint', choices.login_hint],
    ['max_age', choices.max_age],
    ['state', state],
    ['nonce', nonce],
  ];
  // Without a code, PKCE has nothing to protect.
  if (bringsCode(choices.response_type)) parameters.push(['code_challenge', codeChallenge], ['code_challenge_method', 'S256']);
  return parameters.filter(([, value]) => value !== '');
}
