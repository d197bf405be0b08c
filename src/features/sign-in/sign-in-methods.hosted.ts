/** The sign-in methods that are enabled on the sign-in page (settings/sign-in). */
import type Koa from 'koa';
import { proofLocals } from '../bots/bots.hosted.ts';
import { offersCode } from '../email-codes/email-code.hosted.ts';
import { forgottenPath } from '../passwords/forgotten-password.hosted.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';
import type { SignInDeps } from './interactions.hosted.ts';
import type { SignInForm } from './sign-in-form.hosted.ts';

type Methods = Required<Pick<SignInForm, 'identifierFirst' | 'methods'>> & Pick<SignInForm, 'forgotten' | 'proof'>;

/** Sign-in methods offered on the form. */
export async function methodsHere(deps: SignInDeps, ctx: Koa.Context): Promise<Methods> {
  const { identifierFirst, methods } = await currentSettings(deps.services, 'sign-in');
  const hasPassword = methods.includes('password');
  return {
    identifierFirst: identifierFirst && hasPassword,
    methods: { password: hasPassword, passkey: methods.includes('passkey'), email: await offersCode(deps, ctx) },
    forgotten: hasPassword ? await forgottenPath(deps, ctx) : undefined,
    proof: hasPassword ? (await proofLocals(deps, ctx, 'signIn')).proof : undefined,
  };
}
