/** Help for the fields of a form: links to the fields of the corresponding API operation (views/api-docs.ejs). */

import { type Field, namesOfField } from './form.ts';

/** @returns the fields of an operation's body, e.g. `profile.login` */
export type ApiFields = (operation: string) => readonly string[];

/**
 * What describes a field that is none of the operation's body by its own name: another field of the body, a parameter (`?name`), the operation itself
 * (empty), an anchor of the reference (`#…`), or a page of the documentation.
 */
type Elsewhere = Readonly<Record<string, string>>;

/** The name that confirms a deletion (confirmation-page.ts). */
const TYPED_NAME: Elsewhere = { 'confirmed-name': '' };

const TRY_RULES = '/docs/how-to/sign-in-rules#try-them-first';
const CONNECT = '/docs/how-to/connect-a-framework';

/** The API operation that corresponds to the form of a page. The first matching path decides. */
const OPERATIONS: readonly (readonly [path: string, operation: string, elsewhere?: Elsewhere])[] = [
  ['/users/new', 'createUser', { way: '?activate' }],
  ['/users/invite', 'createUser'],
  ['/users/import', 'createUser', { file: '/docs/how-to/manage-many-users#import-users-from-a-csv-file' }],
  ['/users/:id/edit', 'updateUser'],
  ['/users/:id/life-cycle/set-password', 'updateUser', { expire: '#expireUserPassword' }],
  ['/users/:id/life-cycle/reset_password', 'resetUserPassword', { way: '?sendEmail' }],
  ['/users/:id/life-cycle/(activate|reactivate)', 'activateUser', { way: '?sendEmail' }],
  ['/users/:id/organizations/(new|:orgId)', 'putOrgMember', { orgId: '?orgId' }],
  ['/users/:id/groups/new', 'putGroupUser', { groupId: '?id' }],
  ['/users/:id/applications/new', 'putAppUser', { applicationId: '?id' }],
  ['/users/:id/sessions/end', 'deleteUserSessions', { oauthTokens: '?oauthTokens' }],
  ['/users/:id/roles/new', 'createUserRole'],
  ['/groups/new', 'createGroup'],
  ['/groups/:id/edit', 'putGroup'],
  ['/groups/:id/delete', 'deleteGroup', TYPED_NAME],
  ['/attributes/(new|:name)', 'createMetaSchemasUserDefault'],
  ['/attributes/:name/remove', 'createMetaSchemasUserDefault', TYPED_NAME],
  ['/organizations/new', 'createOrg'],
  ['/organizations/:orgId/rename', 'putOrg'],
  ['/organizations/:orgId/departments/new', 'createOrgDepartment'],
  ['/organizations/:orgId/departments/:depId/edit', 'putOrgDepartment'],
  ['/organizations/:orgId/domains/new', 'createOrgDomain'],
  ['/organizations/:orgId/invitations/new', 'createOrgInvitation'],
  ['/organizations/:orgId/members/(new|:userId)', 'putOrgMember'],
  ['/organizations/:orgId/members/:userId/roles', 'putOrgMemberRole'],
  ['/organizations/:orgId/roles/(new|:roleId)', 'createOrgRole'],
  ['/organizations/:orgId/roles/:roleId/delete', 'deleteOrgRole', TYPED_NAME],
  ['/organizations/:orgId/sign-in/(new|:idpId)', 'putOrgIdp', { idpId: '?idpId' }],
  ['/organizations/:orgId/setup-link', 'createOrgSetup'],
  ['/organizations/:orgId/policy/edit', 'putOrgPolicy'],
  ['/organizations/:orgId/branding/edit', 'putOrgBranding'],
  ['/organizations/:orgId/administrators(/new)?', 'createUserRole', { user: '?id' }],
  ['/security/administrators/new', 'createUserRole'],
  ['/applications/new', 'createApp', { kind: 'application_type' }],
  ['/applications/new/:kind', 'createApp', { refresh: 'grant_types' }],
  ['/applications/:id', 'putApp', { server: CONNECT, with: CONNECT }],
  ['/applications/:id/settings/:group', 'putApp', { providers: 'identity_providers', claims: 'id_token_claims' }],
  ['/applications/:id/branding', 'putApp'],
  ['/applications/:id/credentials/federated/new', 'putApp'],
  ['/applications/:id/credentials/new', 'createAppCredentialsSecret'],
  ['/applications/:id/assignments/:kind/:assigneeId/roles', 'putAppUser'],
  ['/applications/:id/provisioning/edit', 'putAppProvisioning'],
  ['/applications/:id/provisioning/push', 'createAppProvisioningPush'],
  ['/applications/:id/roles/(new|:roleId)', 'createAppRole'],
  ['/applications/:id/roles/:roleId/delete', 'deleteAppRole', TYPED_NAME],
  ['/applications/:id/delete', 'deleteApp', TYPED_NAME],
  ['/api/servers/new', 'createAuthorizationServer'],
  ['/api/servers/:serverId/edit', 'putAuthorizationServer'],
  ['/api/servers/:serverId/delete', 'deleteAuthorizationServer', TYPED_NAME],
  ['/api/servers/:serverId/mcp', 'putAuthorizationServer', { resource: 'audiences' }],
  ['/api/servers/:serverId/scopes/(new|:scopeId)', 'createAuthorizationServerScope'],
  ['/api/servers/:serverId/scopes/:scopeId/delete', 'deleteAuthorizationServerScope', TYPED_NAME],
  ['/api/servers/:serverId/details/(new|:typeId)', 'createAuthorizationServerAuthorizationDetailType'],
  ['/api/servers/:serverId/details/:typeId/delete', 'deleteAuthorizationServerAuthorizationDetailType', TYPED_NAME],
  ['/api/servers/:serverId/claims/(new/:kind|:claimId)', 'createAuthorizationServerClaim', { valueFormat: 'value' }],
  ['/api/servers/:serverId/policies/new', 'createAuthorizationServerPolicy', { for: 'conditions.clients' }],
  ['/api/servers/:serverId/policies/:policyId/(edit|move)', 'putAuthorizationServerPolicy', { for: 'conditions.clients' }],
  [
    '/api/servers/:serverId/policies/:policyId/rules/(new|:ruleId)',
    'createAuthorizationServerPolicyRule',
    { grants: 'conditions.grantTypes', scopesFor: 'conditions.scopes', actorsFor: 'conditions.actors' },
  ],
  ['/api/servers/:serverId/policies/:policyId/rules/:ruleId/(edit|move)', 'putAuthorizationServerPolicyRule'],
  ['/api/servers/:serverId/registration/new', 'createAuthorizationServerRegistrationToken'],
  [
    '/api/servers/:serverId/simulator',
    'createAuthorizationServerSimulate',
    { hook: '/docs/how-to/use-inline-hooks', ip: TRY_RULES, browser: TRY_RULES, country: TRY_RULES },
  ],
  ['/api/tokens/new', 'createApiToken'],
  ['/api/event-hooks/(new|:id/edit)', 'createEventHook'],
  ['/api/inline-hooks/(new|:id/edit)', 'createInlineHook'],
  ['/api/inline-hooks/:id/test', 'executeInlineHook'],
  ['/api/signal-streams/(new|:id/edit)', 'createSsfStream'],
  ['/security/identity-providers/(new/:type|:id/edit)', 'createIdp'],
  ['/security/identity-providers/:id/delete', 'deleteIdp', TYPED_NAME],
  ['/security/identity-providers/:id/users/new', 'updateIdpUser', { login: '?userId' }],
  ['/security/passwords/edit', 'putSettingsPassword'],
  ['/security/(sessions|sign-in-policy)/edit', 'putSettingsSignIn'],
  ['/security/sign-in-policy/rules/(new|:name)', 'putSettingsSignIn', { place: 'rules' }],
  ['/security/sign-up/edit', 'putSettingsRegistration'],
  ['/security/bots/edit', 'putSettingsBots'],
  ['/security/zones/(new|:id)', 'createZone'],
  ['/settings/branding/(edit|style/edit)', 'putSettingsBranding'],
  ['/settings/branding/links/(new|:at/edit)', 'putSettingsBranding'],
  ['/settings/branding/applications/:id', 'putApp'],
  ['/settings/mail/edit', 'putSettingsMail'],
  ['/settings/mail/templates/:kind/:language', 'putSettingsMailTemplate'],
  ['/settings/telephony/edit', 'putSettingsTelephony'],
  ['/settings/telephony/test', 'createSettingsTelephonyTest'],
  ['/settings/texts/:language/:key', 'putSettingsText'],
  ['/reports/log/retention', 'putSettingsAudit', { keep: 'retentionDays' }],
  ['/bulk/:id/confirm', 'putGroupUser', { group: '?id', application: '#putAppUser?id', sendEmail: '#resetUserPassword?sendEmail' }],
  [
    '/api/mcp',
    'createAuthorizationServer',
    {
      url: 'audiences',
      scopes: '#createAuthorizationServerScope.name',
      server: '',
      existing: '#putAuthorizationServer?id',
      documents: 'clientIdMetadata.enabled',
      registration: 'registration.mode',
      people: '#createAuthorizationServerPolicyRule.conditions.people',
      groups: '#createAuthorizationServerPolicyRule.conditions.people.groups.include',
    },
  ],
];

