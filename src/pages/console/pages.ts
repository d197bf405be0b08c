/** All pages of the console, in the order in which their paths are matched. */
import { administrators } from '../../features/administrators/administrators.console.ts';
import { tokenPages } from '../../features/api-tokens/tokens.console.ts';
import { applicationRolePages } from '../../features/application-roles/roles.console.ts';
import { applications } from '../../features/applications/pages.console.ts';
import { reports } from '../../features/audit/pages.console.ts';
import { servers } from '../../features/authorization-servers/pages.console.ts';
import { botPages } from '../../features/bots/bots.console.ts';
import { bulkPages } from '../../features/bulk/bulk.console.ts';
import { dashboard } from '../../features/dashboard/dashboard.console.ts';
import { eventHookPages } from '../../features/event-hooks/pages.console.ts';
import { groupMembers } from '../../features/groups/group-members.console.ts';
import { groupPages } from '../../features/groups/groups.console.ts';
import { identityProviderUserPages } from '../../features/identity-providers/linked-users.console.ts';
import { identityProviderPages } from '../../features/identity-providers/pages.console.ts';
import { importPage } from '../../features/import/user-import.console.ts';
import { inlineHookPages } from '../../features/inline-hooks/inline-hooks.console.ts';
import { mailPages } from '../../features/mail/mail.console.ts';
import { zonePages } from '../../features/network-zones/network-zones.console.ts';
import { organizationBrandingPages } from '../../features/organization-branding/branding.console.ts';
import { organizationInvitationPages } from '../../features/organization-invitations/invitations.console.ts';
import { organizationRolePages } from '../../features/organization-roles/roles.console.ts';
import { organizationSetupPages } from '../../features/organization-setup/setup.console.ts';
import { departmentPages } from '../../features/organizations/departments.console.ts';
import { memberPages } from '../../features/organizations/members.console.ts';
import { organizationTabs } from '../../features/organizations/organization-tabs.console.ts';
import { organizationPages } from '../../features/organizations/organizations.console.ts';
import { passwordPolicyPages } from '../../features/passwords/passwords.console.ts';
import { applicationAccess } from '../../features/provisioning/application-access.console.ts';
import { provisioningPages } from '../../features/provisioning/provisioning.console.ts';
import { sessionLifetimes } from '../../features/sessions/session-lifetimes.console.ts';
import { brandingPages } from '../../features/settings/branding.console.ts';
import { signInPolicyPages } from '../../features/settings/sign-in.console.ts';
import { signInRulePages } from '../../features/sign-in-rules/sign-in-rules.console.ts';
import { signUpPages } from '../../features/sign-up/sign-up.console.ts';
import { signalStreamPages } from '../../features/signals/signals.console.ts';
import { telephonyPages } from '../../features/telephony/telephony.console.ts';
import { mailTemplatePages } from '../../features/texts/mail-templates.console.ts';
import { pageTextPages } from '../../features/texts/page-texts.console.ts';
import { attributePages } from '../../features/user-schema/attributes.console.ts';
import { userPages } from '../../features/users/pages.console.ts';
import type { ConsolePage } from './page.ts';
import { searchEverywhere } from './search.ts';

export const PAGES: readonly ConsolePage[] = [
  dashboard,
  searchEverywhere,
  ...tokenPages,
  ...applicationRolePages,
  ...applications,
  applicationAccess,
  ...provisioningPages,
  ...organizationPages,
  ...departmentPages,
  ...organizationBrandingPages,
  ...organizationTabs,
  ...organizationInvitationPages,
  ...organizationSetupPages,
  ...organizationRolePages,
  ...memberPages,
  ...bulkPages,
  importPage,
  ...userPages,
  ...attributePages,
  ...groupPages,
  ...groupMembers,
  ...servers,
  ...sessionLifetimes,
  ...administrators,
  ...eventHookPages,
  ...inlineHookPages,
  ...signalStreamPages,
  ...identityProviderPages,
  ...identityProviderUserPages,
  ...signInPolicyPages,
  ...signInRulePages,
  ...zonePages,
  ...signUpPages,
  ...botPages,
  ...passwordPolicyPages,
  ...brandingPages,
  ...mailPages,
  ...telephonyPages,
  ...mailTemplatePages,
  ...pageTextPages,
  ...reports,
];
