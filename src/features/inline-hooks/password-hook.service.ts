/**
 * Verifies a password that another system stores with a hook (Okta's password import hook). Attempts are counted and limited like all others
 * (features/sign-in/sign-in.service.ts); the number of concurrent calls is limited, with one per user.
 */
import { z } from 'zod';
import { createSemaphore } from '../../platform/concurrency/semaphore.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { verifyPassword } from '../passwords/passwords.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { callInlineHook, type HookResponse, hookMessage, recordHookCall } from './inline-hook-call.service.ts';
import { PASSWORD_IMPORT } from './inline-hooks.resource.ts';
import { findActiveHookOf } from './inline-hooks.store.ts';

type Owner = Pick<User, 'id' | 'login'>;

const AT_ONCE = 20;
const MOST_WAITING = 200;
const semaphore = createSemaphore(AT_ONCE, MOST_WAITING);
/** Would another call be refused now? */
export const isHookQueueFull = semaphore.isFull;
/** Pending call of each user. Concurrent attempts with the same password share its result; others count as wrong without a call. */
const asking = new Map<string, { readonly password: string; readonly verified: Promise<boolean> }>();

/**
 * Verifies the password with the hook. A refusal takes at least as long as for an unknown user.
 * @param begins called when this attempt leaves the queue
 * @returns true if the hook has verified the password; without an active hook every password is wrong
 * @throws {Overloaded} too many attempts are waiting
 */
export async function verifyByHook(
  services: Services,
  user: Owner,
  password: string,
  begins: () => void,
  request: RequestContext,
): Promise<boolean> {
  if (await askAlone(services, user, password, begins, request)) return true;
  await verifyPassword(null, password);
  return false;
}

async function askAlone(services: Services, user: Owner, password: string, begins: () => void, request: RequestContext): Promise<boolean> {
  const before = asking.get(user.id);
  if (before !== undefined) {
    begins();
    return before.password === password && before.verified;
  }
  const verified = semaphore(() => {
    begins();
    return ask(services, user, password, request);
  }).finally(() => asking.delete(user.id));
  asking.set(user.id, { password, verified });
  return verified;
}

async function ask(services: Services, user: Owner, password: string, request: RequestContext): Promise<boolean> {
  const hook = await findActiveHookOf(services.database.knex, PASSWORD_IMPORT);
  if (hook === undefined) return false;
  const { ipAddress, requestId } = request;
  const { baseUrl } = services.config;
  const data = {
    context: {
      request: { id: requestId, method: 'POST', url: { value: `${baseUrl}/api/v1/authn` }, ipAddress },
      credential: { username: user.login, password },
    },
    action: { credential: 'UNVERIFIED' },
  };
  const result = await callInlineHook(services, hook, hookMessage(hook, data, `${baseUrl}/api/v1/authn`));
  const record = { hook, facts: result.facts, targets: [userTarget(user)] };
  if (result.kind === 'failed') {
    await recordHookCall(services, { ...record, outcome: 'FAILED', problem: result.problem }, request);
    return false;
  }
  const isVerified = verifies(result.response);
  await recordHookCall(services, { ...record, outcome: isVerified ? 'VERIFIED' : 'UNVERIFIED' }, request);
  return isVerified;
}

const verdict = z.object({ type: z.literal('com.okta.action.update'), value: z.object({ credential: z.string() }) });

/** Only the exact value VERIFIED counts, and only without an error. */
function verifies({ commands, error }: HookResponse): boolean {
  const read = (commands ?? []).map((command) => verdict.safeParse(command).data?.value.credential);
  return !error && read.length > 0 && read.every((credential) => credential === 'VERIFIED');
}
