/** A test of a hook by an administrator: it gets a sample request of its type, and its response is shown without any effect. */
import type { Services } from '../../platform/database/dependencies.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import type { HookProblem } from '../policies/decisions.policy.ts';
import { type CallFacts, callInlineHook, type HookResponse, hookMessage, recordHookCall } from './inline-hook-call.service.ts';
import { type InlineHook, PASSWORD_IMPORT, TOKENS_TRANSFORM } from './inline-hooks.resource.ts';
import { getInlineHook } from './inline-hooks.service.ts';
import { readTokenCommands, tokenHookData } from './token-hook.service.ts';

export type TriedHook =
  | { readonly kind: 'answered'; readonly facts: CallFacts; readonly commands: NonNullable<HookResponse['commands']> }
  | { readonly kind: 'failed'; readonly facts: CallFacts; readonly problem: HookProblem; readonly detail?: string };

/**
 * Sends a request to the hook, active or not.
 * @param data of the request; absent: a sample of the hook's type
 * @returns the result and the body that was sent
 * @throws {ApiError} not found
 */
export async function tryInlineHook(
  services: Services,
  id: string,
  data: Readonly<Record<string, unknown>> | undefined,
  request: RequestContext,
): Promise<{ readonly result: TriedHook; readonly message: string }> {
  const hook = await getInlineHook(services, id);
  const { baseUrl } = services.config;
  const message = hookMessage(hook, data ?? sampleData(hook, baseUrl), `${baseUrl}/api/v1/inlineHooks`);
  const called = await callInlineHook(services, hook, message);
  const result = called.kind === 'answered' ? checkCommands(hook, called.response, called.facts) : called;
  const record = { hook, facts: result.facts, targets: [] };
  if (result.kind === 'answered') await recordHookCall(services, { ...record, outcome: 'UNCHANGED' }, request);
  else {
    const { problem, detail } = { detail: undefined, ...result };
    await recordHookCall(services, { ...record, outcome: 'FAILED', problem, ...(detail !== undefined && { detail }) }, request);
  }
  return { result, message };
}

function checkCommands({ type }: InlineHook, { commands }: HookResponse, facts: CallFacts): TriedHook {
  const answered = { kind: 'answered', facts, commands: commands ?? [] } as const;
  if (type !== TOKENS_TRANSFORM) return answered;
  const read = readTokenCommands(commands ?? [], SAMPLE_TOKENS);
  return 'problem' in read ? { kind: 'failed', facts, problem: 'INVALID_RESPONSE', detail: read.problem } : answered;
}

const SAMPLE_USER = { login: 'jane.doe@example.com', firstName: 'Jane', lastName: 'Doe', email: 'jane.doe@example.com' };

const SAMPLE_TOKENS = {
  access: { claims: { sub: 'usr_sample', client_id: 'sample-app' }, lifetime: 3600, scopes: ['openid', 'profile'] },
  identity: { claims: { sub: 'usr_sample', name: 'Jane Doe' }, lifetime: 3600 },
};

/** Sample `data` of a request of the type. */
export function sampleData({ type }: Pick<InlineHook, 'type'>, baseUrl: string): object {
  const request = { id: 'sample', method: 'POST', url: { value: `${baseUrl}/` }, ipAddress: '192.0.2.1' };
  if (type === PASSWORD_IMPORT)
    return {
      context: { request, credential: { username: SAMPLE_USER.login, password: 'a sample password' } },
      action: { credential: 'UNVERIFIED' },
    };
  if (type !== TOKENS_TRANSFORM) return { context: { request }, userProfile: SAMPLE_USER, action: 'ALLOW' };
  const issuer = issuerOf(baseUrl, 'default');
  return tokenHookData(
    {
      ...SAMPLE_TOKENS,
      issuer,
      client: { id: 'sample-app', name: 'Sample application', type: 'CONFIDENTIAL' },
      user: { id: 'usr_sample', login: SAMPLE_USER.login, profile: SAMPLE_USER },
      policy: { id: 'pol_sample', ruleId: 'rul_sample' },
      parameters: { client_id: 'sample-app', grant_type: 'authorization_code', scope: 'openid profile' },
      url: `${issuer}/token`,
      method: 'POST',
    },
    { ipAddress: request.ipAddress, requestId: request.id },
  );
}
