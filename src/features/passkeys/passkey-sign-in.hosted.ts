/** Signing in by a passkey, without user name and password (WebAuthn Level 3 section 1.3.1): the form of the sign-in page has brought the answer of the browser. */
import type Koa from 'koa';
import { visitor } from '../../pages/hosted/visitor.ts';
import { readForm } from '../../platform/http/forms.ts';
import { placeOf } from '../identity-providers/upstream-place.hosted.ts';
import { continueSignIn, type Place } from '../sign-in/continue-sign-in.hosted.ts';
import type { House } from '../sign-in/interactions.hosted.ts';
import { askAnew } from '../sign-in/sign-in.hosted.ts';
import { showSignIn } from '../sign-in/sign-in-form.hosted.ts';
import { formFor } from '../sign-in/standalone.hosted.ts';
import { readAnswer } from './passkey-forms.hosted.ts';
import { signInByPasskey } from './passkey-proofs.service.ts';

/** POST …/passkey. What is wrong is not told: whether there is such a passkey, and such a user, is nobody's affair. @throws {TooManyFailures} */
export async function receivePasskeySignIn(house: House, ctx: Koa.Context, place: Place): Promise<void> {
  const form = await readForm(ctx);
  house.formTokens.verify(ctx, form);
  const answer = await readAnswer(house, ctx, form, { kind: 'sign-in', place: placeOf(place) });
  const first = await signInByPasskey(house.services, answer, visitor(ctx, house.config));
  if (first !== undefined) return continueSignIn(house, ctx, place, first);
  const refused = [{ field: 'passkey', message: 'passkey.refused' }] as const;
  if (place === 'standalone') return showSignIn(house.pages, ctx, { ...(await formFor(house, ctx)), notice: undefined }, refused);
  await askAnew(house, ctx, place, undefined, refused);
}
