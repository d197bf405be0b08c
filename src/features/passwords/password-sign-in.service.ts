/** Can a user sign in by password, whatever the password is? features/sign-in/sign-in.service.ts refuses passwords by the same rule. */
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { findRequiredProvider, type RequiredProvider } from '../organization-providers/home-realm.store.ts';
import { currentSettings } from '../settings/settings-cache.service.ts';

/** Why no password signs the user in. */
export type PasswordRefusal = { readonly reason: 'METHOD' } | { readonly reason: 'PROVIDER'; readonly provider: RequiredProvider };

/** Is the password a sign-in method of this service? */
export const arePasswordsUsed = async (services: Services): Promise<boolean> =>
  (await currentSettings(services, 'sign-in')).methods.includes('password');

/** @returns undefined: the user can sign in by password */
export async function passwordRefusal(services: Services, executor: Executor, userId: string): Promise<PasswordRefusal | undefined> {
  if (!(await arePasswordsUsed(services))) return { reason: 'METHOD' };
  const provider = await findRequiredProvider(executor, userId);
  return provider && { reason: 'PROVIDER', provider };
}
