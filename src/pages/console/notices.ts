/** What a page says of the step before: fixed texts, named in a cookie that the next page takes, so that it shows once and no link can show it. */
import type Koa from 'koa';

const NOTICES = {
  'not-carried-out': 'You had to sign in again, and what you sent was not carried out. Look at it once more and send it again.',
  'token-revoked': 'The token is revoked. The next call with it is refused.',
  'server-created': 'The authorization server is created, with the standard scopes and a policy that allows everything.',
  'mcp-server-protected': 'The MCP server is protected as soon as it publishes the document below and checks tokens.',
  'server-changed': 'The authorization server is changed.',
  'server-activated': 'The authorization server is active: its endpoints answer again.',
  'server-deactivated': 'The authorization server is deactivated. Its endpoints answer 404.',
  'server-deleted': 'The authorization server is deleted, and its tokens with it.',
  'scope-created': 'The scope is created.',
  'scope-changed': 'The scope is changed.',
  'scope-deleted': 'The scope is deleted.',
  'claim-created': 'The claim is created. The next token holds it.',
  'claim-changed': 'The claim is changed.',
  'claim-deleted': 'The claim is deleted.',
  'policy-created': 'The access policy is created. It allows nothing until it has a rule.',
  'policy-changed': 'The access policy is changed.',
  'policy-moved': 'The access policy has its new place.',
  'policy-activated': 'The access policy is active.',
  'policy-deactivated': 'The access policy is deactivated: it is passed over.',
  'policy-deleted': 'The access policy is deleted with its rules.',
  'rule-created': 'The rule is created.',
  'rule-changed': 'The rule is changed.',
  'rule-moved': 'The rule has its new place.',
  'rule-activated': 'The rule is active.',
  'rule-deactivated': 'The rule is deactivated: it is passed over.',
  'rule-deleted': 'The rule is deleted.',
  'keys-rotated': 'The keys are rotated. The new one signs from now on; the one before still verifies what it signed.',
  'organization-created': 'The organization is created.',
  'organization-renamed': 'The organization has its new name.',
  'organization-deleted': 'The organization is deleted.',
  'department-created': 'The department is created.',
  'department-changed': 'The department is changed.',
  'department-deleted': 'The department is deleted.',
  'bulk-action-started': 'The action has started. You can leave this page: it goes on without you.',
  'bulk-action-cancelled': 'The rest of the action is cancelled.',
  'member-added': 'The member is added.',
  'members-added': 'The members are added.',
  'member-changed': 'The member is changed.',
  'member-removed': 'The member is removed. The account itself stays.',
  'idp-created': 'The identity provider is added, and its button is on the sign-in pages. Try it before you tell people of it.',
  'idp-changed': 'The identity provider is changed.',
  'idp-activated': 'The identity provider is active.',
  'idp-deactivated': 'The identity provider is inactive. Nobody signs in with it.',
  'idp-deleted': 'The identity provider is deleted.',
  'idp-user-linked': 'The user is linked.',
  'idp-user-unlinked': 'The user is no longer linked.',
  'hook-changed': 'The event hook is changed.',
  'hook-changed-unverified': 'The event hook is changed. Its new address has to be verified before it is told anything.',
  'hook-verified': 'The address has answered: the event hook is verified. What was waiting is sent now.',
  'hook-event-queued': 'The event is on its way. Its response is under Deliveries in a moment.',
  'hook-activated': 'The event hook is active.',
  'hook-deactivated': 'The event hook is inactive. It is told of nothing.',
  'hook-deleted': 'The event hook is deleted.',
  'sign-in-policy-changed': 'The sign-in policy is changed. It holds from the next sign-in on.',
  'password-policy-changed': 'The password policy is changed. It holds for every new password.',
  'branding-changed': 'The branding is changed. The pages show it at once.',
  'style-changed': 'The style is changed. The pages show it at once.',
  'footer-links-changed': 'The links are changed. The pages show them at once.',
  'application-branding-changed': 'The application has its branding. Its sign-in page shows it at once.',
  'user-created': 'The user is created.',
  'user-invited': 'The user is created. The link to choose a password is on its way by mail.',
  'user-invited-again': 'The invitation is on its way by mail. The former link no longer works.',
  'user-activated-by-mail': 'The link to choose a password is on its way by mail.',
  'password-reset-by-mail': 'The current password has stopped working. A link to choose a new one was sent by e-mail.',
  'verification-sent': 'The mail to confirm the address is on its way. Its link works once, for one day.',
  'mail-server-changed': 'The mail server is changed. Send a test e-mail to try it.',
  'mail-template-changed': 'The template is changed. The next e-mail has it.',
  'mail-template-reset': 'The template is the original again.',
  'text-changed': 'The text is changed. The pages show it at once.',
  'text-reset': 'The text is the original again.',
  'test-mail-taken':
    'The mail server has taken the test mail. See whether it arrives: if it does not, look among the spam, and in the log of the mail server.',
  'test-mail-in-inbox': 'The test mail lies in the dev inbox.',
  'user-changed': 'The profile is changed.',
  'user-activated': 'The user is active.',
  'user-unlocked': 'The user can sign in again.',
  'user-suspended': 'The user is suspended: sessions and tokens have ended.',
  'user-unsuspended': 'The user can sign in again.',
  'user-deactivated': 'The user is deactivated: sessions, tokens and API tokens have ended.',
  'user-deleted': 'The user is deleted.',
  'password-expired': 'The password is expired. At the next sign-in the user chooses another one.',
  'password-set': 'The password is set. Sessions and tokens have ended.',
  'trust-ended': 'The trust has ended. The next sign-in there asks for the second factor.',
  'sessions-ended': 'The sessions have ended.',
  'session-ended': 'The session has ended.',
  'consent-revoked': 'The consent is revoked.',
  'consents-revoked': 'The consents are revoked.',
  'factor-reset': 'The factor is reset.',
  'factors-reset': 'The factors are reset, the recovery codes with them.',
  'link-removed': 'The link is removed.',
  'role-given': 'The role is given. It counts from the next click on.',
  'role-taken': 'The role is taken.',
  'group-created': 'The group is created.',
  'group-changed': 'The group is changed.',
  'group-deleted': 'The group is deleted.',
  'group-member-added': 'The user is in the group.',
  'group-members-added': 'The users are in the group.',
  'group-member-removed': 'The user is no longer in the group.',
  'application-assigned-to-user': 'The application is assigned.',
  'application-taken-from-user': 'The application is taken away.',
  'sessions-changed': 'The sessions are changed.',
  'retention-changed': 'How long events are kept is changed.',
  'application-created': 'The application is created.',
  'application-changed': 'The application is changed. It counts from the next request on.',
  'application-secret-activated': 'The secret is active: it is accepted again.',
  'application-secret-deactivated': 'The secret is inactive: it is refused.',
  'federated-credential-added': 'The federated credential is added. Its tokens authenticate the application from now on.',
  'federated-credential-removed': 'The federated credential is removed. Its tokens are refused from the next request on.',
  'application-secret-removed': 'The secret is removed. It is refused from the next request on.',
  'application-assigned': 'The application is assigned to them.',
  'application-unassigned': 'The application is not assigned any more.',
  'application-activated': 'The application is active.',
  'application-deactivated': 'The application is inactive. Nothing of it is lost.',
  'application-deleted': 'The application is deleted.',
} as const;
export type PageNotice = keyof typeof NOTICES;

const nameOf = (secure: boolean): string => `${secure ? '__Host-' : ''}gatehouse-console-notice`;

function write(ctx: Koa.Context, secure: boolean, value: string | null): void {
  // The library refuses Secure cookies on a plain connection, which is what it sees behind a proxy that ends TLS.
  ctx.cookies.secure = secure;
  ctx.cookies.set(nameOf(secure), value, { path: '/', httpOnly: true, sameSite: 'lax', secure, signed: false, overwrite: true });
}

/** The next page says it. @param secure is the service reached by https? */
export function keepNotice(ctx: Koa.Context, secure: boolean, notice: PageNotice | undefined): void {
  if (notice !== undefined) write(ctx, secure, notice);
}

/** @returns what is to be said, once */
export function takeNotice(ctx: Koa.Context, secure: boolean): string | undefined {
  const name = ctx.cookies.get(nameOf(secure), { signed: false });
  if (name === undefined) return undefined;
  write(ctx, secure, null);
  return Object.hasOwn(NOTICES, name) ? NOTICES[name as PageNotice] : undefined;
}
