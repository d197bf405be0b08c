/**
 * The types of all events that the service writes, named as in Okta's System Log where it has them. An event of a type that is not listed here
 * does not compile.
 */

const ABOUT_PEOPLE = [
  'user.account.export_data',
  'user.account.expire_password',
  'user.account.lock',
  'user.account.privilege.grant',
  'user.account.privilege.revoke',
  'user.account.reset_password',
  'user.account.send_verification',
  'user.account.unlock_by_admin',
  'user.account.update_password',
  'user.account.update_profile',
  'user.authentication.auth_via_mfa',
  'user.authentication.auth_via_IDP',
  'user.authentication.failure',
  'user.authentication.sso',
  'user.identity_provider.link',
  'user.identity_provider.unlink',
  'user.import.password',
  'user.lifecycle.activate',
  'user.lifecycle.create',
  'user.lifecycle.deactivate',
  'user.lifecycle.delete.initiated',
  'user.lifecycle.reactivate',
  'user.lifecycle.suspend',
  'user.lifecycle.unsuspend',
  'user.mfa.factor.activate',
  'user.mfa.factor.deactivate',
  'user.mfa.factor.reset_all',
  'user.mfa.factor.update',
  'user.schema.update',
  'user.mfa.passkey_offer.decline',
  'user.mfa.trusted_browser.add',
  'user.mfa.trusted_browser.remove',
  'policy.evaluate_sign_on',
  'user.registration.complete',
  'user.registration.request',
  'user.session.clear',
  'user.session.end',
  'user.session.start',
] as const;

const ABOUT_ORGANIZATIONS_AND_GROUPS = [
  'department.create',
  'department.delete',
  'department.update',
  'group.application_assignment.add',
  'group.application_assignment.remove',
  'group.application_assignment.update',
  'group.lifecycle.create',
  'group.lifecycle.delete',
  'group.profile.update',
  'group.user_membership.add',
  'group.user_membership.remove',
  'org.lifecycle.create',
  'org.lifecycle.delete',
  'org.membership.add',
  'org.membership.remove',
  'org.membership.update',
  'org.update',
] as const;

const ABOUT_APPLICATIONS = [
  'app.oauth2.as.authorize',
  'app.oauth2.as.backchannel.authorize',
  'app.oauth2.as.backchannel.notify',
  'app.oauth2.as.backchannel.request',
  'app.oauth2.as.consent.grant',
  'app.oauth2.as.consent.revoke',
  'app.oauth2.as.device.authorize',
  'app.oauth2.as.token.assertion',
  'app.oauth2.as.token.exchange',
  'app.oauth2.as.token.grant',
  'app.oauth2.backchannel_logout',
  'app.oauth2.client_document.refuse',
  'app.oauth2.registration_token.create',
  'app.oauth2.registration_token.revoke',
  'application.lifecycle.activate',
  'application.lifecycle.create',
  'application.lifecycle.deactivate',
  'application.lifecycle.delete',
  'application.lifecycle.update',
  'application.role.create',
  'application.role.delete',
  'application.role.update',
  'application.oauth2.client_secret.activate',
  'application.oauth2.client_secret.create',
  'application.oauth2.client_secret.deactivate',
  'application.oauth2.client_secret.delete',
  'application.user_membership.add',
  'application.user_membership.remove',
  'application.user_membership.update',
] as const;

const ABOUT_AUTHORIZATION_SERVERS = [
  'app.oauth2.as.key.rollover',
  'oauth2.as.activated',
  'oauth2.as.created',
  'oauth2.as.deactivated',
  'oauth2.as.deleted',
  'oauth2.as.updated',
  'oauth2.authorization_detail_type.created',
  'oauth2.authorization_detail_type.deleted',
  'oauth2.authorization_detail_type.updated',
  'oauth2.claim.created',
  'oauth2.claim.deleted',
  'oauth2.claim.updated',
  'oauth2.scope.created',
  'oauth2.scope.deleted',
  'oauth2.scope.updated',
  'policy.lifecycle.activate',
  'policy.lifecycle.create',
  'policy.lifecycle.deactivate',
  'policy.lifecycle.delete',
  'policy.lifecycle.update',
  'policy.rule.activate',
  'policy.rule.add',
  'policy.rule.deactivate',
  'policy.rule.delete',
  'policy.rule.update',
] as const;

const ABOUT_THE_SERVICE = [
  'inline_hook.activated',
  'inline_hook.created',
  'inline_hook.deactivated',
  'inline_hook.deleted',
  'inline_hook.executed',
  'inline_hook.secret.created',
  'inline_hook.updated',
  'security.request.blocked',
  'system.api_token.create',
  'system.api_token.revoke',
  'system.audit.remove',
  'system.bulk_action.end',
  'system.bulk_action.start',
  'system.email.challenge_factor_redeemed',
  'system.email.delivery',
  'system.email.send_factor_verify_message',
  'system.export.users',
  'system.idp.lifecycle.activate',
  'system.idp.lifecycle.create',
  'system.idp.lifecycle.deactivate',
  'system.idp.lifecycle.delete',
  'system.idp.lifecycle.update',
  'system.secret_key.reseal',
  'system.settings.update',
  'system.sms.send_factor_verify_message',
  'system.voice.send_mfa_challenge_call',
  'zone.create',
  'zone.delete',
  'zone.update',
] as const;

/** What hooks can be told of, by what it is about. */
export const HOOK_EVENT_AREAS = {
  people: ABOUT_PEOPLE,
  organizations: ABOUT_ORGANIZATIONS_AND_GROUPS,
  applications: ABOUT_APPLICATIONS,
  servers: ABOUT_AUTHORIZATION_SERVERS,
  service: ABOUT_THE_SERVICE,
} as const;

const ABOUT_EVENT_HOOKS = [
  'event_hook.activated',
  'event_hook.created',
  'event_hook.deactivated',
  'event_hook.deleted',
  'event_hook.delivery',
  'event_hook.delivery.repeat',
  'event_hook.secret.created',
  'event_hook.test',
  'event_hook.updated',
  'event_hook.verified',
] as const;

/** What hooks can be told of. */
export const HOOK_EVENT_TYPES = [
  ...ABOUT_PEOPLE,
  ...ABOUT_ORGANIZATIONS_AND_GROUPS,
  ...ABOUT_APPLICATIONS,
  ...ABOUT_AUTHORIZATION_SERVERS,
  ...ABOUT_THE_SERVICE,
] as const;

/** Told to no hook: news of a delivery that failed would be delivered, fail, and be news again. */
const UNTOLD_EVENT_TYPES = ABOUT_EVENT_HOOKS;

export type HookEventType = (typeof HOOK_EVENT_TYPES)[number];
export type EventType = HookEventType | (typeof UNTOLD_EVENT_TYPES)[number];

/** All types, by what they are about. */
export const EVENT_GROUPS = {
  people: ABOUT_PEOPLE,
  'organizations and groups': ABOUT_ORGANIZATIONS_AND_GROUPS,
  applications: ABOUT_APPLICATIONS,
  'authorization servers': ABOUT_AUTHORIZATION_SERVERS,
  'the service': ABOUT_THE_SERVICE,
  'event hooks': ABOUT_EVENT_HOOKS,
} as const satisfies Readonly<Record<string, readonly EventType[]>>;
