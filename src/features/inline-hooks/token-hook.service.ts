/** Calls a rule's hook before the rule's tokens are issued (Okta's token inline hook). */
import { z } from 'zod';
import type { Services } from '../../platform/database/dependencies.ts';
import type { Actor, RequestContext } from '../audit/audit-event.policy.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { callInlineHook, hookMessage, recordHookCall } from './inline-hook-call.service.ts';
import { type InlineHook, TOKENS_TRANSFORM } from './inline-hooks.resource.ts';
import { findInlineHook } from './inline-hooks.store.ts';
import { decideTokenChanges, type ProposedToken, type TokenChanges, type TokenDecision } from './token-hook.policy.ts';

// Reads the commands of a token hook. token-hook.policy.ts decides what they may change.

const operation = z.object({ op: z.enum(['add', 'replace', 'remove']), path: z.string().max(512), value: z.unknown().optional() });
const operations = z.array(operation).max(100);
const command = z.discriminatedUnion('type', [
  z.object({ type: z.literal('com.okta.access.patch'), value: operations }),
  z.object({ type: z.literal('com.okta.identity.patch'), value: operations }),
]);

const problem = 'a command is neither com.okta.access.patch nor com.okta.identity.patch with a list of operations';

/** @param commands of the response @param proposed the tokens that would be issued @returns the changes, or the problem of the commands */
export function readTokenCommands(
  commands: readonly { readonly type: string; readonly value?: unknown }[],
  proposed: Parameters<typeof decideTokenChanges>[1],
): TokenDecision {
  const { success, data } = z.array(command).safeParse(commands);
  if (!success) return { problem };
  const of = (wanted: string) => data.flatMap(({ type, value }) => (type === wanted ? value : []));
  return decideTokenChanges({ access: of('com.okta.access.patch'), identity: of('com.okta.identity.patch') }, proposed);
}

/** The tokens to be issued and the reason. */
export interface TokenHookFacts {
  readonly hookId: string;
  readonly access?: ProposedToken & { readonly scopes: readonly string[] };
  readonly identity?: ProposedToken;
  readonly issuer: string;
  readonly server: { readonly id: string; readonly name: string };
  readonly client: { readonly id: string; readonly name: string; readonly type: 'PUBLIC' | 'CONFIDENTIAL' };
  /** undefined: the application acts for itself. */
  readonly user: { readonly id: string; readonly login: string; readonly profile: Readonly<Record<string, unknown>> } | undefined;
  readonly policy: { readonly id: string; readonly ruleId: string };
  /** Parameters of the OAuth request without secrets. */
  readonly parameters: Readonly<Record<string, string>>;
  /** URL of the OAuth request. */
  readonly url: string;
  readonly method: string;
}

export type TokenHookOutcome =
  | { readonly kind: 'changed'; readonly access?: TokenChanges; readonly identity?: TokenChanges }
  /** The tokens are unchanged: the hook requested no changes, is inactive, or failed and is OPEN. */
  | { readonly kind: 'unchanged'; readonly hook: Pick<InlineHook, 'id' | 'name'> | undefined; readonly problem?: string }
  /** @param summary the hook's message for the application */
  | { readonly kind: 'denied'; readonly summary: string }
  /** The hook failed and is CLOSED. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Maximum characters of the hook's message that an application receives. */
const LONGEST_SUMMARY = 200;

/**
 * Calls the hook, records the call in the audit log, and reads its response.
 * @param connection sender of the OAuth request; for a test, the administrator is the actor
 */
export async function runTokenHook(
  services: Pick<Services, 'database' | 'keyring' | 'config'>,
  facts: TokenHookFacts,
  connection: Omit<RequestContext, 'actor'> & { readonly actor?: Actor },
): Promise<TokenHookOutcome> {
  const hook = await findInlineHook(services.database.knex, facts.hookId);
  if (hook?.status !== 'ACTIVE' || hook.type !== TOKENS_TRANSFORM) return { kind: 'unchanged', hook: undefined };
  const result = await callInlineHook(services, hook, hookMessage(hook, tokenHookData(facts, connection), facts.url));
  const { client, user } = facts;
  const itself: Actor =
    user === undefined
      ? { id: client.id, type: 'PublicClientApp', displayName: client.name }
      : { id: user.id, type: 'User', displayName: user.login };
  const request = { ...connection, actor: connection.actor ?? itself };
  const targets = [
    { id: client.id, type: 'AppInstance', displayName: client.name },
    { id: facts.server.id, type: 'AuthorizationServer', displayName: facts.server.name },
    ...(user === undefined ? [] : [userTarget(user)]),
  ];
  const record = { hook, facts: result.facts, targets };
  const fail = async (problem: 'INVALID_RESPONSE' | (typeof result & { kind: 'failed' })['problem'], detail?: string) => {
    await recordHookCall(services, { ...record, outcome: 'FAILED', problem, ...(detail !== undefined && { detail }) }, request);
    const reason = detail ?? problem;
    return hook.failure === 'OPEN'
      ? ({ kind: 'unchanged', hook, problem: reason } as const)
      : ({ kind: 'failed', problem: reason } as const);
  };
  if (result.kind === 'failed') return fail(result.problem);

  const { commands, error } = result.response;
  if (error) {
    await recordHookCall(services, { ...record, outcome: 'DENIED' }, request);
    return { kind: 'denied', summary: asDescription(error.errorSummary) };
  }
  const read = readTokenCommands(commands ?? [], facts);
  if ('problem' in read) return fail('INVALID_RESPONSE', read.problem);
  const { changes, changed } = read;
  await recordHookCall(services, { ...record, outcome: changed.length > 0 ? 'CHANGED' : 'UNCHANGED', changed }, request);
  return changed.length > 0 ? { kind: 'changed', ...changes } : { kind: 'unchanged', hook };
}

/** RFC 6749 section 5.2: printable ASCII without quotation marks and backslashes. */
const asDescription = (summary = ''): string =>
  summary
    .replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, ' ')
    .trim()
    .slice(0, LONGEST_SUMMARY) || 'the request was refused by a hook';

/** The `data` of a request, in Okta's format. */
export function tokenHookData(
  { access, identity, issuer, client, user, policy, parameters, url, method }: Omit<TokenHookFacts, 'hookId' | 'server'>,
  { ipAddress, requestId }: Pick<RequestContext, 'ipAddress' | 'requestId'>,
): object {
  const lifetime = (seconds: number) => ({ lifetime: { expiration: seconds } });
  const { firstName, lastName, locale, zoneinfo } = user?.profile ?? {};
  return {
    context: {
      request: { id: requestId, method, url: { value: url }, ipAddress },
      protocol: { type: 'OAUTH2.0', request: parameters, issuer: { uri: issuer }, client },
      ...(user !== undefined && { user: { id: user.id, profile: { login: user.login, firstName, lastName, locale, timeZone: zoneinfo } } }),
      policy: { id: policy.id, rule: { id: policy.ruleId } },
    },
    ...(identity !== undefined && { identity: { claims: identity.claims, token: lifetime(identity.lifetime) } }),
    ...(access !== undefined && {
      access: {
        claims: access.claims,
        token: lifetime(access.lifetime),
        scopes: Object.fromEntries(access.scopes.map((name) => [name, { id: name, action: 'GRANT' }])),
      },
    }),
  };
}
