/** Signing in by a passkey, without user name and password (WebAuthn Level 3 section 1.3.1): the form of the sign-in page has brought the answer of the browser. */
import type Koa from 'koa';
import { readForm } from '../http/forms.ts';
import { signInByPasskey } from '../services/passkey-proofs.ts';
import { continueSignIn, type Place } from './continue-sign-in.ts';
import { readAnswer } from './passkey-forms.ts';
import type { House } from './routes.ts';
import { askAnew } from './sign-in.ts';
import { showSignIn, visitor } from './sign-in-form.ts';
import { formFor } from './standalone.ts';
import { placeOf } from './upstream-place.ts';

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
