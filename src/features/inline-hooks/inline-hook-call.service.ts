/**
 * Calls an inline hook: one signed request (Standard Webhooks 1.0) in Okta's envelope, and one response of limited size, validated by one schema. The
 * call is repeated once after a connection failure or a status of 500 and above. All of it takes at most three seconds.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { epochSeconds, present } from '../../platform/clock/clock.ts';
import { timings } from '../../platform/clock/timings.ts';
import { newId } from '../../platform/crypto/secrets.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { OutboundRefused, PrivateAddress, sharedOutbound } from '../../platform/http/outbound.ts';
import { inlineHookSeconds } from '../../platform/metrics/metrics.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import type { HookChannel, HookKind, SigningSecrets } from '../event-hooks/event-hooks.resource.ts';
import { openHeaders, signMessage } from '../event-hooks/hook-secrets.service.ts';
import type { HookCall, HookOutcome, HookProblem } from '../policies/decisions.policy.ts';
import type { InlineHook } from './inline-hooks.resource.ts';
import { inlineHookTarget } from './inline-hooks.service.ts';

const cause = z.object({ errorSummary: z.string().max(1000).optional(), reason: z.string().max(1000).optional() });

/** A response according to Okta's documentation of inline hooks. The hook's type defines the commands. */
const hookResponse = z.object({
  commands: z
    .array(z.object({ type: z.string().max(100), value: z.unknown().optional() }))
    .max(100)
    .nullish(),
  error: z.object({ errorSummary: z.string().max(1000).optional(), errorCauses: z.array(cause).max(20).optional() }).nullish(),
});
export type HookResponse = z.output<typeof hookResponse>;

/** Maximum characters of a response that administrators see. */
const SHOWN = 4096;

export type HookCallResult =
  | { readonly kind: 'answered'; readonly response: HookResponse; readonly facts: CallFacts }
  | { readonly kind: 'failed'; readonly problem: HookProblem; readonly facts: CallFacts };

/** Facts about a call. */
export interface CallFacts {
  readonly milliseconds: number;
  readonly attempts: number;
  /** undefined: there was no response. */
  readonly status?: number;
  /** The start of the response's body. */
  readonly body: string;
}

/** The body of a request. @param data depends on the hook's type @param source URL of the request to this service */
export const hookMessage = ({ type }: { readonly type: string }, data: object, source: string): string =>
  JSON.stringify({
    eventId: randomUUID(),
    eventTime: present().toISOString(),
    eventType: type,
    eventTypeVersion: '1.0',
    contentType: 'application/json',
    cloudEventVersion: '0.1',
    source,
    data,
  });

/** Like `callHook`, for an inline hook. */
export const callInlineHook = (services: Pick<Services, 'keyring' | 'config'>, hook: InlineHook, body: string): Promise<HookCallResult> =>
  callHook(services, 'inline_hook', hook, body);

/** Failures of the hook are returned, not thrown. @param kind of the signing secret @param body from `hookMessage` */
export async function callHook(
  { keyring, config }: Pick<Services, 'keyring' | 'config'>,
  kind: HookKind,
  hook: SigningSecrets & { readonly channel: HookChannel },
  body: string,
): Promise<HookCallResult> {
  const call = sharedOutbound(config);
  const begun = performance.now();
  const signal = AbortSignal.timeout(timings.inlineHook);
  const messageId = newId('ihk');
  const timestamp = epochSeconds();
  const headers = {
    ...openHeaders(keyring, kind, hook),
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'Gatehouse',
    'webhook-id': messageId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signMessage(keyring, kind, hook, messageId, timestamp, body),
  };

  async function attempt(): Promise<Omit<CallFacts, 'milliseconds' | 'attempts'> & { readonly problem?: HookProblem }> {
    let status: number | undefined;
    try {
      const answer = await call(hook.channel.uri, { method: 'POST', headers, body, signal });
      status = answer.status;
      if (status < 200 || status > 299) {
        await answer.body?.cancel();
        return { status, body: '', problem: status >= 500 ? 'SERVER_ERROR' : 'STATUS' };
      }
      return { status, body: await answer.text() };
    } catch (error) {
      // An incomplete or oversized response came from the hook: a retry would not help.
      if (status !== undefined && !signal.aborted) return { status, body: '', problem: 'INVALID_RESPONSE' };
      return { body: '', problem: problemOf(error, signal) };
    }
  }

  let attempts = 1;
  let last = await attempt();
  if (last.problem === 'UNREACHABLE' || last.problem === 'SERVER_ERROR') {
    attempts += 1;
    last = await attempt();
  }
  const { problem, body: text, ...rest } = last;
  const facts = { ...rest, milliseconds: Math.round(performance.now() - begun), attempts, body: text.slice(0, SHOWN) };
  if (problem !== undefined) return { kind: 'failed', problem, facts };
  const response = readResponse(text);
  return response === undefined ? { kind: 'failed', problem: 'INVALID_RESPONSE', facts } : { kind: 'answered', response, facts };
}

/** An empty response is the same as one without commands. */
function readResponse(text: string): HookResponse | undefined {
  if (text.trim() === '') return {};
  try {
    return hookResponse.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function problemOf(error: unknown, signal: AbortSignal): HookProblem {
  if (signal.aborted) return 'TIMEOUT';
  const reasons = [error, error instanceof Error ? error.cause : undefined];
  if (reasons.some((one) => one instanceof PrivateAddress)) return 'PRIVATE_ADDRESS';
  return reasons.some((one) => one instanceof OutboundRefused) ? 'INVALID_RESPONSE' : 'UNREACHABLE';
}

/** Labels of the metric. */
const LABELS: Readonly<Record<HookOutcome, string>> = {
  CHANGED: 'changed',
  UNCHANGED: 'unchanged',
  ALLOWED: 'allowed',
  DENIED: 'denied',
  VERIFIED: 'verified',
  UNVERIFIED: 'unverified',
  FAILED: 'failed',
};

export interface RecordedHookCall extends Pick<HookCall, 'outcome' | 'problem' | 'detail' | 'changed'> {
  readonly hook: InlineHook;
  readonly facts: CallFacts;
  /** Further targets of the audit event. */
  readonly targets: readonly { readonly id: string; readonly type: string; readonly displayName: string }[];
}

/** Records a hook call and its result in metrics and audit log: names of changes, never values. */
export async function recordHookCall(
  { database }: Pick<Services, 'database'>,
  { hook, facts, targets, outcome, problem, detail, changed }: RecordedHookCall,
  request: RequestContext,
): Promise<void> {
  inlineHookSeconds.observe({ type: hook.type, outcome: LABELS[outcome] }, facts.milliseconds / 1000);
  await recordEvent(database.knex, {
    eventType: 'inline_hook.executed',
    displayMessage: 'Ask inline hook',
    request,
    targets: [inlineHookTarget(hook), ...targets],
    ...(problem !== undefined && { failure: problem }),
    decision: {
      kind: 'inline-hook',
      type: hook.type,
      outcome,
      failure: hook.failure,
      milliseconds: facts.milliseconds,
      attempts: facts.attempts,
      ...(facts.status !== undefined && { status: facts.status }),
      ...(problem !== undefined && { problem }),
      ...(detail !== undefined && { detail }),
      ...(changed !== undefined && { changed: changed.slice(0, 50) }),
    },
  });
}
