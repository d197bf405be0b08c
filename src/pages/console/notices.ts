/** Notices about the previous step: fixed texts named in a cookie, so that a notice appears once and no link can trigger it. Some offer to undo the step. */
import type Koa from 'koa';
import { z } from 'zod';
import { sealing } from '../../platform/crypto/sealed.ts';
import type { Keys } from '../../platform/crypto/secrets.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';

const NOTICES = {
  'not-carried-out': 'You had to sign in again, and your form was not processed. Check it and send it again.',
  'token-revoked': 'The token is revoked. The next call with it is refused.',
  'server-created': 'The authorization server is created, with the standard scopes and a policy that allows everything.',
  'mcp-server-protected': 'The MCP server is protected as soon as it publishes the document below and checks tokens.',
  'server-changed': 'The authorization server is changed.',
  'server-activated': 'The authorization server is active: its endpoints answer again.',
  'server-deactivated': 'The authorization server is deactivated. Its endpoints return 404.',
  'server-deleted': 'The authorization server is deleted, and its tokens with it.',
  'scope-created': 'The scope is created.',
  'scope-changed': 'The scope is changed.',
  'scope-deleted': 'The scope is deleted.',
  'detail-type-created': 'The authorization detail type is created. Name it in the settings of the applications that may use it.',
  'detail-type-changed': 'The authorization detail type is changed.',
  'detail-type-deleted': 'The authorization detail type is deleted.',
  'claim-created': 'The claim is created. The next token contains it.',
  'claim-changed': 'The claim is changed.',
  'claim-deleted': 'The claim is deleted.',
  'policy-created': 'The access policy is created. It allows nothing until it has a rule.',
  'policy-changed': 'The access policy is changed.',
  'policy-moved': 'The access policy has its new place.',
  'policy-activated': 'The access policy is active.',
  'policy-deactivated': 'The access policy is deactivated and skipped.',
  'policy-deleted': 'The access policy is deleted with its rules.',
  'rule-created': 'The rule is created.',
  'rule-changed': 'The rule is changed.',
  'rule-moved': 'The rule has its new place.',
  'rule-activated': 'The rule is active.',
  'rule-deactivated': 'The rule is deactivated and skipped.',
  'rule-deleted': 'The rule is deleted.',
  'keys-rotated': 'The keys are rotated. The new key signs from now on; the previous one still verifies what it signed.',
  'organization-created': 'The organization is created.',
  'organization-renamed': 'The organization has its new name.',
  'organization-deleted': 'The organization is deleted.',
  'department-created': 'The department is created.',
  'department-changed': 'The department is changed.',
  'department-deleted': 'The department is deleted.',
  'bulk-action-started': 'The action has started. You can leave this page; the action continues.',
  'bulk-action-cancelled': 'The rest of the action is cancelled.',
  'member-added': 'The member is added.',
  'members-added': 'The members are added.',
  'member-changed': 'The member is changed.',
  'domain-added': 'The domain is added. Verify it next.',
  'domain-verified': 'The domain is verified.',
  'domain-removed': 'The domain is removed.',
  'provider-connected': 'The identity provider is connected.',
  'provider-connection-changed': 'The connection is changed.',
  'provider-disconnected': 'The identity provider is removed from the organization.',
  'member-removed': 'The member is removed. The account itself stays.',
  'idp-created': 'The identity provider is added, and its button is on the sign-in pages. Try it before you announce it.',
  'idp-changed': 'The identity provider is changed.',
  'idp-activated': 'The identity provider is active.',
  'idp-deactivated': 'The identity provider is inactive. Nobody signs in with it.',
  'idp-deleted': 'The identity provider is deleted.',
  'idp-user-linked': 'The user is linked.',
  'idp-user-unlinked': 'The user is no longer linked.',
  'hook-changed': 'The event hook is changed.',
  'hook-changed-unverified': 'The event hook is changed. Verify its new address before it receives events.',
  'hook-verified': 'The event hook is verified. Waiting events are sent now.',
  'hook-event-queued': 'The event is on its way. Its response is under Deliveries in a moment.',
  'hook-activated': 'The event hook is active.',
  'hook-deactivated': 'The event hook is inactive. It receives no events.',
  'hook-deleted': 'The event hook is deleted.',
  'inline-hook-changed': 'The inline hook is changed.',
  'inline-hook-activated': 'The inline hook is active.',
  'inline-hook-deactivated': 'The inline hook is inactive and not called.',
  'inline-hook-deleted': 'The inline hook is deleted.',
  'provisioning-changed': 'The SCIM target is set. Assigned users are pushed now.',
  'provisioning-started': 'The push has started. Look again in a moment.',
  'provisioning-removed': 'The provisioning is removed.',
  'stream-created': 'The signal stream is created.',
  'stream-changed': 'The signal stream is changed. Waiting events are sent now.',
  'stream-verified': 'The verification event is on its way.',
  'stream-enabled': 'The signal stream is enabled.',
  'stream-paused': 'The signal stream is paused.',
  'stream-disabled': 'The signal stream is disabled.',
  'stream-deleted': 'The signal stream is deleted.',
  'zone-created': 'The network zone is created. Name it in a rule of the sign-in policy.',
  'zone-changed': 'The network zone is changed.',
  'zone-deleted': 'The network zone is deleted.',
  'bots-changed': 'The bot protection settings are changed. They take effect immediately.',
  'sign-up-changed': 'The sign-up settings are changed.',
  'sign-in-policy-changed': 'The sign-in policy is changed. It applies from the next sign-in.',
  'password-policy-changed': 'The password policy is changed. It applies to every new password.',
  'branding-changed': 'The branding is changed. The pages show it at once.',
  'style-changed': 'The style is changed. The pages show it at once.',
  'footer-links-changed': 'The links are changed. The pages show them at once.',
  'application-branding-changed': 'The application has its branding. Its sign-in page shows it at once.',
  'user-created': 'The user is created.',
  'user-invited': 'The user is created. The link to choose a password is on its way by e-mail.',
  'user-invited-again': 'The invitation is on its way by e-mail. The previous link no longer works.',
  'user-activated-by-mail': 'The link to choose a password is on its way by e-mail.',
  'password-reset-by-mail': 'The current password no longer works. A link to choose a new one was sent by e-mail.',
  'verification-sent': 'The confirmation e-mail is on its way. Its link works once, for one day.',
  'telephony-changed': 'The webhook is changed. Send a test message to try it.',
  'test-message-sent': 'The webhook accepted the message. Did it arrive?',
  'mail-server-changed': 'The mail server is changed. Send a test e-mail to try it.',
  'mail-template-changed': 'The template is changed. The next e-mail uses it.',
  'mail-template-reset': 'The template is the original again.',
  'text-changed': 'The text is changed. The pages show it at once.',
  'text-reset': 'The text is the original again.',
  'test-mail-taken':
    'The mail server accepted the test e-mail. If it does not arrive, check the spam folder and the log of the mail server.',
  'test-mail-in-inbox': 'The test e-mail is in the dev inbox.',
  'user-changed': 'The profile is changed.',
  'user-activated': 'The user is active.',
  'sign-up-refused': 'The sign-up is refused.',
  'user-unlocked': 'The user can sign in again.',
  'user-suspended': 'The user is suspended: sessions and tokens have ended.',
  'user-unsuspended': 'The user can sign in again.',
  'user-deactivated': 'The user is deactivated: sessions, tokens and API tokens have ended.',
  'user-deleted': 'The user is deleted.',
  'password-expired': 'The password is expired. The user chooses a new one at the next sign-in.',
  'password-set': 'The password is set. Sessions and tokens have ended.',
  'trust-ended': 'The trust has ended. The next sign-in there asks for the second factor.',
  'sessions-ended': 'The sessions have ended.',
  'session-ended': 'The session has ended.',
  'consent-revoked': 'The consent is revoked.',
  'consents-revoked': 'The consents are revoked.',
  'factor-reset': 'The factor is reset.',
  'factors-reset': 'The factors are reset, the recovery codes with them.',
  'link-removed': 'The link is removed.',
  'role-given': 'The role is assigned. It takes effect immediately.',
  'role-taken': 'The role is removed.',
  'attribute-added': 'The attribute is added. Set it in the profile of users.',
  'attribute-changed': 'The attribute is changed.',
  'attribute-removed': 'The attribute is removed. Its values are erased.',
  'group-created': 'The group is created.',
  'group-changed': 'The group is changed.',
  'group-deleted': 'The group is deleted.',
  'group-member-added': 'The user is in the group.',
  'group-members-added': 'The users are in the group.',
  'group-member-removed': 'The user is no longer in the group.',
  'application-assigned-to-user': 'The application is assigned.',
  'application-taken-from-user': 'The assignment is removed.',
  'sessions-changed': 'The sessions are changed.',
  'retention-changed': 'How long events are kept is changed.',
  'application-created': 'The application is created.',
  'application-changed': 'The application is changed. The change applies from the next request.',
  'application-secret-activated': 'The secret is active: it is accepted again.',
  'application-secret-deactivated': 'The secret is inactive: it is refused.',
  'federated-credential-added': 'The federated credential is added. Its tokens authenticate the application from now on.',
  'federated-credential-removed': 'The federated credential is removed. Its tokens are refused from the next request on.',
  'application-secret-removed': 'The secret is removed. It is refused from the next request on.',
  'application-assigned': 'The application is assigned to them.',
  'application-unassigned': 'The application is not assigned any more.',
  'invitation-sent': 'The invitation is sent.',
  'invitation-revoked': 'The invitation is revoked.',
  'organization-role-created': 'The role is created. Give it to members on the tab Members.',
  'organization-role-changed': 'The role is changed.',
  'organization-role-deleted': 'The role is deleted.',
  'member-roles-changed': 'The roles of the member are changed.',
  'application-role-created': 'The role is created. Assign it to users and groups under Assignments.',
  'application-role-changed': 'The role is changed.',
  'application-role-deleted': 'The role is deleted.',
  'application-roles-assigned': 'The roles are assigned. The next token contains them.',
  'application-activated': 'The application is active.',
  'application-deactivated': 'The application is inactive. Nothing is lost.',
  'application-deleted': 'The application is deleted.',
} as const;
export type PageNotice = keyof typeof NOTICES;

