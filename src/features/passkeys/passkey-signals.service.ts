/** Tells browsers the valid passkeys, so that password managers stop offering others (WebAuthn Level 3 section 5.1.10, signal methods). */
import type { Services } from '../../platform/database/dependencies.ts';
import { fullName } from '../claims/claims.policy.ts';
import type { User } from '../users/users.resource.ts';
import { passkeyRelyingParty } from './passkeys.service.ts';
import { findHandle, listPasskeys } from './passkeys.store.ts';

/**
 * For an account page. A password manager hides or deletes the user's passkeys that are not listed, and renames the others.
 * @returns JSON: the arguments of `signalAllAcceptedCredentials` and of `signalCurrentUserDetails`; undefined if the user has no handle
 */
export async function acceptedPasskeys({ config, database: { knex } }: Services, user: User): Promise<string | undefined> {
  const party = passkeyRelyingParty(config);
  const userId = party && (await findHandle(knex, user.id));
  if (party === undefined || userId === undefined) return undefined;
  const allAcceptedCredentialIds = (await listPasskeys(knex, user.id)).map(({ credentialId }) => credentialId);
  const common = { rpId: party.id, userId };
  return JSON.stringify({
    accepted: { ...common, allAcceptedCredentialIds },
    details: { ...common, name: user.login, displayName: fullName(user.profile) || user.login },
  });
}
