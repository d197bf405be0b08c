/**
 * The authorization servers that an application gets ID-JAGs for, as lines of a form: the issuer, optionally the application's
 * client ID at that server, and optionally that server's client ID here.
 */
import type { Application } from '../applications.resource.ts';

export const targetLines = ({ id, settings }: Pick<Application, 'id' | 'settings'>): string[] =>
  (settings.id_jag_targets ?? []).map(({ audience, client_id: clientId, relying_party: relyingParty }) =>
    [audience, clientId ?? (relyingParty && id), relyingParty].filter((word) => word !== undefined).join(' '),
  );

/** @returns the unvalidated targets of the lines; undefined: none */
export function targetsIn(typed: readonly string[]): object[] | undefined {
  const targets = typed.map((line) => {
    const [audience, clientId, ...rest] = line.trim().split(/\s+/);
    return {
      audience,
      ...(clientId !== undefined && { client_id: clientId }),
      ...(rest.length > 0 && { relying_party: rest.join(' ') }),
    };
  });
  return targets.length === 0 ? undefined : targets;
}
