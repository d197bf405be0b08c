/**
 * The two authorization servers a new service begins with, applied once at the first start. Afterwards they live in the
 * database: what is changed here later changes nothing there.
 */
export interface ScopeSeed {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
}

export interface AuthorizationServerSeed {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The `aud` of JWT access tokens; undefined: the issuer itself. */
  readonly audience: string | undefined;
  readonly accessTokenFormat: 'opaque' | 'jwt';
  readonly signingAlg: 'RS256' | 'ES256';
  readonly scopes: readonly ScopeSeed[];
}

/** The scopes of OpenID Connect Core 1.0 section 5.4 and 11, `groups` and `organization`. All are granted without a dialog (IMPLICIT). */
export const STANDARD_SCOPES: readonly ScopeSeed[] = [
  { name: 'openid', displayName: 'Sign you in', description: 'Know who you are by a stable identifier' },
  {
    name: 'profile',
    displayName: 'Your profile',
    description: 'Your name, user name, picture, web pages, gender, birthdate, language and time zone',
  },
  { name: 'email', displayName: 'Your e-mail address', description: 'Your e-mail address and whether it is verified' },
  { name: 'address', displayName: 'Your postal address', description: 'Your postal address' },
  { name: 'phone', displayName: 'Your phone number', description: 'Your phone number' },
  {
    name: 'offline_access',
    displayName: 'Stay connected',
    description: 'Keep access while you are away, until you or the application end it',
  },
  { name: 'groups', displayName: 'Your groups', description: 'The groups that you belong to' },
  {
    name: 'organization',
    displayName: 'Your organization',
    description: 'The organization that you sign in for, with your department and your roles in it',
  },
];

export const AUTHORIZATION_SERVERS: readonly AuthorizationServerSeed[] = [
  {
    id: 'built-in',
    name: 'Built-in',
    description: 'Single sign-on for applications: the service is both authorization server and resource server',
    audience: undefined,
    accessTokenFormat: 'opaque',
    signingAlg: 'RS256',
    scopes: STANDARD_SCOPES,
  },
  {
    id: 'default',
    name: 'default',
    description: 'The first custom authorization server, for your own APIs',
    audience: 'api://default',
    accessTokenFormat: 'jwt',
    signingAlg: 'RS256',
    scopes: STANDARD_SCOPES,
  },
];
