/** The three passkey ceremonies of pages: sign-in, second factor, and creation. */
import type Koa from 'koa';
import type { HostedDeps } from '../../pages/hosted/deps.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { PendingStep } from '../sign-in/sign-in-steps.service.ts';
import type { User } from '../users/users.resource.ts';
import { passkeyCreation, type Registration } from './passkey-enrolment.service.ts';
import { type PasskeyForm, type PasskeyPlace, passkeyForm, readCredential } from './passkey-forms.hosted.ts';
import { passkeyRelyingParty, requestOptions } from './passkeys.service.ts';

/** On the sign-in page, with any passkey of the user. @returns undefined if passkeys are not available */
export const signInForm = (deps: HostedDeps, ctx: Koa.Context, at: PasskeyPlace): Promise<PasskeyForm | undefined> => {
  const party = passkeyRelyingParty(deps.config);
  return passkeyForm(deps, ctx, { ...at, kind: 'sign-in' }, async (challenge) => party && requestOptions(party, challenge));
};

/** Form for a passkey as second factor. @returns undefined if the user has none */
export const factorForm = (
  deps: HostedDeps,
  ctx: Koa.Context,
  at: PasskeyPlace,
  { factors }: Pick<PendingStep, 'factors'>,
): Promise<PasskeyForm | undefined> => {
  const party = passkeyRelyingParty(deps.config);
  const passkeys = factors.filter((factor) => factor.type === 'PASSKEY');
  const ask = async (challenge: string) =>
    party === undefined || passkeys.length === 0 ? undefined : requestOptions(party, challenge, passkeys);
  return passkeyForm(deps, ctx, { ...at, kind: 'factor' }, ask);
};

/** Creation of a passkey. @returns undefined if passkeys are not available, or the user has the maximum */
export const creationForm = (deps: HostedDeps, ctx: Koa.Context, at: PasskeyPlace, user: User): Promise<PasskeyForm | undefined> =>
  passkeyForm(deps, ctx, { ...at, kind: 'enroll', userId: user.id }, (challenge) => passkeyCreation(deps.services, user, challenge));

/** Parses the form of a new passkey. */
export async function readRegistration(
  deps: HostedDeps,
  ctx: Koa.Context,
  form: URLSearchParams,
  whose: { readonly place: string; readonly userId: string },
): Promise<Registration> {
  const credential = await readCredential(deps, ctx, form, { ...whose, kind: 'enroll' });
  return { response: credential, name: form.get('name') ?? '', defaultName: pageLanguage(ctx).text('passkey.name') };
}
