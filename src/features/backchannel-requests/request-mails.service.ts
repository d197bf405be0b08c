/**
 * Users in backchannel requests (CIBA): hint lookup, pending requests, and the e-mail about an application’s request. The e-mail is sent behind
 * the request: neither the response nor its time reveals whether the user exists.
 */

import { z } from 'zod';
import { present } from '../../platform/clock/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Services } from '../../platform/database/dependencies.ts';
import { recordEvent } from '../audit/audit.service.ts';
import type { RequestContext } from '../audit/audit-event.policy.ts';
import { issuerOf } from '../authorization-servers/server-id.policy.ts';
import { hasMailAddress, queueMail } from '../mail/mail.service.ts';
import { isMailPossible } from '../mail/mail-route.service.ts';
import type { Carrier } from '../outbox/outbox.service.ts';
import { laneOf } from '../outbox/outbox.store.ts';
import { mayMailSignInRequest } from '../sign-in/failure-limits.service.ts';
import { userTarget } from '../users/user-reach.service.ts';
import { findUserById, findUserByLogin, findUserByUniqueEmail } from '../users/users.store.ts';
import { listWaitingRequests, type WaitingRequest } from './waiting-requests.store.ts';

/** `outbox.kind` of the e-mail about a new sign-in request. */
export const SIGN_IN_REQUEST = 'sign-in-request';

/** Page with a user's pending requests. */
export const REQUESTS_PAGE = '/account/requests';

const note = z.object({
  /** null: the hint matches no user. */
  userId: z.string().nullable(),
  clientId: z.string(),
  application: z.string(),
  serverId: z.string(),
  /** ID of the request's row; absent in entries written before 2026-11-26. */
  requestId: z.string().optional(),
});
type Note = z.output<typeof note>;

/** @param request its userId is null if the hint matches no user @returns the outbox entry that is written with a request */
export const signInRequestNote = (request: Note): { readonly kind: string; readonly orderingKey: string; readonly payload: Note } => ({
  kind: SIGN_IN_REQUEST,
  orderingKey: laneOf(request.clientId),
  payload: request,
});

const targetsOf = ({ clientId, application, serverId }: Note) => [
  { id: clientId, type: 'AppInstance', displayName: application },
  { id: serverId, type: 'AuthorizationServer', displayName: serverId },
];

export function signInRequestMails(services: Services): Carrier {
  const { database, keyring, config } = services;
  return {
    async deliver(payload) {
      const request = note.parse(payload);
      const { userId, clientId, application } = request;
      const user = userId === null ? undefined : await findUserById(database.knex, userId);
      if (user === undefined || user.status !== 'ACTIVE') return 'dropped';
      const context: RequestContext = { actor: { id: clientId, type: 'PublicClientApp', displayName: application } };
      const waiting = (await requestsWaitingFor(database, user.id)).find(({ id }) => id === request.requestId);
      const failure = await reasonNotMailed(services, user, context);
      await database.transaction(async (trx) => {
        if (failure === undefined && hasMailAddress(user))
          await queueMail(trx, keyring, user, 'sign-in-request', {
            to: user.email,
            values: { application },
            // A link to the request's own page would not lead back there after a sign-in.
            link: `${config.baseUrl}${REQUESTS_PAGE}${waiting === undefined ? '' : `?code=${waiting.code}`}`,
          });
        await recordEvent(trx, {
          eventType: 'app.oauth2.as.backchannel.request',
          displayMessage: 'Application asked a user to sign in',
          request: context,
          targets: [...targetsOf(request), userTarget(user)],
          ...(failure !== undefined && { failure }),
        });
      });
      return failure === undefined ? 'delivered' : 'dropped';
    },
    givenUp: (payload) => ({
      eventType: 'app.oauth2.as.backchannel.request',
      displayMessage: 'Application asked a user to sign in',
      targets: targetsOf(note.parse(payload)),
    }),
  };
}

/** @returns the reason why no e-mail is sent; undefined: it is sent. The user's page shows the request in either case */
async function reasonNotMailed(
  services: Services,
  user: { readonly id: string; readonly email: string | null },
  context: RequestContext,
): Promise<string | undefined> {
  if (!hasMailAddress(user)) return 'NO_EMAIL_ADDRESS';
  if (!(await isMailPossible(services, context))) return 'NO_MAIL';
  return (await mayMailSignInRequest(services, user.id)) ? undefined : 'TOO_MANY_REQUESTS';
}

/** @param hint a user name or an e-mail address @returns the ID of the user; undefined: no user has it, or several share the address */
export async function userNamedBy({ knex }: Database, hint: string): Promise<string | undefined> {
  const name = hint.trim();
  return ((await findUserByLogin(knex, name)) ?? (await findUserByUniqueEmail(knex, name)))?.id;
}

/** Pending requests of a user, newest first. */
export const requestsWaitingFor = ({ knex }: Database, userId: string): Promise<WaitingRequest[]> =>
  listWaitingRequests(knex, userId, present());

/** @returns the path of the page that shows and confirms the request. Other users cannot open the request there */
export const addressOfRequest = (baseUrl: string, { serverId, code }: Pick<WaitingRequest, 'serverId' | 'code'>): string =>
  `${new URL(issuerOf(baseUrl, serverId)).pathname}/device?code=${code}`;
