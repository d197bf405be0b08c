/**
 * A database's URL that names several servers, of which one takes writes (PostgreSQL manual, "Specifying Multiple Hosts"), taken apart: pg reads
 * only one. Left out: hosts in the query.
 */

const SEVERAL = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** @returns a URL for each server, in their order */
export function serversIn(url: string): string[] {
  const [, before = '', hosts = '', after = ''] = SEVERAL.exec(url) ?? [];
  const servers = hosts.split(',').map((host) => `${before}${host}${after}`);
  return servers.length > 1 ? servers : [url];
}

/** Values of `target_session_attrs` that allow writes. */
export const WRITING = ['read-write', 'primary'];

/** @returns the requested value; default: the same */
export const attributesIn = (url: string): string =>
  new URL(serversIn(url)[0] ?? url).searchParams.get('target_session_attrs') ?? 'read-write';

/** Must a server be checked for writes before it is used? Always with several servers, and if the URL requires it. */
export const isToTakeWrites = (url: string): boolean => serversIn(url).length > 1 || url.includes('target_session_attrs=');
