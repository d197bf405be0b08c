/** Form for user name and password: rendering, parsing and validation. */
import type Koa from 'koa';
import { visitor } from '../../pages/hosted/deps.ts';
import { type ApplicationFacts, logoOf } from '../../pages/hosted/page-models.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { browserDevice, keepDevice } from '../../platform/http/cookies.ts';
import type { HiddenField } from '../../platform/http/csrf.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import { askingForProof, proofIn } from '../bots/bots.hosted.ts';
import { limitWithoutProof } from '../bots/bots.service.ts';
import type { ProviderLink } from '../identity-providers/upstream-redirect.hosted.ts';
import { PASSKEY_SCRIPTS, type PasskeyForm } from '../passkeys/passkey-forms.hosted.ts';
import type { Purpose } from '../second-factors/second-factor-requirement.service.ts';
import type { SignInMethod } from '../settings/settings.service.ts';
import { refuseBlockedAddress } from './failure-limits.service.ts';
import { checkPasswordOfAnyStatus, type PasswordCheck } from './sign-in.service.ts';

/** A sign-in form and where it is shown. */
export interface SignInForm {
  /** Path of the form's target. */
  readonly action: string;
  readonly application?: ApplicationFacts | undefined;
  /** Path that cancels and returns to the application. */
  readonly cancel?: string;
  /** A message above the form. */
  readonly notice?: MessageKey | undefined;
  /** Account page of the signed-in user, to return to. */
  readonly back?: string | undefined;
  /** Initial value of the user name field. */
  readonly username?: string | undefined;
  readonly hidden?: HiddenField;
  /** Path of the page for a forgotten password; undefined: e-mail is not configured. */
  readonly forgotten?: string | undefined;
  /** Is the user name requested separately, before the password? */
  readonly identifierFirst?: boolean;
  /** Path of the page that creates an account; undefined: not possible. */
  readonly signUp?: string | undefined;
  /** The sign-in methods that are enabled here. */
  readonly methods: Readonly<Record<SignInMethod, boolean>>;
  /** External providers beside the password. */
  readonly providers?: readonly ProviderLink[];
  /** Providers of the typed user name's domain, shown first. */
  readonly home?: readonly ProviderLink[];
  /** Passkeys beside the password; absent: not available here. */
  readonly passkey?: PasskeyForm | undefined;
  /** Origin of the final redirect, see PageSources. */
  readonly redirectOrigins?: readonly string[];
  /** `ui_locales` of the authorization request. */
  readonly uiLocales?: string | undefined;
  /** The browser's proof of work, JSON; absent: none. */
  readonly proof?: string | undefined;
}

export interface SignInParts {
  readonly services: Services;
  readonly pages: Pages;
  readonly config: Config;
}

/** Why the form is shown again, and at which field. */
export interface SignInProblem {
  readonly message: MessageKey;
  readonly field: 'username' | 'password' | 'passkey';
  /** ID of a passkey that belongs to no user, base64url. */
  readonly unknown?: string | undefined;
}

/** Shows the form; after a failure with its problems and the typed user name, but never the password. */
export async function showSignIn(pages: Pages, ctx: Koa.Context, form: SignInForm, problems: readonly SignInProblem[] = []): Promise<void> {
  const language = pageLanguage(ctx, form.uiLocales);
  const { text } = language;
  const heading = text('sign-in.title');
  const { logo, images } = logoOf(form.application);
  const failed = problems.length > 0;
  const unknown = problems.find((problem) => problem.unknown !== undefined)?.unknown;
  const passkey = form.methods.passkey ? form.passkey && { ...form.passkey, unknown } : undefined;
  const home = form.identifierFirst === true && (form.username ?? '') !== '' ? (form.home ?? []) : [];
  const nameOnly = form.identifierFirst === true && (form.username ?? '') === '';
  const locals = {
    ...language,
    title: failed ? text('error.title-prefix', { title: heading }) : heading,
    heading,
    action: form.action,
    application: form.application?.label,
    logo,
    cancel: form.cancel,
    back: form.back,
    notice: form.notice && text(form.notice),
    username: form.username ?? '',
    nameOnly,
    hidden: form.hidden,
    forgotten: form.forgotten,
    methods: form.methods,
    signUp: form.signUp,
    home,
    providers: (form.providers ?? []).filter(({ href }) => home.every((first) => first.href !== href)),
    problems: problems.map(({ message, field }) => ({ field, message: text(message) })),
    passkey,
    proof: form.proof,
    scripts: [
      ...(form.proof === undefined ? [] : ['proof-of-work.js']),
      ...(nameOnly || !form.methods.password ? [] : ['show-password.js']),
      ...(passkey === undefined ? ['reload-when-stale.js'] : PASSKEY_SCRIPTS),
    ],
  };
  const formAction = form.redirectOrigins ?? [];
  await pages.render(ctx, 'sign-in', locals, { status: failed ? 400 : 200, images, formAction });
}

/** Submitted user name; empty without one. */
export const usernameIn = (posted: URLSearchParams): string => posted.get('username')?.trim() ?? '';

/** Problems that need no database lookup. */
function missing(username: string, password: string): readonly SignInProblem[] {
  const problems: SignInProblem[] = [];
  if (username === '') problems.push({ field: 'username', message: 'sign-in.username-missing' });
  if (password === '') problems.push({ field: 'password', message: 'sign-in.password-missing' });
  return problems;
}

/**
 * Checks the submitted credentials.
 * @param purpose of the sign-in
 * @returns the user's check; undefined if the form was shown again
 * @throws {TooManyFailures}
 */
export async function submitSignIn(
  { services, pages, config }: SignInParts,
  ctx: Koa.Context,
  form: SignInForm,
  posted: URLSearchParams,
  purpose: Purpose,
): Promise<PasswordCheck | undefined> {
  const username = usernameIn(posted);
  const password = posted.get('password') ?? '';
  // User name only: always ask for the password next, so that the step does not reveal who has an account.
  if (form.identifierFirst && username !== '' && !posted.has('password')) {
    await showSignIn(pages, ctx, { ...form, username, notice: undefined });
    return undefined;
  }
  const isCodeOnly = !form.methods.password || posted.get('method') === 'email';
  const problems =
    (form.identifierFirst || isCodeOnly) && username === '' ? missing(username, 'not asked yet') : missing(username, password);
  const device = browserDevice(ctx, config);
  const credentials = { username, password, device };
  const request = visitor(ctx, config);
  let checked: Awaited<ReturnType<typeof checkPasswordOfAnyStatus>>;
  const check = async () => {
    const { ipAddress: address } = request;
    await limitWithoutProof(services, { purpose: 'signIn', sent: proofIn(posted), address }, async (most) => {
      if (most !== undefined) await refuseBlockedAddress(services, address, most);
    });
    checked = await checkPasswordOfAnyStatus(services, credentials, request, purpose);
  };
  let isUnproved = false;
  const again = async () => {
    isUnproved = true;
    await showSignIn(pages, ctx, { ...form, username, notice: undefined }, [{ field: 'password', message: 'bots.again' }]);
  };
  if (problems.length === 0) await askingForProof(ctx, check, again);
  if (isUnproved) return undefined;
  if (checked !== undefined && checked.kind !== 'inactive') {
    keepDevice(ctx, config, device);
    return checked;
  }
  const refused: readonly SignInProblem[] = [
    { field: 'password', message: checked === undefined ? 'sign-in.refused' : 'sign-in.inactive' },
  ];
  await showSignIn(pages, ctx, { ...form, username, notice: undefined }, problems.length > 0 ? problems : refused);
  return undefined;
}
