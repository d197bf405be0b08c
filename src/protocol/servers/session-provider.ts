/** The external identity provider by which a browser's session began: a member of the session that oidc-provider does not know, kept with it (undocumented.ts). */
import type { KoaContextWithOIDC } from '../library/oidc-provider.ts';

/** The name of the member in the session's payload. */
export const SESSION_PROVIDER = 'idp';

/** @returns undefined when the session began here */
export const providerOf = (session: object): string | undefined => (session as { [SESSION_PROVIDER]?: string })[SESSION_PROVIDER];

/** @param idp undefined: the sign-in was made here */
export function setProvider(session: object, idp: string | undefined): void {
  (session as { [SESSION_PROVIDER]?: string | undefined })[SESSION_PROVIDER] = idp;
}

/** A sign-in that has just been made says by whom; without one the session keeps what it has. */
export function noteProvider({ oidc: { session, result } }: KoaContextWithOIDC): void {
  if (session !== undefined && result?.login !== undefined) setProvider(session, (result.login as { idp?: string }).idp);
}
