/** A user's consent to an application at one authorization server: given on the dialog, remembered with its audit event. */
import { present } from '../clock.ts';
import { type ConsentKey, rememberScopes } from '../store/consents.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';

export async function rememberConsent(
  services: Services,
  key: ConsentKey,
  scopes: readonly string[],
  request: RequestContext,
): Promise<void> {
  if (scopes.length === 0) return;
  await services.database.transaction(async (trx) => {
    await rememberScopes(trx, key, scopes, present());
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.consent.grant',
      displayMessage: 'User granted consent to an application',
      request,
      targets: [
        { id: key.applicationId, type: 'AppInstance', displayName: key.applicationId },
        { id: key.serverId, type: 'AuthorizationServer', displayName: key.serverId },
      ],
      after: { scopes },
    });
  });
}
