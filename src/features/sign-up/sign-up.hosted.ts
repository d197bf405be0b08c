/**
 * Sign-up page, for an application's request or standalone. Same form, next page and timing for everyone: those with an account learn it by e-mail
 * (features/sign-up/sign-up.service.ts).
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { withCarriedParameters } from '../../pages/hosted/carried-parameters.ts';
import { visitor } from '../../pages/hosted/deps.ts';
import { type FormProblem, logoOf } from '../../pages/hosted/page-models.ts';
import { readForm } from '../../platform/http/forms.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { askingForProof, proofIn, proofLocals } from '../bots/bots.hosted.ts';
import { codePlaceOf, waitForCode } from '../email-codes/email-code.hosted.ts';
import { isMailable } from '../mail/mail.policy.ts';
import { passkeyRelyingParty } from '../passkeys/passkeys.service.ts';
import { MOST_CHARACTERS } from '../passwords/password.policy.ts';
import { findPasswordProblem } from '../passwords/password-policy.service.ts';
import { readPasswordPolicy } from '../settings/settings.service.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { pathOfPlace, type SignInPlace, signInFrame, stateTokenOf } from '../sign-in/sign-in-place.hosted.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { TIME_ZONES } from '../users/own-profile.service.ts';
import type { SignUpSettings } from './sign-up.policy.ts';
import { type AddressProblem, addressProblem, openSignUp, requestSignUp, type SignUp } from './sign-up.service.ts';
import { linesOf, readSignUpFormFields, type SignUpFormField, signUpFormFields, type TypedFields } from './sign-up-fields.service.ts';

const settingsAt = ({ services, config }: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<SignUpSettings | undefined> =>
  openSignUp(services, place === 'standalone' ? undefined : place.registration, visitor(ctx, config));

const fieldsOf = async ({ services }: SignInDeps, settings: SignUpSettings): Promise<readonly SignUpFormField[]> =>
  signUpFormFields(settings, await currentUserSchema(services));

type Text = ReturnType<typeof pageLanguage>['text'];
const labelOf = (text: Text, { label, title, name }: SignUpFormField): string => (label === undefined ? (title ?? name) : text(label));

const pathOf = (place: SignInPlace): string => (place === 'standalone' ? '/signup' : `${pathOfPlace(place)}/signup`);

/** @returns the page's path, for the sign-in page; undefined if sign-up is closed */
export const signUpPath = async (deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<string | undefined> =>
  (await settingsAt(deps, ctx, place)) === undefined ? undefined : withCarriedParameters(ctx, pathOf(place));

interface Typed {
  readonly email: string;
  readonly fields: TypedFields;
  readonly isAccepted: boolean;
}

/** GET …/signup @returns false if sign-up is closed */
export async function showSignUp(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<boolean> {
  const settings = await settingsAt(deps, ctx, place);
  if (settings === undefined) return false;
  const email = place === 'standalone' ? '' : (place.loginHint ?? '');
  await show(deps, ctx, place, settings, { email: isMailable(email) ? email : '', fields: {}, isAccepted: false });
  return true;
}

/** Password rule of the form; undefined: users sign in without a password. */
async function passwordRule({ services }: SignInDeps) {
  const { methods, passwordOptional } = await currentSettings(services, 'sign-in');
  if (!methods.includes('password')) return undefined;
  const byPasskey = passwordOptional && methods.includes('passkey') && passkeyRelyingParty(services.config) !== undefined;
  const { minLength } = await readPasswordPolicy(services.database.knex);
  return {
    isRequired: !methods.includes('email') && !byPasskey,
    byPasskey,
    limits: { least: String(minLength), most: String(MOST_CHARACTERS) },
  };
}

async function show(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  settings: SignUpSettings,
  typed: Typed,
  problems: readonly FormProblem[] = [],
): Promise<void> {
  const { application, redirectOrigins, uiLocales, hidden, cancel } = signInFrame(deps, ctx, place);
  const language = pageLanguage(ctx, uiLocales);
  const { text } = language;
  const heading = text('sign-up.title');
  const { logo, images } = logoOf(application);
  const rule = await passwordRule(deps);
  const proof = await proofLocals(deps, ctx, 'signUp');
  const locals = {
    ...language,
    title: problems.length === 0 ? heading : text('error.title-prefix', { title: heading }),
    heading,
    logo,
    application: application?.label,
    cancel,
    hidden,
    action: withCarriedParameters(ctx, pathOf(place)),
    signIn: withCarriedParameters(ctx, place === 'standalone' ? '/signin' : `${pathOfPlace(place)}/signin`),
    email: typed.email,
    fields: (await fieldsOf(deps, settings)).map((field) => ({
      ...field,
      label: labelOf(text, field),
      value: typed.fields[field.name] ?? '',
      values: linesOf(typed.fields[field.name] ?? ''),
    })),
    zones: TIME_ZONES,
    password: rule && {
      ...rule,
      hint: `${text('choose-password.hint', rule.limits)}${rule.byPasskey ? ` ${text('sign-up.password-or-passkey')}` : ''}`,
    },
    terms: settings.termsUrl,
    privacy: settings.privacyUrl,
    isAccepted: typed.isAccepted,
    problems,
    ...proof,
    scripts: ['show-password.js', 'reload-when-stale.js', ...proof.proofScripts],
  };
  await deps.pages.render(ctx, 'sign-up', locals, {
    status: problems.length === 0 ? 200 : 400,
    images,
    formAction: redirectOrigins ?? [],
  });
}

/** POST …/signup @returns false if sign-up is closed @throws {TooManyFailures} */
export async function receiveSignUp(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<boolean> {
  const settings = await settingsAt(deps, ctx, place);
  if (settings === undefined) return false;
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const fields = await fieldsOf(deps, settings);
  const typed: Typed = {
    email: form.get('email')?.trim() ?? '',
    fields: Object.fromEntries(
      fields.map(({ name, kind }) => [name, kind === 'checks' ? form.getAll(name).join('\n') : (form.get(name)?.trim() ?? '')]),
    ),
    isAccepted: form.has('terms'),
  };
  const password = form.get('password') ?? '';
  const { problems, profile } = await check(deps, ctx, place, settings, typed, password);
  if (problems.length > 0) {
    await show(deps, ctx, place, settings, typed, problems);
    return true;
  }
  const wish = {
    email: typed.email,
    profile,
    password: password === '' || (await passwordRule(deps)) === undefined ? undefined : password,
    applicationId: place === 'standalone' ? undefined : place.application.id,
    termsUrl: settings.termsUrl ?? undefined,
    proof: proofIn(form),
  };
  const request = visitor(ctx, deps.config);
  const { text } = pageLanguage(ctx, place === 'standalone' ? undefined : place.uiLocales);
  const refuse = (message: string) => show(deps, ctx, place, settings, typed, [{ field: 'email', message }]);
  const begin = async () => {
    const begun = await requestSignUp(deps.services, codePlaceOf(ctx, place), wish, request, stateTokenOf(deps, ctx));
    if (typeof begun === 'string') await waitForCode(deps, ctx, place, begun);
    else await refuse(begun.message ?? text('sign-up.refused'));
  };
  await askingForProof(ctx, begin, () => refuse(text('bots.again')));
  return true;
}

async function check(
  deps: SignInDeps,
  ctx: Koa.Context,
  place: SignInPlace,
  settings: SignUpSettings,
  typed: Typed,
  password: string,
): Promise<{ readonly problems: readonly FormProblem[]; readonly profile: SignUp['profile'] }> {
  const { text } = pageLanguage(ctx, place === 'standalone' ? undefined : place.uiLocales);
  const problems: FormProblem[] = [];
  const problem = (field: string, message: string) => problems.push({ field, message });
  const wrongAddress = addressProblem(settings, typed.email);
  if (wrongAddress !== undefined) problem('email', text(ADDRESS_PROBLEMS[wrongAddress]));
  const read = readSignUpFormFields(await fieldsOf(deps, settings), typed.fields);
  for (const { field, message } of read.problems) problem(`field-${field.name}`, text(message, { field: labelOf(text, field) }));
  const rule = await passwordRule(deps);
  if (rule?.isRequired && password === '') problem('password', text('choose-password.missing'));
  else if (rule !== undefined && password !== '') {
    const owner = { login: typed.email, email: typed.email, profile: read.profile };
    const found = await findPasswordProblem(deps.services, password, owner);
    if (found !== undefined) problem('password', text(`choose-password.${found.problem}`, rule.limits));
  }
  if (settings.termsUrl !== null && !typed.isAccepted) problem('terms', text('sign-up.terms-missing'));
  return { problems, profile: read.profile };
}

const ADDRESS_PROBLEMS = {
  missing: 'sign-up.email-missing',
  'not-an-address': 'account.email.not-an-address',
  'domain-refused': 'sign-up.domain-refused',
} as const satisfies Record<AddressProblem, MessageKey>;

/** GET /signup, standalone. */
export async function signUpPage(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  if (!(await showSignUp(deps, ctx, 'standalone'))) await next();
}

/** POST /signup @throws {TooManyFailures} */
export async function receiveStandaloneSignUp(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  if (!(await receiveSignUp(deps, ctx, 'standalone'))) await next();
}

/** GET /signup/waiting: the account was created, and an administrator must activate it. */
export async function waitingPage(deps: SignInDeps, ctx: RouterContext): Promise<void> {
  const language = pageLanguage(ctx);
  const title = language.text('sign-up.waiting-title');
  const links = [{ id: 'home', href: '/signin', label: language.text('forgot.back'), main: false }];
  await deps.pages.render(ctx, 'message', { ...language, title, heading: title, explanation: language.text('sign-up.waiting'), links });
}
