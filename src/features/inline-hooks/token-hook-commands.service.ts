/** Reads the commands of a hook for tokens; what they may change decides token-hook.policy.ts. */
import { z } from 'zod';
import { decideTokenChanges, type TokenDecision } from './token-hook.policy.ts';

const operation = z.object({ op: z.enum(['add', 'replace', 'remove']), path: z.string().max(512), value: z.unknown().optional() });
const operations = z.array(operation).max(100);
const command = z.discriminatedUnion('type', [
  z.object({ type: z.literal('com.okta.access.patch'), value: operations }),
  z.object({ type: z.literal('com.okta.identity.patch'), value: operations }),
]);

const problem = 'a command is neither com.okta.access.patch nor com.okta.identity.patch with a list of operations';

/** @param commands of the response @param proposed the tokens that would be issued @returns what changes, or what is wrong with the commands */
export function readTokenCommands(
  commands: readonly { readonly type: string; readonly value?: unknown }[],
  proposed: Parameters<typeof decideTokenChanges>[1],
): TokenDecision {
  const { success, data } = z.array(command).safeParse(commands);
  if (!success) return { problem };
  const of = (wanted: string) => data.flatMap(({ type, value }) => (type === wanted ? value : []));
  return decideTokenChanges({ access: of('com.okta.access.patch'), identity: of('com.okta.identity.patch') }, proposed);
}
