/**
 * How a passkey is asked for on a page, and how the answer comes back: in a form that views/public/passkey.js fills in and sends. Where there is no script, or
 * the browser knows no passkeys, the form stays hidden. The challenge travels sealed in the form itself, so that two tabs do not disturb each other: it is of
 * use for ten minutes, in this browser, at this place and for this purpose (WebAuthn section 13.4.3); that it counts once is seen to in features/passkeys/passkeys.service.ts.
 */
import type Koa from 'koa';
import { z } from 'zod';
import { LIFETIMES } from '../../../config/defaults.ts';
import { type Sealer, sealing } from '../../platform/crypto/sealed.ts';
import { type Keyring, randomToken } from '../../platform/crypto/secrets.ts';
import type { FormTokens, HiddenField } from '../../platform/http/csrf.ts';
import type { PasskeyResponse } from './passkeys.service.ts';

const challenge = z.object({ challenge: z.string(), asked: z.string() });

export type PasskeyChallenges = Sealer<z.output<typeof challenge>>;

export const passkeyChallenges = (keyring: Keyring): PasskeyChallenges =>
  sealing({
    kind: 'passkey',
    schema: challenge,
    keys: keyring.keysOf('gatehouse passkey challenges'),
    seconds: LIFETIMES.passkeyChallenge,
  });

/** What a form is sealed with. */
interface Sealing {
  readonly formTokens: FormTokens;
  readonly passkeyChallenges: PasskeyChallenges;
}

/** In views/public. */
export const PASSKEY_SCRIPTS: readonly string[] = ['simplewebauthn.js', 'passkey.js', 'reload-when-stale.js'];

/** Where and for what a passkey is asked for. */
export interface PasskeyPurpose {
  readonly kind: 'sign-in' | 'factor' | 'enroll';
  /** Path of the place. */
  readonly place: string;
  /** Whose it must be; absent: anyone who signs in. */
  readonly userId?: string;
}

/** Where a form of it stands. */
export interface PasskeyPlace {
  /** Path of the place. */
  readonly place: string;
  /** Path that the form is posted to. */
  readonly action: string;
  /** The signed-in user whose form it is, see FormTokens. */
  readonly owner?: string;
}

/** The form, for views/partials/passkey.ejs. */
export interface PasskeyForm {
  /** Path that it is posted to. */
  readonly action: string;
  /** Is one made, or an existing one proved? */
  readonly ceremony: 'create' | 'get';
  /** What the browser is asked, JSON. */
  readonly options: string;
  readonly hidden: readonly HiddenField[];
  /** Seconds that it is of use. */
  readonly seconds: number;
  /** May a password manager make it by itself? */
  readonly upgrade?: boolean;
  /** The credential that was refused just now because it is nobody's, base64url. */
  readonly unknown?: string | undefined;
}

const SEALED = 'challenge';
/** The field that the script fills in. */
export const CREDENTIAL = 'credential';
const asked = ({ kind, place, userId = '' }: PasskeyPurpose, browser: string): string => JSON.stringify([kind, place, userId, browser]);

/**
 * @param ask what the browser is asked with a challenge; undefined: nothing, there are no passkeys here
 */
export async function passkeyForm(
  { formTokens, passkeyChallenges: seal }: Sealing,
  ctx: Koa.Context,
  purpose: PasskeyPurpose & PasskeyPlace,
  ask: (challenge: string) => Promise<string | undefined>,
): Promise<PasskeyForm | undefined> {
  const random = randomToken();
  const options = await ask(random);
  if (options === undefined) return undefined;
  const browser = formTokens.field(ctx);
  const sealed = await seal.seal({ challenge: random, asked: asked(purpose, browser.value) });
  return {
    action: purpose.action,
    ceremony: purpose.kind === 'enroll' ? 'create' : 'get',
    options,
    hidden: [formTokens.field(ctx, purpose.owner), { name: SEALED, value: sealed }],
    seconds: LIFETIMES.passkeyChallenge,
  };
}

/**
 * What a form has brought, whose token was verified.
 * @returns undefined when this browser was not asked for it, not here, not for that, or too long ago
 */
export async function readAnswer(
  { formTokens, passkeyChallenges: seal }: Sealing,
  ctx: Koa.Context,
  form: URLSearchParams,
  purpose: PasskeyPurpose,
): Promise<PasskeyResponse | undefined> {
  const kept = await seal.open(form.get(SEALED) ?? '');
  if (kept?.asked !== asked(purpose, formTokens.field(ctx).value)) return undefined;
  return { challenge: kept.challenge, credential: form.get(CREDENTIAL) ?? '' };
}