const PATTERNS = OPERATIONS.map(
  ([path, operation, elsewhere = {}]) => [new RegExp(`^/admin${path.replace(/:\w+/g, '[^/]+')}$`), { operation, elsewhere }] as const,
);

/** @returns undefined: the form has none @param path of the page, from `/admin` */
const helpOf = (path: string) => PATTERNS.find(([pattern]) => pattern.test(path))?.[1];

/** The field of the API that a field of a form sets: by its whole name, else by the end of the name, e.g. `redirect_uris`, else the object that it is in. */
function apiFieldOf(field: Pick<Field, 'name' | 'alias'>, fields: readonly string[]): string | undefined {
  const names = namesOfField(field);
  return (
    fields.find((one) => names.includes(one)) ??
    fields.find((one) => names.some((name) => one.endsWith(`.${name}`))) ??
    fields.findLast((one) => names.some((name) => name.startsWith(`${one}.`)))
  );
}

/** @param path of the page, from `/admin` @returns the address of a field's help; undefined: nothing describes it */
export function fieldHelp(path: string, apiFields: ApiFields): (field: Pick<Field, 'name' | 'alias'>) => string | undefined {
  const help = helpOf(path);
  if (help === undefined) return () => undefined;
  const { operation, elsewhere } = help;
  const anchorOf = (field: Pick<Field, 'name' | 'alias'>): string | undefined => {
    const place = elsewhere[field.name];
    if (place === '' || place?.startsWith('?')) return `${operation}${place}`;
    if (place?.startsWith('#')) return place.slice(1);
    const found = apiFieldOf(place === undefined ? field : { name: place }, apiFields(operation));
    return found && `${operation}.${found}`;
  };
  return (field) => {
    const place = elsewhere[field.name];
    if (place?.startsWith('/')) return place;
    const anchor = anchorOf(field);
    return anchor && `/api/v1/docs#${encodeURI(anchor)}`;
  };
}
