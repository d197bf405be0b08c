/** Passkeys: public keys of users' authenticators (WebAuthn Level 3, section 4, "credential record"). The only SQL on that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Passkey } from './passkeys.resource.ts';

const PASSKEY: Columns<Passkey> = {
  id: 'id',
  userId: 'user_id',
  credentialId: 'credential_id',
  publicKey: 'public_key',
  transports: 'transports',
  multiDevice: 'multi_device',
  backedUp: 'backed_up',
  aaguid: 'aaguid',
  name: 'name',
  created: 'created',
  lastUsed: 'last_used',
};

/** @returns the user's passkeys, oldest first */
export async function listPasskeys(executor: Executor, userId: string): Promise<Passkey[]> {
  return executor('passkeys').where({ user_id: userId }).orderBy('seq').select<Passkey[]>(PASSKEY);
}

export async function findPasskey(executor: Executor, credentialId: string): Promise<Passkey | undefined> {
  return executor('passkeys').where({ credential_id: credentialId }).first<Passkey | undefined>(PASSKEY);
}

/** @returns false if the credential already belongs to a user */
export async function insertPasskey(executor: Executor, passkey: Passkey, signCount: number): Promise<boolean> {
  const row = { ...toRow(PASSKEY, passkey), sign_count: signCount };
  return (await executor('passkeys').insert(row).onConflict('credential_id').ignore().returning('id')).length === 1;
}

export interface PasskeyUse {
  /** Signature counter of the authenticator (WebAuthn section 6.1.1); 0: none. */
  readonly signCount: number;
  readonly backedUp: boolean;
}

/**
 * Records a use. Refuses the second of two equal counters, and every lower one: the key exists twice (WebAuthn section 6.1.1).
 * @returns false when refused, or the passkey no longer exists
 */
export async function noteUse(executor: Executor, id: string, { signCount, backedUp }: PasskeyUse, now: Date): Promise<boolean> {
  const ahead = executor('passkeys')
    .where({ id })
    .where((both) => {
      both.where('sign_count', '<', signCount);
      if (signCount === 0) both.orWhere('sign_count', 0);
    });
  return (await ahead.update({ sign_count: signCount, backed_up: backedUp, last_used: now })) === 1;
}

/** Gives a passkey of the user another name. */
export async function renamePasskey(executor: Executor, userId: string, id: string, name: string): Promise<void> {
  await executor('passkeys').where({ user_id: userId, id }).update({ name });
}

/** @returns false if the user has no such passkey */
export async function deletePasskey(executor: Executor, userId: string, id: string): Promise<boolean> {
  return (await executor('passkeys').where({ user_id: userId, id }).delete()) === 1;
}

export async function deletePasskeys(executor: Executor, userId: string): Promise<void> {
  await executor('passkeys').where({ user_id: userId }).delete();
}

/** @returns the user handle for authenticators, if any */
export async function findHandle(executor: Executor, userId: string): Promise<string | undefined> {
  const row = await executor('users').where({ id: userId }).first<{ handle: string | null } | undefined>({ handle: 'passkey_handle' });
  return row?.handle ?? undefined;
}

/** Facts that decide whether a user is offered a passkey. */
export interface OfferFacts {
  readonly hasPassword: boolean;
  readonly hasPasskey: boolean;
  readonly declined: boolean;
}

export async function findOfferFacts(executor: Executor, userId: string): Promise<OfferFacts | undefined> {
  const facts = `password_hash IS NOT NULL AS "hasPassword", passkey_offer_declined IS NOT NULL AS declined,
    EXISTS (SELECT FROM passkeys WHERE user_id = users.id) AS "hasPasskey"`;
  return executor('users').where({ id: userId }).first<OfferFacts | undefined>(executor.raw(facts));
}

/** The user declines the offer. @returns false if they declined it before */
export async function declineOffer(executor: Executor, userId: string, now: Date): Promise<boolean> {
  const open = executor('users').where({ id: userId }).whereNull('passkey_offer_declined');
  return (await open.update({ passkey_offer_declined: now })) === 1;
}

/** Assigns a handle to the user. @returns their handle: of two concurrent calls, the first counts */
export async function keepHandle(executor: Executor, userId: string, handle: string): Promise<string> {
  await executor('users').where({ id: userId }).whereNull('passkey_handle').update({ passkey_handle: handle });
  return (await findHandle(executor, userId)) ?? handle;
}
