/** The pages of the second step of a sign-in: the code, the enrolment of an authenticator app, the recovery codes. None needs JavaScript. */
import type Koa from 'koa';
import { create as encode } from 'qrcode';
import { type ApplicationFacts, type DrawInFrame, type FormProblem, logoOf } from '../../pages/hosted/page-models.ts';
import type { HiddenField } from '../../platform/http/csrf.ts';
import type { Pages } from '../../platform/http/views.ts';
import type { MessageKey } from '../../platform/i18n/messages.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { SentCode } from '../message-factors/factor-codes.service.ts';
import type { NotSent } from '../message-factors/factor-messages.service.ts';
import { type MessageType, shownAddress } from '../message-factors/message-factors.policy.ts';
import { PASSKEY_SCRIPTS, type PasskeyForm } from '../passkeys/passkey-forms.hosted.ts';
import type { PendingStep } from '../sign-in/sign-in-steps.service.ts';
import { isMessageFactor } from './factors.service.ts';
import { totpUri } from './one-time-codes.service.ts';

/** Place of the pages. */
export interface StepFrame {
  /** The path that the form of a step is posted to: `factor`, `enroll`, `enrolled` or `restart`. */
  action(step: string): string;
  readonly hidden: HiddenField;
  readonly application?: ApplicationFacts;
  /** Does the organization that the user signs in for require the second factor? */
  readonly organizationRequires?: boolean | undefined;
  /** Path that cancels and returns to the application. */
  readonly cancel?: string;
  readonly redirectOrigins?: readonly string[];
  /** State token for a hidden field, if no cookie carries it. */
  readonly stateToken?: string | undefined;
  /** Page on which a signed-in user started the step. */
  readonly back?: string;
  /** Layout of the page; absent: the narrow layout. */
  readonly framed?: DrawInFrame;
  readonly uiLocales?: string | undefined;
}

type Text = ReturnType<typeof pageLanguage>['text'];
type Step = Pick<PendingStep, 'user' | 'secret'> & { readonly passkey?: PasskeyForm | undefined };

/** Error: none, wrong app code, passkey or sent code, or the reason why no code was sent. */
export type Wrong = boolean | 'passkey' | 'message' | 'NOT_A_NUMBER' | NotSent;

const NOT_SENT: Readonly<Record<NotSent | 'NOT_A_NUMBER', MessageKey>> = {
  NOT_A_NUMBER: 'message.no-number',
  NUMBER_NOT_ALLOWED: 'message.not-allowed',
  TELEPHONY_OFF: 'message.not-sent',
  TELEPHONY_FAILED: 'message.not-sent',
  TOO_MANY_REQUESTS: 'message.too-many',
  NO_EMAIL_ADDRESS: 'message.not-sent',
  USER_NOT_ACTIVE: 'message.not-sent',
};

/** Template data for pages with a passkey form. */
const passkeyLocals = (passkey: PasskeyForm | undefined, others: readonly string[] = []) => ({
  passkey,
  scripts: [...(passkey === undefined ? ['reload-when-stale.js'] : PASSKEY_SCRIPTS), ...others],
});

/** @returns the problem and the field to focus */
const problemOf = (text: Text, wrong: Wrong, passkey: MessageKey): FormProblem | undefined => {
  if (wrong === false) return undefined;
  if (wrong === true) return { field: 'pass-code', message: text('factor.wrong') };
  if (wrong === 'passkey') return { field: 'passkey', message: text(passkey) };
  return wrong === 'message'
    ? { field: 'message-code', message: text('message.wrong') }
    : { field: 'messages', message: text(NOT_SENT[wrong]) };
};

/** An offered method of sending codes. */
interface MessageOption {
  /** For the form: the factor, or the type that is set up. */
  readonly value: string;
  readonly type: MessageType;
  /** Label of the button. */
  readonly send: string;
  /** Where the code was sent; undefined: none was sent. */
  readonly sent: string | undefined;
}

const SEND: Readonly<Record<MessageType, MessageKey>> = { EMAIL: 'message.send-email', SMS: 'message.send-sms', CALL: 'message.send-call' };

/** Prints a page of the second step. */
async function page(
  pages: Pages,
  ctx: Koa.Context,
  frame: StepFrame,
  view: string,
  title: MessageKey,
  own: (text: Text) => Record<string, unknown> & { readonly problem?: FormProblem | undefined },
): Promise<void> {
  const language = pageLanguage(ctx, frame.uiLocales);
  const { text } = language;
  const heading = text(title);
  const { logo, images } = logoOf(frame.application);
  const shared = { cancel: frame.cancel, hidden: frame.hidden, ...own(text) };
  const { problem } = shared;
  if (frame.framed !== undefined) return frame.framed(view, { heading, problems: problem && [problem] }, shared);
  const locals = {
    ...language,
    title: problem === undefined ? heading : text('error.title-prefix', { title: heading }),
    heading,
    logo,
    application: frame.application?.label,
    because: frame.organizationRequires ? text('factor.organization') : undefined,
    ...shared,
  };
  await pages.render(ctx, view, locals, { status: problem === undefined ? 200 : 400, images, formAction: frame.redirectOrigins ?? [] });
}

/** Checked: the user trusts this browser. */
export const TRUST_FIELD = 'trustBrowser';

type FactorStep = Step &
  Pick<PendingStep, 'factors'> & {
    /** A code that was sent for this step. */
    readonly sent?: SentCode | undefined;
    /** Days for which the user can trust this browser; undefined: not allowed. */
    readonly trustDays?: number | undefined;
  };

