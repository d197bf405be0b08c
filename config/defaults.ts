/** Numbers that hold where nothing else is configured; each is a decision (docs/decisions). Seconds. */
export const LIFETIMES = {
  /** Fixed: RFC 6749 section 4.1.2 recommends at most ten minutes, the service promises 300 seconds. */
  authorizationCode: 300,
  /** Of the profile fapi2, which allows no more. */
  authorizationCodeOfFapi2: 60,
  accessToken: 3600,
  idToken: 3600,
  /** A refresh token dies when it was not used for so long … */
  refreshTokenWindow: 30 * 86_400,
  /** … and at the latest so long after the user's sign-in. */
  refreshToken: 90 * 86_400,
  sessionIdle: 12 * 3600,
  session: 30 * 86_400,
  sessionToken: 300,
  /** How long a device waits for its user (RFC 8628 section 3.2). */
  deviceCode: 600,
  /** How long an application's sign-in request waits for its user (CIBA section 7.3), and at most if the application asks for more. */
  signInRequest: 600,
  longestSignInRequest: 1800,
  /** How long a sign-in waits for its second step. */
  signInStep: 600,
  /** How long a page may wait for a passkey: it stands on the sign-in page, which waits for its user. */
  passkeyChallenge: 600,
  /** How long a page may wait whose browser has proved some work. */
  proofOfWork: 1800,
  interaction: 3600,
  /** An authorization request for which nobody has signed in yet. */
  unansweredInteraction: 900,
  /** How long a browser is known in which its user signed in. */
  device: 365 * 86_400,
  /** A key signs for so long, where a server rotates its keys by itself … */
  signingKey: 90 * 86_400,
  /** … and the one that follows was in the JWKS for so long before: relying parties that keep what they fetched look again within a day. */
  nextKeyKnown: 86_400,
  /** A retired signing key stays in the JWKS while a token that it signed may live: the longest access token lives for a day … */
  retiredKeyPublished: 86_400 + 60,
  /** … and then it verifies logout hints, which may have expired (OpenID Connect RP-Initiated Logout 1.0 section 2). */
  retiredKeyKept: 90 * 86_400,
  /** The link by which a new user chooses his first password. */
  activationLink: 7 * 86_400,
  /** The link that sets a new password in place of a forgotten one (OWASP Forgot Password Cheat Sheet: short). */
  resetLink: 3600,
  /** The code and the link by which somebody signs in, or signs up, by e-mail. */
  emailCode: 600,
  /** The link that shows that an e-mail address is the user's. */
  verificationLink: 86_400,
  /** How long the dev inbox keeps a mail. */
  devInbox: 86_400,
} as const;

/** Calls of the management API that one API token may make, in each process. */
export const CALLS_PER_MINUTE = 20_000;

/** Characters that a password has at least; settings/password may ask for more (NIST SP 800-63B section 3.1.1.2). */
export const SHORTEST_PASSWORD = 8;

/** Passwords of a user that he cannot choose again, the present one among them: what Okta begins with. */
export const PASSWORD_HISTORY = 4;

/** The server of breached passwords that is asked where settings/password turns it on and names none. */
export const BREACHED_RANGES = 'https://api.pwnedpasswords.com/range/';

/** How the service presents itself until settings/branding says otherwise. */
export const BRAND = {
  name: 'Gatehouse',
  logoUrl: null,
  primaryColorHex: null,
  primaryColorDarkHex: null,
  supportUrl: null,
  privacyUrl: null,
  termsUrl: null,
  footerLinks: [],
  faviconUrl: null,
  backgroundUrl: null,
  css: null,
} as const;
