/**
 * Glossary of the playground: one sentence and a source for each parameter, claim and error code. Data only; names beyond the standards cite this
 * service's documentation.
 */

/** Meaning, and the defining document with section. */
type Entry = readonly [meaning: string, source: string];
export type Glossary = Readonly<Record<string, Entry>>;

const core = (section: string): string => `OpenID Connect Core 1.0, section ${section}`;
const oauth = (section: string): string => `RFC 6749, section ${section}`;
const jwt = (section: string): string => `RFC 7519, section ${section}`;
const introspection = 'RFC 7662, section 2.2';
const GATEHOUSE = 'Gatehouse';

/** Request parameters of the authorize endpoint and the other endpoints. */
export const REQUEST: Glossary = {
  client_id: ['The requesting application, as registered here.', oauth('2.2')],
  redirect_uri: ['The address that receives the response. It must be registered, so that nobody else can receive it.', oauth('3.1.2')],
  response_type: ['The values that the authorize endpoint returns. They choose the flow.', core('3')],
  response_mode: [
    'The way the response returns: in the query, in the fragment, or as a posted form.',
    'OAuth 2.0 Multiple Response Types, section 2.1',
  ],
  scope: ['The permissions that the application requests. With openid the request becomes a sign-in.', core('3.1.2.1')],
  state: ['Random. Comes back unchanged, which proves that the answer belongs to this browser’s request.', oauth('10.12')],
  nonce: ['Random. Comes back inside the ID token, so that a stolen one cannot be replayed.', core('3.1.2.1')],
  code_challenge: ['The hash of a secret that only this application knows, so a stolen code is useless (PKCE).', 'RFC 7636, section 4.2'],
  code_challenge_method: ['The hash method of the challenge: SHA-256.', 'RFC 7636, section 4.3'],
  prompt: ['Controls whether the user is asked to sign in or to consent.', core('3.1.2.1')],
  login_hint: ['The user name to fill in on the sign-in page.', core('3.1.2.1')],
  max_age: ['The longest time, in seconds, since the user typed a password; longer ago, and it is asked for again.', core('3.1.2.1')],
  grant_type: ['The code or token that the application exchanges.', oauth('4')],
  code: ['The authorization code from the first answer: works once, and for five minutes.', oauth('4.1.3')],
  code_verifier: ['The secret whose hash was sent as code_challenge: proof that the same application is asking.', 'RFC 7636, section 4.5'],
  refresh_token: ['Proof of the earlier permission.', oauth('6')],
  token: ['The token that the request is about.', 'RFC 7662, section 2.1'],
  token_type_hint: ['The kind of token. The server looks there first.', 'RFC 7662, section 2.1'],
};

/** Response parameters of the authorize and token endpoints. */
export const RESPONSE_TERMS: Glossary = {
  code: [
    'The authorization code. It is worthless to a thief, because the exchange needs the application’s secret and code_verifier.',
    oauth('4.1.2'),
  ],
  state: ['The state that was sent: the answer belongs to this request.', oauth('4.1.2')],
  iss: ['The server that answers, so that an application with several servers cannot be confused.', 'RFC 9207, section 2'],
  access_token: ['The application sends it to an API.', oauth('5.1')],
  token_type: ['The type of the access token: every bearer may use it.', 'RFC 6750, section 2'],
  expires_in: ['Lifetime of the access token in seconds.', oauth('5.1')],
  scope: ['The granted scopes, perhaps fewer than requested.', oauth('3.3')],
  id_token: ['Says who signed in, when and how. The server signs it for this application only.', core('2')],
  refresh_token: ['The application gets new tokens with it, without asking the user again.', oauth('6')],
  session_state: ['A hash of the state of the browser session.', 'OpenID Connect Session Management 1.0, section 2'],
  error: ['The error code, for programs.', oauth('4.1.2.1')],
  error_description: ['The error in words, for the developer.', oauth('4.1.2.1')],
};

/** The header of a signed token (JOSE). */
export const HEADER: Glossary = {
  alg: ['The algorithm of the signature.', 'RFC 7515, section 4.1.1'],
  typ: ['The kind of token: at+jwt marks an access token; servers can be set to JWT.', 'RFC 9068, section 2.1'],
  kid: ['The server’s published key that signed it.', 'RFC 7515, section 4.1.4'],
};

