/**
 * Asks a hook whether an account can be created, and with which attributes (Okta's registration hook). It is called for every sign-up, even with an
 * existing account, and before the address is verified: its decision reveals nothing about accounts.
 */
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import { INVISIBLE } from '../../platform/validation/text.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { valueProblem } from '../user-schema/attribute-values.service.ts';
import type { AttributeValue } from '../user-schema/attributes.resource.ts';
import { currentUserSchema } from '../user-schema/user-schema.service.ts';
import { profileChanges } from '../users/user-profile.service.ts';
import { BASE_ATTRIBUTES } from '../users/users.resource.ts';
import { callInlineHook, type HookResponse, hookMessage, recordHookCall } from './inline-hook-call.service.ts';
import { PRE_REGISTRATION } from './inline-hooks.resource.ts';
import { findActiveHookOf } from './inline-hooks.store.ts';

type Profile = Readonly<Record<string, AttributeValue>>;

export type SignUpDecision =
  | { readonly kind: 'allowed'; readonly profile: Profile }
  /** `message` is the hook's own message; undefined: none. */
  | { readonly kind: 'refused'; readonly message: string | undefined };

/** Maximum characters of the hook's message. */
const LONGEST_MESSAGE = 200;

/**
 * Without an active hook, everything is allowed. The caller has applied the rate limit.
 * @param request of an unauthenticated visitor
 */
export async function askRegistrationHook(
  services: Services,
  { email, profile }: { readonly email: string; readonly profile: Profile },
  request: RequestContext,
): Promise<SignUpDecision> {
  const hook = await findActiveHookOf(services.database.knex, PRE_REGISTRATION);
  if (hook === undefined) return { kind: 'allowed', profile };
  const source = `${services.config.baseUrl}/signup`;
  const { ipAddress, requestId } = request;
  const data = {
    context: { request: { id: requestId, method: 'POST', url: { value: source }, ipAddress } },
    userProfile: { ...profile, login: email, email },
    action: 'ALLOW',
  };
  const result = await callInlineHook(services, hook, hookMessage(hook, data, source));
  // Unverified addresses are not logged.
  const record = { hook, facts: result.facts, targets: [] };
  const read = result.kind === 'failed' ? result.problem : await readCommands(services, result.response);
  if (typeof read === 'string') {
    await recordHookCall(services, { ...record, outcome: 'FAILED', problem: read }, request);
    return hook.failure === 'OPEN' ? { kind: 'allowed', profile } : { kind: 'refused', message: undefined };
  }
  if (read.denied) {
    await recordHookCall(services, { ...record, outcome: 'DENIED' }, request);
    return { kind: 'refused', message: read.message };
  }
  const changed = Object.keys(read.changes);
  await recordHookCall(services, { ...record, outcome: changed.length === 0 ? 'ALLOWED' : 'CHANGED', changed }, request);
  const values = Object.entries({ ...profile, ...read.changes }).filter((entry): entry is [string, AttributeValue] => entry[1] !== null);
  return { kind: 'allowed', profile: Object.fromEntries(values) };
}

interface ReadCommands {
  readonly denied: boolean;
  readonly message: string | undefined;
  /** null: the attribute is removed. */
  readonly changes: Readonly<Record<string, AttributeValue | null>>;
}

const command = z.discriminatedUnion('type', [
  z.object({ type: z.literal('com.okta.action.update'), value: z.object({ registration: z.enum(['ALLOW', 'DENY']) }) }),
  z.object({ type: z.literal('com.okta.user.profile.update'), value: z.record(z.string().max(100), z.unknown()) }),
]);

async function readCommands(services: Services, { commands, error }: HookResponse): Promise<ReadCommands | 'INVALID_RESPONSE'> {
  const { success, data } = z.array(command).safeParse(commands ?? []);
  if (!success) return 'INVALID_RESPONSE';
  const denied = Boolean(error) || data.some((one) => one.type === 'com.okta.action.update' && one.value.registration === 'DENY');
  const given = Object.assign({}, ...data.map((one) => (one.type === 'com.okta.user.profile.update' ? one.value : {})));
  const changes = denied ? {} : await allowedChanges(services, given);
  if (changes === undefined) return 'INVALID_RESPONSE';
  const words = error?.errorCauses?.[0]?.errorSummary ?? error?.errorSummary;
  return { denied, message: words === undefined ? undefined : shown(words), changes };
}

const BASE: ReadonlySet<string> = new Set(BASE_ATTRIBUTES);

/**
 * Allowed are standard and custom attributes with valid values, but not the user name and the e-mail address, which a code verifies.
 * @returns undefined if anything else is given
 */
async function allowedChanges(services: Services, given: Readonly<Record<string, unknown>>): Promise<ReadCommands['changes'] | undefined> {
  const { attributes } = await currentUserSchema(services);
  const added = new Map(attributes.map((attribute) => [attribute.name, attribute]));
  for (const [name, value] of Object.entries(given)) {
    const attribute = added.get(name);
    if (attribute === undefined ? !BASE.has(name) : value !== null && valueProblem(attribute, value) !== undefined) return undefined;
  }
  const base = Object.fromEntries(Object.entries(given).filter(([name]) => BASE.has(name)));
  return profileChanges.safeParse(base).success ? (given as ReadCommands['changes']) : undefined;
}

/** Replaces invisible characters, and shortens the text. @returns undefined if nothing is left */
const shown = (words: string): string | undefined =>
  [...words]
    .map((character) => (INVISIBLE.test(character) || /\p{Cc}/u.test(character) ? ' ' : character))
    .slice(0, LONGEST_MESSAGE)
    .join('')
    .trim() || undefined;
