/**
 * Operations on inline hooks: endpoints that are called during a request, compatible with Okta's Inline Hooks API. Calls are in
 * inline-hook-call.service.ts, permitted changes in token-hook.policy.ts and its siblings.
 */
import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Executor } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Page, Window } from '../../platform/database/paging.ts';
import { conflict, requireFound, validation, wrongState } from '../../platform/errors/errors.ts';
import { text } from '../../platform/validation/text.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { EventType } from '../audit/event-types.policy.ts';
import { describedChannel, type GivenChannel, givenChannel, hookChannel, sealChannel } from '../event-hooks/hook-channel.service.ts';
import { newSigningSecret, replacedSecret, sealSigningSecret } from '../event-hooks/hook-secrets.service.ts';
import { listRulesWithHook } from '../policies/policies.store.ts';
import {
  type HookFailure,
  INLINE_HOOK_TYPES,
  type InlineHook,
  type InlineHookType,
  MUST_BE_CLOSED,
  PASSWORD_IMPORT,
  TOKENS_TRANSFORM,
} from './inline-hooks.resource.ts';
import {
  deleteInlineHookRow,
  findInlineHook,
  insertInlineHook,
  lockInlineHook,
  selectInlineHooks,
  updateInlineHookRow,
} from './inline-hooks.store.ts';

/** The same as in Okta: tokens are issued unchanged, a registration is refused, a password counts as wrong. */
const defaultFailure = (type: InlineHookType): HookFailure => (type === TOKENS_TRANSFORM ? 'OPEN' : 'CLOSED');

const inlineHookFields = {
  name: text({ least: 1 }),
  type: z.enum(INLINE_HOOK_TYPES),
  version: z.enum(['1.0.0', '1.0.1', '1.0.2', '1.0.3']).exactOptional(),
  failure: z.enum(['OPEN', 'CLOSED']).exactOptional().meta({
    description:
      'What happens when the hook cannot be reached or answers wrongly. OPEN: go on without it; CLOSED: refuse. Absent: OPEN for tokens.transform, CLOSED for the others',
  }),
  channel: hookChannel,
};

export const inlineHookBody = z
  .strictObject(inlineHookFields)
  .refine(({ type, failure }) => type !== PASSWORD_IMPORT || failure !== 'OPEN', {
    path: ['failure'],
    message: MUST_BE_CLOSED,
  });

/** The body of a change. Fields that Okta's body does not have are unchanged if absent. */
export const inlineHookChange = z.strictObject({ ...inlineHookFields, type: inlineHookFields.type.exactOptional() });

export const inlineHookChangeInput = ({ name, type, failure, channel }: z.output<typeof inlineHookChange>) => ({
  ...{ name, type, failure },
  ...givenChannel(channel),
});

/** Converts an API body to service input. */
export const inlineHookInput = ({ name, type, failure, channel }: z.output<typeof inlineHookBody>) => ({
  name,
  type,
  failure: failure ?? defaultFailure(type),
  ...givenChannel(channel),
});

export interface InlineHookInput extends GivenChannel {
  readonly name: string;
  readonly type: InlineHookType;
  readonly failure: HookFailure;
}

/** New settings of a hook; absent fields are unchanged. */
interface InlineHookChange extends GivenChannel {
  readonly name: string;
  /** Must be the current type. */
  readonly type?: InlineHookType | undefined;
  readonly failure?: HookFailure | undefined;
}

/**
 * Creates an active hook.
 * @returns its row and its signing secret, which is returned only once and stored sealed
 * @throws {ApiError} validation: a header without a value, or a duplicate name; conflict of the name
 */
export async function createInlineHook(
  { database, keyring }: Services,
  input: InlineHookInput,
  request: RequestContext,
): Promise<{ readonly hook: InlineHook; readonly signingSecret: string }> {
  const id = newId('cal');
  const now = present();
  const signingSecret = newSigningSecret();
  const { name, type, failure } = input;
  const hook: InlineHook = {
    ...{ id, name, type, failure },
    status: 'ACTIVE',
    channel: sealChannel(keyring, 'inline_hook', id, input, undefined),
    signingSecret: sealSigningSecret(keyring, 'inline_hook', id, signingSecret),
    previousSecret: null,
    previousSecretUntil: null,
    createdBy: request.actor.id,
    created: now,
    lastUpdated: now,
  };
  await database.transaction(async (trx) => {
    if (!(await insertInlineHook(trx, hook))) throw nameTaken();
    await recordEvent(trx, { ...hookEvent('inline_hook.created', 'Create inline hook', hook, request), after: described(hook) });
  });
  return { hook, signingSecret };
}

/** Oldest first. */
export const listInlineHooks = ({ database }: Services, window: Window): Promise<Page<InlineHook>> =>
  selectInlineHooks(database.knex, window);

