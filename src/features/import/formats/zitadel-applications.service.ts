/** Applications of Zitadel's projects, and the parts of its data that are not imported. */

import { z } from 'zod';
import type { LeftBehind } from './left-behind.service.ts';

// Data that is not imported, by the fields of `DataOrg` in Zitadel's API.

const of = (field: string, what: string, instead: string): LeftBehind => ({ at: ['*', field, '*'], what, instead });
const policy = (field: string, what: string, instead: string): LeftBehind => ({ at: ['*', field], what, instead });
const POLICY = 'Use the settings, sign-in rules and the policy of the organization';
const BRANDING = 'Set the branding of the organization';
const TEXTS = 'Change page texts and e-mail templates';
const ROLES = 'Give the members a role of the organization';

export const LEFT_BY_ZITADEL: readonly LeftBehind[] = [
  of('machineUsers', 'machine users', 'Create a service application for each'),
  of('machineKeys', 'keys of machine users', 'Create keys for the new applications'),
  of('appKeys', 'keys of applications', 'Applications get a new secret. Register their keys, if you want them'),
  of('jwtIdps', 'identity providers by JWT', 'Create them as OpenID Connect providers, if they are'),
  of('userMetadata', 'metadata of users', 'Add attributes, and set their values by SCIM or the API'),
  of('domains', 'domains of organizations', 'Add and verify them at the organization'),
  of('orgMembers', 'administrators of organizations', ROLES),
  of('projectMembers', 'administrators of projects', ROLES),
  of('projectGrants', 'project grants', 'Nothing to do, if users have grants: those are imported'),
  of('projectGrantMembers', 'administrators of project grants', ROLES),
  of('actions', 'actions', 'Use inline hooks and event hooks'),
  of('triggerActions', 'triggers of actions', 'Use inline hooks and event hooks'),
  policy('loginPolicy', 'login policies', POLICY),
  of('secondFactors', 'second factors of login policies', POLICY),
  of('multiFactors', 'multi-factors of login policies', POLICY),
  of('idps', 'identity providers of login policies', 'Connect the provider with a domain of the organization'),
  policy('passwordComplexityPolicy', 'password complexity policies', POLICY),
  policy('lockoutPolicy', 'lockout policies', POLICY),
  policy('iamPolicy', 'domain policies', POLICY),
  policy('domainPolicy', 'domain policies', POLICY),
  policy('labelPolicy', 'label policies', BRANDING),
  policy('privacyPolicy', 'privacy policies', BRANDING),
  of('loginTexts', 'texts of the login', TEXTS),
  ...[
    ...['initMessages', 'passwordResetMessages', 'verifyEmailMessages', 'verifyPhoneMessages'],
    ...['domainClaimedMessages', 'passwordlessRegistrationMessages'],
  ].map((field) => of(field, 'texts of messages', TEXTS)),
];

const list = z.array(z.string()).default([]);

export const zitadelRole = z.looseObject({ projectId: z.string(), roleKey: z.string(), displayName: z.string().default('') });
export type ZitadelRole = z.output<typeof zitadelRole>;

export const zitadelApp = z.looseObject({
  appId: z.string(),
  app: z.looseObject({
    projectId: z.string(),
    name: z.string(),
    redirectUris: list,
    postLogoutRedirectUris: list,
    responseTypes: list,
    grantTypes: list,
    /** Zitadel's JSON omits zero values, so the defaults are a web application with basic authentication. */
    appType: z.string().default('OIDC_APP_TYPE_WEB'),
    authMethodType: z.string().default('OIDC_AUTH_METHOD_TYPE_BASIC'),
  }),
});

const METHODS: Readonly<Record<string, string>> = {
  OIDC_AUTH_METHOD_TYPE_BASIC: 'client_secret_basic',
  OIDC_AUTH_METHOD_TYPE_POST: 'client_secret_post',
  OIDC_AUTH_METHOD_TYPE_NONE: 'none',
  API_AUTH_METHOD_TYPE_BASIC: 'client_secret_basic',
};

const TYPES: Readonly<Record<string, string>> = {
  OIDC_APP_TYPE_USER_AGENT: 'browser',
  OIDC_APP_TYPE_NATIVE: 'native',
  OIDC_APP_TYPE_WEB: 'web',
};

const RESPONSES: Readonly<Record<string, string>> = {
  OIDC_RESPONSE_TYPE_CODE: 'code',
  OIDC_RESPONSE_TYPE_ID_TOKEN: 'id_token',
  OIDC_RESPONSE_TYPE_ID_TOKEN_TOKEN: 'id_token token',
};

const GRANTS: Readonly<Record<string, string>> = {
  OIDC_GRANT_TYPE_AUTHORIZATION_CODE: 'authorization_code',
  OIDC_GRANT_TYPE_IMPLICIT: 'implicit',
  OIDC_GRANT_TYPE_REFRESH_TOKEN: 'refresh_token',
  OIDC_GRANT_TYPE_DEVICE_CODE: 'urn:ietf:params:oauth:grant-type:device_code',
};

const known = (names: readonly string[], table: Readonly<Record<string, string>>): string[] => names.flatMap((name) => table[name] ?? []);

/** The data does not contain the application's private key, so a client that authenticated with one gets a secret. */
export function applicationValue({ appId, app }: z.output<typeof zitadelApp>, roles: readonly ZitadelRole[]): object {
  const isApi = app.redirectUris.length === 0;
  const method = METHODS[app.authMethodType] ?? 'client_secret_basic';
  const responses = known(app.responseTypes, RESPONSES);
  const grants = known(app.grantTypes, GRANTS);
  return {
    clientId: appId,
    label: app.name,
    settings: {
      token_endpoint_auth_method: method,
      ...(isApi
        ? { application_type: 'service', grant_types: ['client_credentials'], response_types: [], redirect_uris: [] }
        : {
            application_type: TYPES[app.appType] ?? 'web',
            redirect_uris: app.redirectUris,
            post_logout_redirect_uris: app.postLogoutRedirectUris,
            response_types: responses.length > 0 ? responses : ['code'],
            grant_types: grants.length > 0 ? grants : ['authorization_code'],
            pkce_required: method === 'none',
          }),
    },
    roles: roles.map(({ roleKey, displayName }) => ({ name: roleKey, ...(displayName !== '' && { displayName }) })),
  };
}
