/** Tells browsers the valid passkeys, so that password managers stop offering others (WebAuthn Level 3 section 5.1.10, signal methods). */
import type { Services } from '../../platform/database/dependencies.ts';
import { fullName } from '../claims/claims.policy.ts';
import type { User } from '../users/users.resource.ts';
import { passkeyRelyingParty } from './passkeys.service.ts';
import { findHandle, listPasskeys } from './passkeys.store.ts';

/**
 * For a page of the user's own. A password manager hides or deletes the passkeys of this user that are not named, and renames the others.
 * @returns JSON: the arguments of `signalAllAcceptedCredentials` and of `signalCurrentUserDetails`; undefined when no authenticator knows the user
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
