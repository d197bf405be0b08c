/** The form_post response mode (OAuth 2.0 Form Post Response Mode): the browser posts the response to the redirect URI as a form. */

import type { ResponseMode } from '../library/patches.ts';
import { applicationOrigins, originOf } from '../servers/application-origins.ts';
import { clientSettings } from '../servers/client-settings.ts';
import { type ProtocolPages, requestedLocales } from '../servers/error-pages.ts';

/** @returns the response mode; the same page delivers errors, because the browser shows it only briefly */
export function formPostMode(pages: ProtocolPages): ResponseMode {
  return async (ctx, redirectUri, fields) => {
    const { client } = ctx.oidc;
    await pages.formPost(ctx, {
      action: redirectUri,
      fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      applicationLabel: client === undefined ? '' : clientSettings(client).label,
      redirectOrigins: client === undefined ? [originOf(redirectUri)] : applicationOrigins(client, redirectUri),
      uiLocales: requestedLocales(ctx),
    });
  };
}
