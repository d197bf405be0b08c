/** The pages that the OAuth endpoints show. The caller provides the HTML. */

import type { DetailType } from '../../features/authorization-details/detail-types.resource.ts';
import type { AuthorizationDetail } from '../../features/authorization-details/details.policy.ts';
import { withTimeout } from '../../platform/clock/timeout.ts';
import { type Client, errors, type KoaContextWithOIDC } from '../library/oidc-provider.ts';
import { type ClientLink, clientLinkOf } from '../logout/client-link.ts';
import { setRetryAfter } from './errors.ts';

export interface ProtocolPages {
  error(ctx: KoaContextWithOIDC, error: ProtocolErrorPage): Promise<void>;
  /** Asks for confirmation before signing out. */
  logout(ctx: KoaContextWithOIDC, page: LogoutPage): Promise<void>;
  /** Asks for a device's code again, after one that could not be used. */
  activate(ctx: KoaContextWithOIDC, page: { readonly problem: DeviceProblem; readonly uiLocales: string | undefined }): Promise<void>;
  /** Asks whether a device request is the user's own. */
  confirmDevice(ctx: KoaContextWithOIDC, page: DevicePage): Promise<void>;
  /** Asks whether an application may sign the user in with a backchannel request. */
  confirmRequest(ctx: KoaContextWithOIDC, page: SignInRequestPage): Promise<void>;
  /** Tells the user to continue on the device. */
  deviceConnected(ctx: KoaContextWithOIDC, page: Pick<DevicePage, 'application' | 'uiLocales'>): Promise<void>;
  /** Posts an authorization response to the application. */
  formPost(ctx: KoaContextWithOIDC, page: FormPostPage): Promise<void>;
}

/** Why the page for codes is shown again. */
export type DeviceProblem = 'unknown' | 'expired' | 'used' | 'denied';

/** Origin of a device request, as far as known. */
interface DevicePlace {
  /** ISO 3166-1 code, from the operator's database of countries. */
  readonly country: string | undefined;
  /** Is the device in the same network as this browser? */
  readonly isSameNetwork: boolean;
}

/** Requested authorization detail (RFC 9396); a type that was deleted since has no description. */
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
  /** URL and fields of the form. */
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
  /** The application that sent the user here, if known. */
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

/** Missing if the library's route was not entered: at logout, or if the request was refused before it. */
const libraryContext = (ctx: KoaContextWithOIDC): KoaContextWithOIDC['oidc'] | undefined => ctx.oidc;

const single = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** The languages that the application requests (OpenID Connect Core section 3.1.2.1), in this request or in the resumed one. */
export const requestedLocales = (ctx: KoaContextWithOIDC): string | undefined =>
  single(libraryContext(ctx)?.params?.ui_locales) ?? single(ctx.query.ui_locales);

/** The application of the request, or of an ended sign-in by the URL of its last step. */
async function applicationOf(ctx: KoaContextWithOIDC): Promise<Client | undefined> {
  const oidc = libraryContext(ctx);
  const named = single(ctx.query.application);
  return oidc?.client ?? (oidc?.route === 'resume' && named !== undefined ? oidc.provider.Client.find(named) : undefined);
}

/** An error, and how it is reported. */
interface ShownError extends Pick<ProtocolErrorPage, 'status' | 'code' | 'description'> {
  readonly cause: unknown;
}

/** Shows the error page, with a link back to the application if it is known, and the time to retry if that helps. */
export async function showError(pages: ProtocolPages, ctx: KoaContextWithOIDC, { cause, ...error }: ShownError): Promise<void> {
  const client = await withTimeout(
    applicationOf(ctx).catch(() => undefined),
    () => undefined,
  );
  const application = client && clientLinkOf(client, ctx.oidc.issuer);
  setRetryAfter(ctx, error.status, cause);
  await pages.error(ctx, { ...error, application, uiLocales: requestedLocales(ctx) });
}

/** Shows a protocol error of the library. */
export async function showProtocolError(pages: ProtocolPages, ctx: KoaContextWithOIDC, error: ShownError): Promise<void> {
  const { cause } = error;
  // The step after the sign-in was taken twice or too late. No other route of the library has this error.
  const over = cause instanceof errors.SessionNotFound;
  await showError(pages, ctx, over ? { status: 410, code: 'interaction_expired', description: '', cause } : error);
}
