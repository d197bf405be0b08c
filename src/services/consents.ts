/** A user's consent to an application at one authorization server: given on the dialog, remembered with its audit event. */
import { present } from '../clock.ts';
import { type ConsentKey, forgetScopes, rememberScopes } from '../store/consents.ts';
import { type RequestContext, recordEvent } from './audit.ts';
import type { Services } from './dependencies.ts';

/** What the dialog asked for, and what of it the user allowed. */
export interface ConsentAnswer {
  readonly asked: readonly string[];
  readonly allowed: readonly string[];
}

/** Remembers the answer: for each scope that was asked for it takes the place of an earlier one. */
export async function rememberConsent(
  services: Services,
  key: ConsentKey,
  { asked, allowed }: ConsentAnswer,
  request: RequestContext,
): Promise<void> {
  await services.database.transaction(async (trx) => {
    const refused = asked.filter((scope) => !allowed.includes(scope));
    await rememberScopes(trx, key, allowed, present());
    await forgetScopes(trx, key, refused);
    await recordEvent(trx, {
      eventType: 'app.oauth2.as.consent.grant',
      displayMessage: 'User granted consent to an application',
      request,
      targets: [
        { id: key.applicationId, type: 'AppInstance', displayName: key.applicationId },
        { id: key.serverId, type: 'AuthorizationServer', displayName: key.serverId },
      ],
      after: { allowed, refused },
    });
  });
}
