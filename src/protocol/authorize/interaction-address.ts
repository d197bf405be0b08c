import type { KoaContextWithOIDC, UnknownObject } from '../library/oidc-provider.ts';

/**
 * Where the hosted pages ask the user. The application goes along, for the way back when the interaction is no more; so does the language
 * that the user chose in the step before.
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
