/** The pages that the OAuth endpoints show; what they look like is given from outside, for this wing knows no HTML. */

import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { withTimeout } from '../../platform/clock/timeout.ts';
import { type Client, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { type ClientLink, wayBackTo } from '../logout/client-link.ts';
import { setRetryAfter } from './errors.ts';

export interface ProtocolPages {
  error(ctx: KoaContextWithOIDC, error: ProtocolErrorPage): Promise<void>;
  /** Asks before signing out. */
  logout(ctx: KoaContextWithOIDC, page: LogoutPage): Promise<void>;
  /** Asks for the code that a device shows, after one that could not be used. */
  activate(ctx: KoaContextWithOIDC, page: { readonly problem: DeviceProblem; readonly uiLocales: string | undefined }): Promise<void>;
  /** Asks whether the request of a device is the user's own. */
  confirmDevice(ctx: KoaContextWithOIDC, page: DevicePage): Promise<void>;
  /** Asks whether an application may sign the user in with a backchannel request. */
  confirmRequest(ctx: KoaContextWithOIDC, page: SignInRequestPage): Promise<void>;
  /** Sends the user back to the device. */
  deviceConnected(ctx: KoaContextWithOIDC, page: Pick<DevicePage, 'application' | 'uiLocales'>): Promise<void>;
  /** Carries an authorization response to the application by POST. */
  formPost(ctx: KoaContextWithOIDC, page: FormPostPage): Promise<void>;
}

/** Why the page for codes is shown again. */
export type DeviceProblem = 'unknown' | 'expired' | 'used' | 'denied';

/** Origin of a device request, as far as known. */
interface DevicePlace {
  /** Code of ISO 3166-1, by the operator's database of countries. */
  readonly country: string | undefined;
  /** Is the device in the same network as this browser? */
  readonly isSameNetwork: boolean;
}

/** Requested authorization detail (RFC 9396); a type that was deleted meanwhile has no description. */
interface RequestedDetail {
  readonly detail: AuthorizationDetail;
  readonly type: DetailType | undefined;
}

export interface DevicePage {
  readonly application: string;
  /** User code as the device shows it. */
  readonly userCode: string;
  readonly device: { readonly ipAddress: string; readonly userAgent: string };
  readonly place: DevicePlace;
  readonly details: readonly RequestedDetail[];
  /** Epoch seconds. */
  readonly requestedAt: number;
  /** Address and fields of the form. */
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly uiLocales: string | undefined;
}

interface SignInRequestPage extends Pick<DevicePage, 'application' | 'requestedAt' | 'action' | 'fields' | 'uiLocales'> {
  /** Message of the application (CIBA section 7.1, `binding_message`). */
  readonly message: string | undefined;
  /** Epoch seconds. */
  readonly expiresAt: number;
  readonly details: readonly RequestedDetail[];
}

interface FormPostPage {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly applicationLabel: string;
  readonly redirectOrigins: readonly string[];
  readonly uiLocales: string | undefined;
}

interface ProtocolErrorPage {
  readonly status: number;
  readonly code: string;
  readonly description: string;
  /** The application that sent the user here, once it is known. */
  readonly application: ClientLink | undefined;
  readonly uiLocales: string | undefined;
}

interface LogoutPage {
  readonly action: string;
  readonly proof: { readonly name: string; readonly value: string };
  readonly applicationLabel: string | undefined;
  readonly accountId: string;
  /** Empty when the browser stays with the service. */
  readonly redirectOrigins: readonly string[];
  readonly uiLocales: string | undefined;
}

/** Absent where the library's own route was not entered: at logout, or when the request was refused before it. */
const libraryContext = (ctx: KoaContextWithOIDC): KoaContextWithOIDC['oidc'] | undefined => ctx.oidc;

const single = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The languages that the application asks for (OpenID Connect Core section 3.1.2.1): in the request, or in the one that is resumed. */
export const requestedLocales = (ctx: KoaContextWithOIDC): string | undefined =>
  single(libraryContext(ctx)?.params?.ui_locales) ?? single(ctx.query.ui_locales);

/** The application of the request; of a sign-in that is over, the one that the address of its last step names. */
async function applicationOf(ctx: KoaContextWithOIDC): Promise<Client | undefined> {
  const oidc = libraryContext(ctx);
  const named = single(ctx.query.application);
  return oidc?.client ?? (oidc?.route === 'resume' && named !== undefined ? oidc.provider.Client.find(named) : undefined);
}

/** An error, and the place to report it. */
interface ShownError extends Pick<ProtocolErrorPage, 'status' | 'code' | 'description'> {
  readonly cause: unknown;
}

/** Shows the error page, with the way back to the application where one is known, and says when to come again where that helps. */
export async function showError(pages: ProtocolPages, ctx: KoaContextWithOIDC, { cause, ...error }: ShownError): Promise<void> {
  const client = await withTimeout(
    applicationOf(ctx).catch(() => undefined),
    () => undefined,
  );
  const application = client && wayBackTo(client, ctx.oidc.issuer);
  setRetryAfter(ctx, error.status, cause);
  await pages.error(ctx, { ...error, application, uiLocales: requestedLocales(ctx) });
}

/** Shows an error of the protocol, as the library reports it. */
export async function showProtocolError(pages: ProtocolPages, ctx: KoaContextWithOIDC, error: ShownError): Promise<void> {
  const { cause } = error;
  // The step after the sign-in, taken twice or too late. Elsewhere in the library's routes there is no such error.
  const over = cause instanceof errors.SessionNotFound;
  await showError(pages, ctx, over ? { status: 410, code: 'interaction_expired', description: '', cause } : error);
}
