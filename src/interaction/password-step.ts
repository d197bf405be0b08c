/**
 * The first step of a sign-in by password: the password is checked, and an expired one is replaced, before the sign-in goes on. The form itself carries
 * what proves that the old password was typed; nothing of it stands in an address.
 */
import type Koa from 'koa';
import { deviceOf, keepDevice, newDevice } from '../http/device-cookie.ts';
import { replaceExpiredPassword, whoMayReplace } from '../services/expired-passwords.ts';
import { createExpiredPasswordToken } from '../services/one-time-links.ts';
import { readPasswordPolicy } from '../services/settings.ts';
import type { SignedInUser } from '../services/sign-in.ts';
import type { User } from '../store/users.ts';
import { type PasswordForm, showPasswordForm } from './password-form.ts';
import { type SignInForm, type SignInParts, showSignIn, submitSignIn, visitor } from './sign-in-form.ts';

const TOKEN = 'token';

/** @returns who signed in; undefined when a form was shown instead */
type Submit = (parts: SignInParts, ctx: Koa.Context, form: SignInForm, posted: URLSearchParams) => Promise<SignedInUser | undefined>;

/** Checks the password; where it is right but expired, asks for another. @throws {TooManyFailures} */
export const submitPassword: Submit = async (parts, ctx, form, posted) => {
  const checked = await submitSignIn(parts, ctx, form, posted);
  if (checked?.kind !== 'expired') return checked?.user;
  const made = await createExpiredPasswordToken(parts.services, checked.user);
  const user = made && (await whoMayReplace(parts.services, made.token));
  if (made === undefined || user === undefined) await beginAgain(parts, ctx, form);
  else await show(parts, ctx, form, { token: made.token, user });
  return undefined;
};

/** Takes the password that was chosen in place of the expired one. */
export const submitNewPassword: Submit = async (parts, ctx, form, posted) => {
  const { services, config } = parts;
  const [token, password] = [posted.get(TOKEN) ?? '', posted.get('password') ?? ''];
  const device = deviceOf(ctx, config) ?? newDevice();
  const user = await whoMayReplace(services, token);
  const outcome = password === '' ? MISSING : await replaceExpiredPassword(services, { token, password, device }, visitor(ctx, config));
  if (user === undefined || outcome === undefined) await beginAgain(parts, ctx, form);
  else if ('problem' in outcome) await show(parts, ctx, form, { token, user }, outcome.problem);
  else {
    keepDevice(ctx, config, device);
    return outcome;
  }
  return undefined;
};

const MISSING = { problem: 'missing' } as const;

const beginAgain = ({ pages }: SignInParts, ctx: Koa.Context, form: SignInForm): Promise<void> =>
  showSignIn(pages, ctx, { ...form, notice: 'sign-in.begin-again' });

async function show(
  { services, pages }: SignInParts,
  ctx: Koa.Context,
  form: SignInForm,
  { token, user }: { readonly token: string; readonly user: User },
  problem?: PasswordForm['problem'],
): Promise<void> {
  const hidden = [...(form.hidden === undefined ? [] : [form.hidden]), { name: TOKEN, value: token }];
  const policy = await readPasswordPolicy(services.database.knex);
  const { application, cancel, redirectOrigins, uiLocales, newPassword: action } = form;
  const notice = 'choose-password.expired';
  await showPasswordForm(pages, ctx, { action, hidden, user, policy, notice, problem, application, cancel, redirectOrigins, uiLocales });
}
