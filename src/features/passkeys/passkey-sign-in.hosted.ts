/**
 * Signs in by passkey, without user name and password (WebAuthn Level 3 section 1.3.1): the form of the sign-in page contains the browser's response.
 */
import type Koa from 'koa';
import { visitor } from '../../pages/hosted/deps.ts';
import { readForm } from '../../platform/http/forms.ts';
import { transactionPath } from '../identity-providers/upstream-transaction.hosted.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import { continueSignIn } from '../sign-in/continue-sign-in.hosted.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { showSignInForm } from '../sign-in/sign-in.hosted.ts';
import { showSignIn } from '../sign-in/sign-in-form.hosted.ts';
import type { SignInPlace } from '../sign-in/sign-in-place.hosted.ts';
import { formFor } from '../sign-in/standalone.hosted.ts';
import { readCredential } from './passkey-forms.hosted.ts';
import { signInByPasskey } from './passkey-proofs.service.ts';

/**
 * POST …/passkey. The page does not reveal why a passkey is refused; for unknown ones a script tells the browser to forget it.
 * @throws {TooManyFailures}
 */
export async function receivePasskeySignIn(deps: SignInDeps, ctx: Koa.Context, place: SignInPlace): Promise<void> {
  const form = await readForm(ctx);
  deps.formTokens.verify(ctx, form);
  const credential = await readCredential(deps, ctx, form, { kind: 'sign-in', place: transactionPath(place) });
  const isOffered = (await currentSettings(deps.services, 'sign-in')).methods.includes('passkey');
  const first = isOffered ? await signInByPasskey(deps.services, credential, visitor(ctx, deps.config)) : { unknown: undefined };
  if ('user' in first) return continueSignIn(deps, ctx, place, first);
  const refused = [{ field: 'passkey', message: 'passkey.refused', unknown: first.unknown }] as const;
  if (place === 'standalone') return showSignIn(deps.pages, ctx, { ...(await formFor(deps, ctx)), notice: undefined }, refused);
  await showSignInForm(deps, ctx, place, undefined, refused);
}
