/**
 * Replaces an expired password during a sign-in: a user who entered it, and has used their second factor if any, chooses a new one and is signed in.
 * Without the password, nobody learns that it has expired (features/sign-in/sign-in.service.ts).
 */
import { present } from '../../platform/clock/clock.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { hasFactor } from '../second-factors/factors.store.ts';
import { isMultiFactor } from '../second-factors/second-factor.policy.ts';
import { endSessionsAndTokens, storeChosen } from '../sign-in/one-time-links.service.ts';
import type { FirstStep } from '../sign-in/sign-in.service.ts';
import { deleteState, updateState } from '../sign-in/sign-in-states.store.ts';
import { afterFirstStep, type Goal, InvalidStateToken, inStep, readStep, type SignInStep } from '../sign-in/sign-in-steps.service.ts';
import { type FoundProblem, findProblemOfChoice } from './password-policy.service.ts';
import { hashPassword } from './passwords.service.ts';

const displayMessage = 'User chose a password in place of an expired one';

/**
 * Replaces the password, which ends everything obtained with the old one, and continues the sign-in. The state token is used up, unless the new
 * password is refused.
 * @returns the next step, or the problem with the password
 * @throws {InvalidStateToken}
 */
export async function replaceExpiredPassword(
  services: Services,
  { stateToken, password }: { readonly stateToken: string; readonly password: string },
  goal: Goal,
  request: RequestContext,
): Promise<SignInStep | FoundProblem> {
  const pending = await readStep(services, stateToken, goal.place, request.device);
  if (pending?.next !== 'PASSWORD') throw new InvalidStateToken();
  const problem = await findProblemOfChoice(services, password, pending.user, { differs: true });
  if (problem !== undefined) return problem;
  // Before the transaction: hashing is slow, and connections are few.
  const passwordHash = await hashPassword(password);
  const first = await inStep(
    services,
    stateToken,
    { ...request, place: goal.place },
    'PASSWORD',
    async (trx, state, user): Promise<FirstStep | undefined> => {
      // Enrolled in another window meanwhile: it must be used first.
      if (!isMultiFactor(state.amr) && (await hasFactor(trx, user.id, state.amr)))
        return void (await updateState(trx, state.id, { next: 'FACTOR' }));
      if (!(await deleteState(trx, state.id))) throw new InvalidStateToken();
      await storeChosen(trx, user, { status: 'ACTIVE', passwordHash, displayMessage }, request);
      return { user: { id: user.id, login: user.login }, amr: state.amr, authenticatedAt: present() };
    },
  );
  if (first === undefined) throw new InvalidStateToken();
  // Also end sessions and tokens created during the transaction.
  await endSessionsAndTokens(services.database.knex, first.user.id);
  return afterFirstStep(services, first, goal, request);
}