/** @throws {ApiError} not found */
export async function getInlineHook({ database }: Services, id: string): Promise<InlineHook> {
  return requireFound(await findInlineHook(database.knex, id), id, 'InlineHook');
}

/**
 * Replaces a hook's settings, but not its type. A header without a value keeps its current one, at the same host.
 * @throws {ApiError} not found; validation as at creation, and another type; conflict of the name
 */
export async function updateInlineHook(
  services: Services,
  id: string,
  input: InlineHookChange,
  request: RequestContext,
): Promise<InlineHook> {
  return changeInlineHook(services, id, async (trx, before) => {
    const { name, type = before.type, failure = before.failure } = input;
    if (type !== before.type)
      throw validation([{ field: 'type', message: `cannot be changed from ${before.type}. Create another inline hook` }]);
    if (type === PASSWORD_IMPORT && failure === 'OPEN') throw validation([{ field: 'failure', message: MUST_BE_CLOSED }]);
    const channel = sealChannel(services.keyring, 'inline_hook', id, input, before.channel);
    const changes = { name, failure, channel, lastUpdated: present() };
    if (!(await updateInlineHookRow(trx, id, changes))) throw nameTaken();
    const after = { ...before, ...changes };
    const event = hookEvent('inline_hook.updated', 'Update inline hook', after, request);
    await recordEvent(trx, { ...event, before: described(before), after: described(after) });
    return after;
  });
}

/** An inactive hook is not called: requests continue without it. @throws {ApiError} not found */
export async function setInlineHookStatus(
  services: Services,
  id: string,
  status: InlineHook['status'],
  request: RequestContext,
): Promise<InlineHook> {
  return changeInlineHook(services, id, async (trx, before) => {
    if (before.status === status) return before;
    const changes = { status, lastUpdated: present() };
    await updateInlineHookRow(trx, id, changes);
    const event =
      status === 'ACTIVE'
        ? hookEvent('inline_hook.activated', 'Activate inline hook', before, request)
        : hookEvent('inline_hook.deactivated', 'Deactivate inline hook', before, request);
    await recordEvent(trx, { ...event, before: { status: before.status }, after: { status } });
    return { ...before, ...changes };
  });
}

/** Deletes a hook, active or not. @throws {ApiError} not found; wrong state: a rule of an access policy uses it */
export async function deleteInlineHook(services: Services, id: string, request: RequestContext): Promise<void> {
  await changeInlineHook(services, id, async (trx, before) => {
    const [rule] = await listRulesWithHook(trx, id);
    if (rule !== undefined)
      throw wrongState(
        `the rule “${rule.name}” of the authorization server ${rule.serverId} uses this inline hook. Remove it from the rule first`,
      );
    await deleteInlineHookRow(trx, id);
    await recordEvent(trx, { ...hookEvent('inline_hook.deleted', 'Delete inline hook', before, request), before: described(before) });
  });
}

/**
 * Creates a new signing secret. For a day, requests are also signed with the previous one.
 * @returns the secret, which is returned only once and stored sealed
 * @throws {ApiError} not found
 */
export async function renewInlineHookSecret(services: Services, id: string, request: RequestContext): Promise<string> {
  const secret = newSigningSecret();
  await changeInlineHook(services, id, async (trx, before) => {
    const changes = replacedSecret(services.keyring, 'inline_hook', before, secret);
    await updateInlineHookRow(trx, id, changes);
    const event = hookEvent('inline_hook.secret.created', 'Create signing secret of inline hook', before, request);
    await recordEvent(trx, { ...event, after: { previousSecretUntil: changes.previousSecretUntil } });
  });
  return secret;
}

/** Changes a hook in one transaction with its row locked. */
async function changeInlineHook<T>(
  { database }: Services,
  id: string,
  work: (trx: Executor, before: InlineHook) => Promise<T>,
): Promise<T> {
  return database.transaction(async (trx) => {
    const before = requireFound(await lockInlineHook(trx, id), id, 'InlineHook');
    return work(trx, before);
  });
}

/** The hook as the target of audit events. */
export const inlineHookTarget = ({ id, name }: Pick<InlineHook, 'id' | 'name'>) => ({ id, type: 'InlineHook', displayName: name });

const hookEvent = (eventType: EventType, displayMessage: string, hook: InlineHook, request: RequestContext) => ({
  ...{ eventType, displayMessage, request },
  targets: [inlineHookTarget(hook)],
});

/** The hook's data in audit events, without values of headers. */
const described = ({ name, type, failure, status, channel }: InlineHook) => ({ name, type, failure, status, ...describedChannel(channel) });

const nameTaken = () => conflict({ field: 'name', message: 'another inline hook has this name. Choose another name' });