/** A form that reverses a step: it is posted to the page that takes the reverse step, with all checks of that page. */
export interface Undo {
  readonly href: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Browsers keep cookies of 4,096 octets, name included. */
const LONGEST = 3900;
const COOKIE = 'gatehouse-console-notice';
const offer = z.object({ userId: z.string(), href: z.string(), fields: z.record(z.string(), z.string()) });

/** A notice as a page draws it. */
interface DrawnNotice {
  readonly text: string;
  readonly undo: Required<Undo> | undefined;
}

export interface Notices {
  /** The next page shows it. @param userId user who can undo the step */
  keep(ctx: Koa.Context, userId: string, outcome: { readonly notice?: PageNotice; readonly undo?: Undo | undefined }): Promise<void>;
  /** @returns the notice, once */
  take(ctx: Koa.Context, userId: string): Promise<DrawnNotice | undefined>;
}

/**
 * The cookie contains the name of the notice and, after a dot, the sealed form that undoes the step. It is sealed because it posts with the
 * administrator's rights: nobody can forge it, and another user of this browser does not see it.
 * @param options.secure is the service accessed by https?
 */
export function consoleNotices({ keys, secure }: { readonly keys: Keys; readonly secure: boolean }): Notices {
  const sealed = sealing({ kind: 'console-undo', schema: offer, keys, seconds: 900 });
  const write = (ctx: Koa.Context, value: string | null): void => writeCookie(ctx, secure, { name: COOKIE, value, path: '/' });
  return {
    async keep(ctx, userId, { notice, undo }) {
      if (notice === undefined) return;
      const value = undo && `${notice}.${await sealed.seal({ userId, href: undo.href, fields: undo.fields ?? {} })}`;
      write(ctx, value !== undefined && value.length <= LONGEST ? value : notice);
    },
    async take(ctx, userId) {
      const value = cookieIn(ctx, COOKIE, secure, '/');
      if (value === undefined) return undefined;
      write(ctx, null);
      const [name = '', ...rest] = value.split('.');
      if (!Object.hasOwn(NOTICES, name)) return undefined;
      const undo = rest.length === 0 ? undefined : await sealed.open(rest.join('.'));
      return { text: NOTICES[name as PageNotice], undo: undo?.userId === userId ? undo : undefined };
    },
  };
}