/** Statements in tokens and userinfo answers. */
export const CLAIMS: Glossary = {
  iss: ['The server that issued this. It must be the server that was asked.', jwt('4.1.1')],
  sub: ['The user’s permanent ID. Store it instead of the e-mail address.', core('2')],
  aud: ['The receiver of the token. Everyone else must refuse it.', jwt('4.1.3')],
  exp: ['Not valid from this moment on.', jwt('4.1.4')],
  nbf: ['Not valid before this moment.', jwt('4.1.5')],
  iat: ['The time of issue.', jwt('4.1.6')],
  jti: ['The identifier of this one token.', jwt('4.1.7')],
  auth_time: ['The time of the user’s last sign-in.', core('2')],
  nonce: ['The nonce of the request. It ties the token to that request.', core('2')],
  acr: ['The strength of the sign-in, by a name that server and application agreed on.', core('2')],
  amr: ['The ways the user signed in: pwd is a password, otp a one-time code, hwk a security key.', 'RFC 8176, section 2'],
  azp: ['The application that the token was issued to.', core('2')],
  sid: ['The browser session. It is used to sign out of all its applications.', 'OpenID Connect Front-Channel Logout 1.0, section 3'],
  at_hash: ['Half a hash of the access token. It proves that the two belong together.', core('3.1.3.6')],
  c_hash: ['Half a hash of the code. It proves that the two belong together.', core('3.3.2.11')],
  s_hash: ['Half a hash of the state. It proves that the two belong together.', 'Financial-grade API 1.0 Part 2, section 5.1'],
  client_id: ['The application that the token was issued to.', 'RFC 8693, section 4.3'],
  scope: ['The permissions of the token.', 'RFC 8693, section 4.2'],
  name: ['The full name for display.', core('5.1')],
  given_name: ['First name.', core('5.1')],
  family_name: ['Last name.', core('5.1')],
  middle_name: ['Middle name.', core('5.1')],
  nickname: ['The user’s nickname.', core('5.1')],
  preferred_username: ['The user’s preferred name. It is not unique and may change.', core('5.1')],
  profile: ['The address of the user’s profile page.', core('5.1')],
  picture: ['The address of the user’s picture.', core('5.1')],
  website: ['The address of the user’s own web site.', core('5.1')],
  gender: ['The user’s gender, in their own words.', core('5.1')],
  birthdate: ['The user’s birthday, or its year alone.', core('5.1')],
  zoneinfo: ['The user’s time zone.', core('5.1')],
  locale: ['The user’s language.', core('5.1')],
  updated_at: ['The time of the last change of these details.', core('5.1')],
  email: ['E-mail address. It may change, and another user may have it later.', core('5.1')],
  email_verified: ['Whether the user verified the address.', core('5.1')],
  phone_number: ['Phone number.', core('5.1')],
  phone_number_verified: ['Whether the user verified the number.', core('5.1')],
  address: ['Postal address.', core('5.1.1')],
  groups: ['The groups that the user belongs to.', GATEHOUSE],
};

/** Introspection fields; others mean the same as in a token. */
export const INTROSPECTION: Glossary = {
  active: ['Whether the token is valid now. Expired, revoked and unknown tokens are all false.', introspection],
  token_type: ['The type of the token.', introspection],
  client_id: ['The application that the token was issued to.', introspection],
  username: ['The user’s login, for people to read.', introspection],
  uid: ['The user’s id, in access tokens of users.', GATEHOUSE],
  device_id: ['The browser in which the refresh token was obtained.', GATEHOUSE],
};

/** Why a request is refused. */
export const ERRORS: Glossary = {
  access_denied: ['The user or the server refused: the dialog was cancelled, or the user may not use this application.', oauth('4.1.2.1')],
  invalid_client: ['The application is unknown, or could not authenticate.', oauth('5.2')],
  invalid_grant: ['The code or token was used, has expired, was revoked, or belongs to another application.', oauth('5.2')],
  invalid_request: ['A parameter is missing, has a value that is not allowed, or occurs twice.', oauth('4.1.2.1')],
  invalid_scope: ['The server does not know the scope, or the request names none.', oauth('4.1.2.1')],
  invalid_token: ['The access token is expired, revoked or unknown.', 'RFC 6750, section 3.1'],
  insufficient_scope: ['The token is valid, but does not allow this.', 'RFC 6750, section 3.1'],
  server_error: ['Something went wrong inside the server. See its log.', oauth('4.1.2.1')],
  temporarily_unavailable: ['The server cannot answer now. Try again in a moment.', oauth('4.1.2.1')],
  unauthorized_client: ['The application is not registered for this way of getting tokens.', oauth('4.1.2.1')],
  unsupported_response_type: ['The server does not know this response type.', oauth('4.1.2.1')],
  unsupported_response_mode: [
    'Tokens must not be sent in a query: queries end up in logs and in the browser’s history.',
    'OAuth 2.0 Multiple Response Types, section 3',
  ],
  unsupported_grant_type: ['The server does not know this grant type.', oauth('5.2')],
  invalid_request_object: ['The signed request has expired or cannot be verified.', core('6.1')],
  login_required: ['prompt=none forbids a dialog, but nobody is signed in, or the sign-in is older than max_age allows.', core('3.1.2.6')],
  consent_required: ['prompt=none forbids a dialog, but the user has not consented yet.', core('3.1.2.6')],
  interaction_required: ['prompt=none forbids a dialog, but the user has to answer a question.', core('3.1.2.6')],
};
