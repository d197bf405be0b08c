/**
 * Forgotten passwords (OWASP Forgot Password Cheat Sheet). The request only stores the input: the user is looked up in the background, so that
 * neither response nor timing reveals whether they exist. Encrypted, because users sometimes enter a password.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import { NOBODY, type RequestContext } from '../audit/audit-event.policy.ts';
import { limitWithoutProof } from '../bots/bots.service.ts';
import { hasMailAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import type { Carrier } from '../outbox/outbox.service.ts';
import { insertEntry, laneOf } from '../outbox/outbox.store.ts';
import { isKnownDevice } from '../sign-in/failed-sign-ins.store.ts';
import { countResetRequest, mayMailReset, networkOf } from '../sign-in/failure-limits.service.ts';
import { mailPasswordLink } from '../sign-in/one-time-links.service.ts';
import { onlyProviderOf } from '../sign-in/ways-to-sign-in.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import type { User } from '../users/users.resource.ts';
import { findUserByName, lockUser } from '../users/users.store.ts';
import { statusAfterChoosing } from './password-link.policy.ts';

/** `outbox.kind` of requests for a new password. */
export const RESET_REQUEST = 'reset-request';
const LONGEST = 320;

const note = z.object({ id: z.string(), sealed: z.string() });
const content = z.object({
  username: z.string(),
  ipAddress: z.string().optional(),
  userAgent: z.string().optional(),
  requestId: z.string().optional(),
  language: z.string().optional(),
  /** Digest of the browser's device cookie. */
  device: z.string().optional(),
});

export const resetRequestContext = (id: string): string => `reset request ${id}`;

/**
 * Stores a request for a new password.
 * @param username login or e-mail address, as entered
 * @returns false without e-mail
 * @param proof proof of work from the form
 * @throws {TooManyFailures} when the address has sent too many requests
 * @throws {ProofMissing}
 */
export async function requestReset(services: Services, username: string, request: RequestContext, proof = ''): Promise<boolean> {
  if (!(await isMailPossible(services, request))) return false;
  const { ipAddress: address } = request;
  await limitWithoutProof(services, { purpose: 'passwordReset', sent: proof, address }, (most) =>
    countResetRequest(services, address, most),
  );
  const id = crypto.randomUUID();
  const { ipAddress, userAgent, requestId, language } = request;
  const device = request.device === undefined ? undefined : digest(request.device);
  const whole: z.input<typeof content> = { username: username.slice(0, LONGEST), ipAddress, userAgent, requestId, language, device };
  const sealed = services.keyring.seal(JSON.stringify(whole), resetRequestContext(id));
  // One queue per network, so that mass requests delay few others.
  const orderingKey = laneOf(networkOf(ipAddress ?? ''));
  await services.database.transaction((trx) =>
    insertEntry(trx, { kind: RESET_REQUEST, orderingKey, objectKey: null, payload: { id, sealed }, created: present() }),
  );
  return true;
}

/** Looks up the user and queues the e-mail. */
export function resetRequests(services: Services): Carrier {
  return {
    async deliver(payload) {
      const { id, sealed } = note.parse(payload);
      const { username, device, ...request } = content.parse(JSON.parse(services.keyring.open(sealed, resetRequestContext(id))));
      return (await startReset(services, { username: username.trim(), device }, { actor: NOBODY, ...defined(request) }))
        ? 'delivered'
        : 'dropped';
    },
    givenUp: () => ({ eventType: 'user.account.reset_password', displayMessage: 'User asked for a new password', targets: [] }),
  };
}

const defined = (request: Omit<z.output<typeof content>, 'username' | 'device'>) =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined)) as Omit<RequestContext, 'actor'>;

async function startReset(
  services: Services,
  { username, device }: Pick<z.output<typeof content>, 'username' | 'device'>,
  request: RequestContext,
): Promise<boolean> {
  const { knex } = services.database;
  const named = await findUserByName(knex, username);
  const isKnown = named !== undefined && device !== undefined && (await isKnownDevice(knex, named.id, device, present()));
  const isTooMany = named !== undefined && !(await mayMailReset(services, named.id, isKnown ? device : undefined));
  return services.database.transaction(async (trx) => {
    const user = named && (await lockUser(trx, named.id));
    const limit = isTooMany ? 'TOO_MANY_REQUESTS' : undefined;
    const failure = user === undefined ? 'UNKNOWN_USER' : (limit ?? (await mailReset(trx, services, user, request)));
    await recordEvent(trx, {
      eventType: 'user.account.reset_password',
      displayMessage: 'User asked for a new password',
      request,
      // Never log input for unknown users.
      targets: user === undefined ? [] : [userTarget(user)],
      ...(failure !== undefined && { failure }),
    });
    return failure === undefined;
  });
}

/** @returns why nothing is sent */
async function mailReset(trx: Executor, services: Services, user: User, request: RequestContext): Promise<string | undefined> {
  if (statusAfterChoosing(user.status, 'reset') === undefined) return 'USER_NOT_ACTIVE';
  if (!hasMailAddress(user)) return 'NO_EMAIL_ADDRESS';
  const provider = await onlyProviderOf(trx, user);
  if (provider !== undefined) {
    await queueMail(trx, services.keyring, user, 'password-elsewhere', { to: user.email, values: { provider } }, request);
    return undefined;
  }
  await mailPasswordLink(trx, services, user, 'password-reset', request);
  return undefined;
}
