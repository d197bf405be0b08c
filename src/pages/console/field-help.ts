/** Help for the fields of a form: links to the fields of the corresponding API operation (views/api-docs.ejs). */

import { type Field, namesOfField } from './form.ts';

/** @returns the fields of an operation's body, e.g. `profile.login` */
export type ApiFields = (operation: string) => readonly string[];

/** The API operation that corresponds to the form of a page. The first matching path decides. */
const OPERATIONS: readonly (readonly [path: string, operation: string])[] = [
  ['/users/new', 'createUser'],
  ['/users/invite', 'createUser'],
  ['/users/:id/edit', 'updateUser'],
  ['/users/:id/life-cycle/set-password', 'updateUser'],
  ['/users/:id/roles/new', 'createUserRole'],
  ['/groups/new', 'createGroup'],
  ['/groups/:id/edit', 'putGroup'],
  ['/attributes/(new|:name)', 'createMetaSchemasUserDefault'],
  ['/organizations/new', 'createOrg'],
  ['/organizations/:orgId/rename', 'putOrg'],
  ['/organizations/:orgId/departments/new', 'createOrgDepartment'],
  ['/organizations/:orgId/departments/:depId/edit', 'putOrgDepartment'],
  ['/organizations/:orgId/domains/new', 'createOrgDomain'],
  ['/organizations/:orgId/invitations/new', 'createOrgInvitation'],
  ['/organizations/:orgId/members/:userId', 'putOrgMember'],
  ['/organizations/:orgId/members/:userId/roles', 'putOrgMemberRole'],
  ['/organizations/:orgId/roles/(new|:roleId)', 'createOrgRole'],
  ['/organizations/:orgId/sign-in/(new|:idpId)', 'putOrgIdp'],
  ['/organizations/:orgId/setup-link', 'createOrgSetup'],
  ['/organizations/:orgId/policy/edit', 'putOrgPolicy'],
  ['/organizations/:orgId/branding/edit', 'putOrgBranding'],
  ['/applications/new/:kind', 'createApp'],
  ['/applications/:id/settings/:group', 'putApp'],
  ['/applications/:id/branding', 'putApp'],
  ['/applications/:id/credentials/federated/new', 'putApp'],
  ['/applications/:id/credentials/new', 'createAppCredentialsSecret'],
  ['/applications/:id/assignments/:kind/:assigneeId/roles', 'putAppUser'],
  ['/applications/:id/provisioning/edit', 'putAppProvisioning'],
  ['/applications/:id/provisioning/push', 'createAppProvisioningPush'],
  ['/applications/:id/roles/(new|:roleId)', 'createAppRole'],
  ['/api/servers/new', 'createAuthorizationServer'],
  ['/api/servers/:serverId/edit', 'putAuthorizationServer'],
  ['/api/servers/:serverId/scopes/(new|:scopeId)', 'createAuthorizationServerScope'],
  ['/api/servers/:serverId/details/(new|:typeId)', 'createAuthorizationServerAuthorizationDetailType'],
  ['/api/servers/:serverId/claims/(new/:kind|:claimId)', 'createAuthorizationServerClaim'],
  ['/api/servers/:serverId/policies/new', 'createAuthorizationServerPolicy'],
  ['/api/servers/:serverId/policies/:policyId/(edit|move)', 'putAuthorizationServerPolicy'],
  ['/api/servers/:serverId/policies/:policyId/rules/(new|:ruleId)', 'createAuthorizationServerPolicyRule'],
  ['/api/servers/:serverId/policies/:policyId/rules/:ruleId/(edit|move)', 'putAuthorizationServerPolicyRule'],
  ['/api/servers/:serverId/registration/new', 'createAuthorizationServerRegistrationToken'],
  ['/api/servers/:serverId/simulator', 'createAuthorizationServerSimulate'],
  ['/api/tokens/new', 'createApiToken'],
  ['/api/event-hooks/(new|:id/edit)', 'createEventHook'],
  ['/api/inline-hooks/(new|:id/edit)', 'createInlineHook'],
  ['/api/signal-streams/(new|:id/edit)', 'createSsfStream'],
  ['/security/identity-providers/(new/:type|:id/edit)', 'createIdp'],
  ['/security/identity-providers/:id/users/new', 'updateIdpUser'],
  ['/security/passwords/edit', 'putSettingsPassword'],
  ['/security/(sessions|sign-in-policy)/edit', 'putSettingsSignIn'],
  ['/security/sign-in-policy/rules/(new|:name)', 'putSettingsSignIn'],
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
  ['/reports/log/retention', 'putSettingsAudit'],
];

const PATTERNS = OPERATIONS.map(([path, operation]) => [new RegExp(`^/admin${path.replace(/:\w+/g, '[^/]+')}$`), operation] as const);

/** @returns undefined: the form has none @param path of the page, from `/admin` */
export const operationOf = (path: string): string | undefined => PATTERNS.find(([pattern]) => pattern.test(path))?.[1];

/** The field of the API that a field of a form sets: by its whole name, else by the end of the name, e.g. `redirect_uris`, else the object that it is in. */
function apiFieldOf(field: Pick<Field, 'name' | 'alias'>, fields: readonly string[]): string | undefined {
  const names = namesOfField(field);
  return (
    fields.find((one) => names.includes(one)) ??
    fields.find((one) => names.some((name) => one.endsWith(`.${name}`))) ??
    fields.findLast((one) => names.some((name) => name.startsWith(`${one}.`)))
  );
}

/** @param path of the page @returns the address of a field's help; undefined: the API has no such field */
export function fieldHelp(path: string, apiFields: ApiFields): (field: Pick<Field, 'name' | 'alias'>) => string | undefined {
  const operation = operationOf(path);
  if (operation === undefined) return () => undefined;
  return (field) => {
    const found = apiFieldOf(field, apiFields(operation));
    return found && `/api/v1/docs#${encodeURI(`${operation}.${found}`)}`;
  };
}
