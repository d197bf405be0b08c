/** The pages that the OAuth endpoints show; what they look like is given from outside, for this wing knows no HTML. */
import type { KoaContextWithOIDC } from 'oidc-provider';
import { clientSettings } from './client-settings.ts';

export interface ProtocolPages {
  error(ctx: KoaContextWithOIDC, error: ProtocolErrorPage): Promise<void>;
  /** Asks before signing out. */
  logout(ctx: KoaContextWithOIDC, page: LogoutPage): Promise<void>;
  /** Carries an authorization response to the application by POST. */
  formPost(ctx: KoaContextWithOIDC, page: FormPostPage): Promise<void>;
}

export interface FormPostPage {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly applicationLabel: string;
  readonly redirectOrigin: string;
}

export interface ProtocolErrorPage {
  readonly status: number;
  readonly code: string;
  readonly description: string;
  /** The application that sent the user here, once it is known. */
  readonly application: { readonly label: string; readonly clientUri: string | undefined } | undefined;
}

export interface LogoutPage {
  readonly action: string;
  readonly proof: { readonly name: string; readonly value: string };
  readonly applicationLabel: string | undefined;
  readonly accountId: string;
  readonly redirectOrigin: string | undefined;
}

/** Shows the error page, with the way back to the application where one is known. */
export async function showError(
  pages: ProtocolPages,
  ctx: KoaContextWithOIDC,
  error: Omit<ProtocolErrorPage, 'application'>,
): Promise<void> {
  // Absent where the library's own route was not entered: at logout, or when the request was refused before it.
  const client = (ctx.oidc as KoaContextWithOIDC['oidc'] | undefined)?.client;
  const application = client && { label: clientSettings(client).label, clientUri: client.clientUri };
  await pages.error(ctx, { ...error, application });
}
