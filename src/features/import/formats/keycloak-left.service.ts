/** Parts of a Keycloak realm that are not imported. Parts that every realm has are not counted. */
import type { LeftBehind } from './left-behind.service.ts';

/** Client scopes that every realm has. */
const OWN_SCOPES: ReadonlySet<unknown> = new Set([
  ...['acr', 'address', 'basic', 'email', 'microprofile-jwt', 'offline_access', 'openid', 'organization', 'phone', 'profile'],
  ...['role_list', 'roles', 'saml_organization', 'service_account', 'web-origins'],
]);
/** Keycloak adds this mapper to each client with a service account. */
const OWN_MAPPER = 'oidc-usersessionmodel-note-mapper';

const credential = (type: string) => ({
  at: ['users', '*', 'credentials', '*'],
  isCounted: (value: Readonly<Record<string, unknown>>) => value.type === type,
});

export const LEFT_BY_KEYCLOAK: readonly LeftBehind[] = [
  {
    at: ['components', 'org.keycloak.storage.UserStorageProvider', '*'],
    what: 'user federations (LDAP, Kerberos)',
    instead: 'Import their users by CSV, or send them by SCIM',
  },
  { ...credential('webauthn-passwordless'), what: 'passkeys', instead: 'They work only at the former address. Users add new ones' },
  { ...credential('recovery-authn-codes'), what: 'lists of recovery codes', instead: 'Users add another second factor' },
  { at: ['users', '*', 'clientConsents', '*'], what: 'consents', instead: 'Users are asked again' },
  {
    at: ['users', '*', 'requiredActions', '*'],
    what: 'required actions other than UPDATE_PASSWORD',
    instead: 'Require a second factor by a sign-in rule, and ask users to verify their e-mail address',
    isCounted: (value) => String(value) !== 'UPDATE_PASSWORD',
  },
  {
    at: ['users', '*', 'serviceAccountClientId'],
    what: 'service accounts',
    instead: 'Nothing to do: their applications sign in by themselves',
  },
  { at: ['groups', '*', 'attributes'], what: 'groups with attributes', instead: 'Add the attributes to their members' },
  { at: ['organizations', '*', 'domains', '*'], what: 'domains of organizations', instead: 'Add and verify them at the organization' },
  {
    at: ['organizations', '*', 'identityProviders', '*'],
    what: 'identity providers of organizations',
    instead: 'Connect the provider with the organization',
  },
  { at: ['identityProviderMappers', '*'], what: 'mappers of identity providers', instead: 'Set the attribute mapping of the provider' },
  {
    at: ['clients', '*', 'protocolMappers', '*'],
    what: 'mappers of clients',
    instead: 'Add claims to an authorization server',
    isCounted: ({ protocolMapper }) => protocolMapper !== OWN_MAPPER,
  },
  {
    at: ['clients', '*', 'authorizationSettings'],
    what: 'clients with authorization services',
    instead: 'Use the roles of applications, or rules of an authorization server',
  },
  {
    at: ['clientScopes', '*'],
    what: 'client scopes',
    instead: 'Add scopes and claims to an authorization server',
    isCounted: ({ name }) => !OWN_SCOPES.has(name),
  },
  {
    at: ['authenticationFlows', '*'],
    what: 'authentication flows',
    instead: 'Write sign-in rules',
    isCounted: ({ builtIn }) => builtIn !== true,
  },
  { at: ['passwordPolicy'], what: 'password policy', instead: 'Set the password rules' },
  { at: ['smtpServer'], what: 'mail server', instead: 'Set it in the mail settings' },
  { at: ['loginTheme'], what: 'theme', instead: 'Set the branding' },
  { at: ['localizationTexts'], what: 'texts', instead: 'Change page texts and e-mail templates' },
];
