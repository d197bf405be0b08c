/**
 * The page of an invitation link. It is the same with and without an account: users sign in and join, or choose a password for a new account. Opening
 * it changes nothing, because mail scanners follow every link.
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { present } from '../../platform/clock/clock.ts';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import { readForm, seeOther } from '../../platform/http/forms.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { findDesignOfOrganization, showOrganization } from '../organization-branding/organization-branding.service.ts';
import { InvalidLink } from '../passwords/choose-password.hosted.ts';
import { MOST_CHARACTERS, type PasswordProblem } from '../passwords/password.policy.ts';
import { findPasswordProblem } from '../passwords/password-policy.service.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import { continueElsewhere } from '../sign-in/continue-sign-in.hosted.ts';
import { signInFor } from '../sign-in/fresh-sign-in.hosted.ts';
import { FRESH, isFreshSignIn } from '../sign-in/fresh-sign-in.service.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { PASSWORD_AMR } from '../sign-in/sign-in.service.ts';
import { findUser } from '../users/users.service.ts';
import { createByInvitation, joinByInvitation, type OpenInvitation, readInvitation } from './accept-invitation.service.ts';

/** Page to return to after a sign-in. */
export const INVITATION_PAGE = '/account/invitation';
const COOKIE = 'gatehouse-invitation';
const TOKEN = /^[\w-]{43}$/;

const tokenIn = (ctx: RouterContext): string => ctx.params.token ?? '';
const addressOf = (token: string): string => `/invitation/${token}`;

/** @throws {InvalidLink} */
async function invitationIn(deps: SignInDeps, ctx: RouterContext): Promise<OpenInvitation> {
  const invitation = await readInvitation(deps.services, tokenIn(ctx));
  if (invitation === undefined) throw new InvalidLink();
  return invitation;
}

/** The user, if they have just signed in. */
async function freshUser(deps: SignInDeps, ctx: Koa.Context) {
  const session = await deps.sessions.current(ctx.req, ctx.res);
  return session !== undefined && (await isFreshSignIn(deps, session)) ? findUser(deps.services.database, session.accountId) : undefined;
}

async function show(
  deps: SignInDeps,
  ctx: RouterContext,
  { organization }: OpenInvitation,
  problem?: PasswordProblem | 'missing' | 'taken',
): Promise<void> {
  const language = pageLanguage(ctx);
  showOrganization(ctx, await findDesignOfOrganization(deps.services, organization.id));
  const user = await freshUser(deps, ctx);
  const limits = { least: String((await readPasswordPolicy(deps.services.database.knex)).minLength), most: String(MOST_CHARACTERS) };
  const values = { organization: organization.name };
  const title = language.text('invited.title', values);
  const message = problem === 'taken' ? language.text('invited.taken') : problem && language.text(`choose-password.${problem}`, limits);
  const locals = {
    ...language,
    title: problem === undefined ? title : language.text('error.title-prefix', { title }),
    heading: title,
    action: withCarriedParameters(ctx, ctx.path),
    hidden: deps.formTokens.field(ctx),
    account: user && language.text('consent.account', { name: user.login }),
    join: language.text('invited.join', values),
    hint: language.text('choose-password.hint', limits),
    problem: message,
    scripts: ['show-password.js', 'reload-when-stale.js'],
  };
  await deps.pages.render(ctx, 'invitation', locals, { status: problem === undefined ? 200 : 400 });
  // The URL contains the token. It must not be in any Referer, even to this service; forms keep their Origin, unlike with `no-referrer`.
  ctx.set('Referrer-Policy', 'strict-origin');
}

/** GET /invitation/:token @throws {InvalidLink} */
export const invitationPage = async (deps: SignInDeps, ctx: RouterContext): Promise<void> => show(deps, ctx, await invitationIn(deps, ctx));

/** POST /invitation/:token @throws {InvalidLink} */
export async function receiveInvitation(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const invitation = await invitationIn(deps, ctx);
  if (form.get('decision') === 'sign-in') {
    keep(deps, ctx, tokenIn(ctx), FRESH);
    return seeOther(ctx, withCarriedParameters(ctx, signInFor('invitation')));
  }
  if (form.get('decision') === 'join') return join(deps, ctx, invitation);
  await create(deps, ctx, invitation, form.get('password') ?? '');
}

/** GET /account/invitation: continues here after a sign-in. @throws {InvalidLink} */
export function backToInvitation(deps: SignInDeps, ctx: Koa.Context): void {
  const token = cookieIn(ctx, COOKIE, deps.config.secure, INVITATION_PAGE) ?? '';
  if (!TOKEN.test(token)) throw new InvalidLink();
  keep(deps, ctx, '', 0);
  seeOther(ctx, withCarriedParameters(ctx, addressOf(token)));
}

async function join(deps: SignInDeps, ctx: RouterContext, invitation: OpenInvitation): Promise<void> {
  const user = await freshUser(deps, ctx);
  // The sign-in has become too old while the page was open.
  if (user === undefined) return show(deps, ctx, invitation);
  const request = { ...visitor(ctx, deps.config), actor: { id: user.id, type: 'User' as const, displayName: user.login } };
  const joined = await joinByInvitation(deps.services, tokenIn(ctx), user.id, request);
  if (joined.kind === 'gone') throw new InvalidLink();
  seeOther(ctx, joined.kind === 'password' ? new URL(joined.link).pathname : '/account');
}

async function create(deps: SignInDeps, ctx: RouterContext, invitation: OpenInvitation, password: string): Promise<void> {
  const owner = { login: invitation.email, email: invitation.email, profile: {} };
  const problem = password === '' ? 'missing' : (await findPasswordProblem(deps.services, password, owner))?.problem;
  if (problem !== undefined) return show(deps, ctx, invitation, problem);
  const created = await createByInvitation(deps.services, tokenIn(ctx), password, visitor(ctx, deps.config));
  if (created === 'gone') throw new InvalidLink();
  if (created === 'taken') return show(deps, ctx, invitation, 'taken');
  await continueElsewhere(deps, ctx, '/signin', { user: created, amr: PASSWORD_AMR, authenticatedAt: present() });
}

const keep = ({ config: { secure } }: SignInDeps, ctx: Koa.Context, value: string, seconds: number): void =>
  writeCookie(ctx, secure, { name: COOKIE, value, path: INVITATION_PAGE, seconds });
