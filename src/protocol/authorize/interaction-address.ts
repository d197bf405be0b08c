import type { KoaContextWithOIDC, UnknownObject } from '../library/oidc-provider.ts';

/**
 * Address of the hosted page for an interaction. It carries the application, for the link back after the interaction expired, and the language chosen
 * in the previous step.
 */
export function interactionAddress(
  serverId: string,
  { uid, params }: { uid: string; params: UnknownObject },
  ctx: KoaContextWithOIDC,
): string {
  const carried = new URLSearchParams({ application: String(params.client_id) });
  const { language } = ctx.query;
  if (ctx.oidc.route === 'resume' && typeof language === 'string') carried.set('language', language);
  return `/interaction/${serverId}/${uid}?${carried}`;
}
