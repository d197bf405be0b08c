/**
 * Passkey requests on pages: a form that views/public/passkey.js fills in and submits. Without JavaScript or passkey support it stays hidden. The
 * challenge is sealed in the form, so tabs do not interfere: it is valid for ten minutes, in this browser, at this place and for this purpose
 * (WebAuthn section 13.4.3). features/passkeys/passkeys.service.ts ensures that it is used once.
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

/** Services for sealing a form. */
interface Sealing {
  readonly formTokens: FormTokens;
  readonly passkeyChallenges: PasskeyChallenges;
}

/** In views/public. */
export const PASSKEY_SCRIPTS: readonly string[] = ['simplewebauthn.js', 'passkey.js', 'reload-when-stale.js'];

/** Place and purpose of a passkey request. */
export interface PasskeyPurpose {
  readonly kind: 'sign-in' | 'factor' | 'enroll';
  /** Path of the place. */
  readonly place: string;
  /** Required user; absent: anyone. */
  readonly userId?: string;
}

/** Place of the form. */
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
  /** Is a passkey created, or an existing one verified? */
  readonly ceremony: 'create' | 'get';
  /** Request options for the browser, JSON. */
  readonly options: string;
  readonly hidden: readonly HiddenField[];
  /** Lifetime in seconds. */
  readonly seconds: number;
  /** May a password manager create it automatically? */
  readonly upgrade?: boolean;
  /** The credential that was just refused because it belongs to no user, base64url. */
  readonly unknown?: string | undefined;
}

const SEALED = 'challenge';
/** The field that the script fills in. */
export const CREDENTIAL = 'credential';
const asked = ({ kind, place, userId = '' }: PasskeyPurpose, browser: string): string => JSON.stringify([kind, place, userId, browser]);

/** @param ask returns options for a challenge; undefined: passkeys are not available here */
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
 * Parses a submitted form and verifies its token.
 * @returns undefined when the token is for another browser, place or purpose, or expired
 */
export async function readCredential(
  { formTokens, passkeyChallenges: seal }: Sealing,
  ctx: Koa.Context,
  form: URLSearchParams,
  purpose: PasskeyPurpose,
): Promise<PasskeyResponse | undefined> {
  const kept = await seal.open(form.get(SEALED) ?? '');
  if (kept?.asked !== asked(purpose, formTokens.field(ctx).value)) return undefined;
  return { challenge: kept.challenge, credential: form.get(CREDENTIAL) ?? '' };
}
