/** Sign-ins with a pending second step, found by the digest of their state token. The only SQL on that table. */
import { type Columns, toRow } from '../../platform/database/columns.ts';
import type { Executor } from '../../platform/database/database.ts';

export interface SignInState {
  /** SHA-256 of the token. */
  readonly id: string;
  readonly userId: string;
  /** SHA-256 of the place of the sign-in; the token works nowhere else. */
  readonly place: string;
  /** SHA-256 of the waiting browser's device cookie; null: none (an API client, or the user's account). */
  readonly deviceHash: string | null;
  /**
   * Next step: a code, a replacement for an expired password, the enrolment of a factor, or only completion. `GO_ON`: decided when the browser
   * reaches the place of the sign-in. `OFFER`: a passkey is offered.
   */
  readonly next: 'FACTOR' | 'PASSWORD' | 'ENROLL' | 'FINISH' | 'GO_ON' | 'OFFER';
  /** Authentication methods used so far (RFC 8176). */
  readonly amr: readonly string[];
  readonly authenticatedAt: Date;
  /** The external provider of the first step. */
  readonly idp: string | null;
  /** An existing session is being strengthened. */
  readonly stepsUp: boolean;
  /** Wrong codes so far. */
  readonly attempts: number;
  /** Secret of a factor that is being enrolled. */
  readonly sealedSecret: string | null;
  readonly expiresAt: Date;
}

const STATE: Columns<SignInState> = {
  id: 'id',
  userId: 'user_id',
  place: 'place',
  deviceHash: 'device_hash',
  next: 'next',
  amr: 'amr',
  authenticatedAt: 'authenticated_at',
  idp: 'idp_id',
  stepsUp: 'steps_up',
  attempts: 'attempts',
  sealedSecret: 'sealed_secret',
  expiresAt: 'expires_at',
};

type Key = Pick<SignInState, 'id' | 'place' | 'deviceHash'>;

const living = (executor: Executor, { id, place, deviceHash }: Key, now: Date) =>
  executor('sign_in_states')
    .where({ id, place })
    .where('expires_at', '>', now)
    .whereRaw('(device_hash IS NULL OR device_hash = ?)', [deviceHash]);

export async function insertState(executor: Executor, state: SignInState): Promise<void> {
  await executor('sign_in_states').insert(toRow(STATE, state));
}

/** @returns the state, if it was not used and has not expired */
export async function findState(executor: Executor, key: Key, now: Date): Promise<SignInState | undefined> {
  return living(executor, key, now).first<SignInState | undefined>(STATE);
}

/** Like `findState`, for a change. Call it with the user locked: all callers lock the two in this order. */
export async function lockState(trx: Executor, key: Key, now: Date): Promise<SignInState | undefined> {
  return living(trx, key, now).forUpdate().first<SignInState | undefined>(STATE);
}

export async function updateState(
  trx: Executor,
  id: string,
  changes: Partial<Pick<SignInState, 'attempts' | 'next' | 'amr' | 'sealedSecret' | 'expiresAt'>>,
): Promise<void> {
  await trx('sign_in_states').where({ id }).update(toRow<SignInState>(STATE, changes));
}

/** Uses the state. @returns false if it was used before */
export async function deleteState(trx: Executor, id: string): Promise<boolean> {
  return (await trx('sign_in_states').where({ id }).delete()) === 1;
}

/** Ends all pending sign-ins of the user. @param next only those with this next step */
export async function deleteStatesOf(executor: Executor, userId: string, next?: SignInState['next']): Promise<void> {
  await executor('sign_in_states')
    .where({ user_id: userId, ...(next && { next }) })
    .delete();
}

/** @returns the number of deleted states, at most `limit` */
export async function deleteExpiredStates(executor: Executor, now: Date, limit: number): Promise<number> {
  const expired = executor('sign_in_states').where('expires_at', '<=', now).limit(limit).forUpdate().skipLocked().select('id');
  return executor('sign_in_states').whereIn('id', expired).delete();
}
