/** The authorization servers that an application gets ID-JAGs for, as lines of a form: an issuer, and after a space the client ID there. */
import type { IdJagTarget } from '../application-settings.policy.ts';

export const targetLines = (targets: readonly IdJagTarget[] = []): string[] =>
  targets.map(({ audience, client_id: clientId }) => (clientId === undefined ? audience : `${audience} ${clientId}`));

/** @returns what the lines say, to be validated; undefined: none */
export function targetsIn(typed: readonly string[]): object[] | undefined {
  const targets = typed.map((line) => {
    const [audience, ...rest] = line.trim().split(/\s+/);
    return { audience, ...(rest.length > 0 && { client_id: rest.join(' ') }) };
  });
  return targets.length === 0 ? undefined : targets;
}
