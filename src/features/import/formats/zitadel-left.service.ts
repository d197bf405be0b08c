/** Parts of Zitadel's data (`DataOrg` of its API) that are not imported. */
import type { LeftBehind } from './left-behind.service.ts';

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