/** Asks for a code (of the app, or sent), a passkey, or a recovery code, depending on the user's factors. */
export const showFactor = (pages: Pages, ctx: Koa.Context, frame: StepFrame, step: FactorStep, wrong: Wrong): Promise<void> =>
  page(pages, ctx, frame, 'second-factor', 'factor.title', (text) => ({
    action: frame.action('factor'),
    restart: frame.action('restart'),
    account: text('factor.account', { name: step.user.login }),
    app: step.factors.some(({ type }) => type === 'TOTP'),
    messages: step.factors.filter(isMessageFactor).map(
      ({ id, type, name }): MessageOption => ({
        ...{ value: id, type },
        send: text(SEND[type], { address: name }),
        sent: step.sent?.id === id ? text('message.sent', { address: name }) : undefined,
      }),
    ),
    send: frame.action('factor-send'),
    ...passkeyLocals(step.passkey),
    trust: step.trustDays === undefined ? undefined : { name: TRUST_FIELD, label: trustLabel(text, step.trustDays) },
    problem: problemOf(text, wrong, 'passkey.wrong'),
  }));

const trustLabel = (text: Text, days: number): string =>
  days === 1 ? text('factor.trust-day') : text('factor.trust', { days: String(days) });

/** Asks to set up an authenticator app: by its QR code, or by the secret in groups of four characters. */
export async function showEnrolment(
  pages: Pages,
  ctx: Koa.Context,
  frame: StepFrame,
  step: Step & { readonly issuer: string; readonly types?: readonly MessageType[] },
  wrong: Wrong,
): Promise<void> {
  const secret = step.secret ?? '';
  const uri = totpUri(secret, { issuer: step.issuer, login: step.user.login });
  const code = drawn(uri);
  await page(
    pages,
    ctx,
    frame,
    'enroll-factor',
    step.passkey === undefined && !step.types?.length ? 'enroll.title' : 'enroll.choice',
    (text) => ({
      action: frame.action('enroll'),
      restart: frame.back === undefined ? frame.action('restart') : undefined,
      stateToken: frame.stateToken,
      back: frame.back,
      account: text('factor.account', { name: step.user.login }),
      explain: text(frame.back === undefined ? 'enroll.explain' : 'enroll.explain-own'),
      messages: (step.types ?? []).map((type) => ({ value: type, type, send: text(ENROL[type]), number: type !== 'EMAIL' })),
      send: frame.action('enroll-message'),
      code,
      uri,
      secret: secret.replace(/.{4}(?=.)/g, '$& '),
      ...passkeyLocals(step.passkey, ['copy.js']),
      problem: problemOf(text, wrong, 'passkey.not-made'),
    }),
  );
}

const ENROL: Readonly<Record<MessageType, MessageKey>> = {
  EMAIL: 'message.enroll-email',
  SMS: 'message.enroll-sms',
  CALL: 'message.enroll-call',
};

/** Asks for the first code that was sent, which confirms the factor. */
export const showFirstCode = (
  pages: Pages,
  ctx: Koa.Context,
  frame: StepFrame,
  { user, sent }: Pick<Step, 'user'> & { readonly sent: Pick<SentCode, 'type' | 'sentTo'> },
  wrong: Wrong,
): Promise<void> =>
  page(pages, ctx, frame, 'first-code', 'message.title', (text) => ({
    action: frame.action('enroll-code'),
    again: frame.action('enroll-message'),
    other: frame.back === undefined ? frame.action('enroll-other') : undefined,
    stateToken: frame.stateToken,
    back: frame.back,
    account: text('factor.account', { name: user.login }),
    type: sent.type,
    explain: text('message.sent', { address: shownAddress(sent) }),
    scripts: ['reload-when-stale.js'],
    problem: problemOf(text, wrong, 'passkey.not-made'),
  }));

/** Offers a passkey to a signed-in user; a password manager may create it automatically. */
export const showOffer = (pages: Pages, ctx: Koa.Context, frame: StepFrame, step: Step, wrong: Wrong): Promise<void> =>
  page(pages, ctx, frame, 'passkey-offer', 'passkey-offer.title', (text) => ({
    action: frame.action('passkey-offer'),
    effect: text(step.user.passwordHash === null ? 'passkey-offer.only' : 'passkey-offer.effect'),
    ...passkeyLocals(step.passkey),
    problem: problemOf(text, wrong, 'passkey.not-made'),
  }));

/** The quiet zone around a QR code (ISO/IEC 18004 section 9.1 asks for four modules). */
const MARGIN = 4;

/** @returns a QR code as the outline of its dark modules, and its size in modules */
function drawn(content: string): { readonly size: number; readonly outline: string } {
  const { size, data } = encode(content, { errorCorrectionLevel: 'M' }).modules;
  const dark = [...data].flatMap((module, at) =>
    module === 0 ? [] : [`M${MARGIN + (at % size)} ${MARGIN + Math.floor(at / size)}h1v1h-1z`],
  );
  return { size: size + 2 * MARGIN, outline: dark.join('') };
}

/** Shows the recovery codes. @param codes none: they were shown before, and are not shown again */
export const showRecoveryCodes = (pages: Pages, ctx: Koa.Context, frame: StepFrame, codes: readonly string[]): Promise<void> =>
  page(pages, ctx, frame, 'recovery-codes', 'recovery.title', () => ({
    action: frame.action('enrolled'),
    back: frame.back,
    codes,
    // Choosing a language would load the page again, without the codes.
    ...(codes.length > 0 && { languages: [], scripts: ['copy.js', 'recovery-codes.js'] }),
  }));
