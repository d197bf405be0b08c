/**
 * `sessions/me`: the calling browser's session, as in Okta's Sessions API. It is authenticated by the session cookie, not by an API token; pages of
 * other sites are refused.
 */
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { links, time, writeTime } from '../../api/fields.ts';
import { requireFound } from '../../platform/errors/errors.ts';
import { isEnrolled } from '../second-factors/factors.service.ts';
import { isMultiFactor } from '../second-factors/second-factor.policy.ts';
import type { CallingBrowser, CurrentSession } from './browser.api.ts';
import { endOwnSession, sessionId } from './user-sessions.service.ts';

const session = z.object({
  id: z.string(),
  userId: z.string(),
  login: z.string(),
  createdAt: time,
  expiresAt: time,
  status: z.literal('ACTIVE'),
  lastPasswordVerification: time.nullable(),
  lastFactorVerification: time.nullable(),
  amr: z.array(z.string()),
  /** OKTA, the value that Okta's SDKs expect, means this service; FEDERATION an external identity provider. */
  idp: z.object({ id: z.string(), type: z.enum(['OKTA', 'FEDERATION']) }),
  mfaActive: z.boolean(),
  _links: links.extend({ user: z.object({ href: z.url() }) }),
});

const refusals = { 403: 'OtherSite', 404: 'NoSession' } as const;

export const sessions: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sessions/me',
    access: 'anyone',
    summary: "Read the calling browser's session. The cookie authenticates the call; only the service's own pages can make it",
    response: session,
    refusals,
    async handler({ services, browser }) {
      const found = await requireSession(browser);
      return present(found, await isEnrolled(services, found.accountId), services.config.baseUrl);
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/sessions/me',
    access: 'anyone',
    summary: "End the calling browser's session at all authorization servers; its tokens stay valid",
    refusals,
    handler: async ({ services, browser, request }) => {
      const { uid, accountId: userId, login } = await requireSession(browser);
      await endOwnSession(services, { uid, userId, login }, request);
      await browser.forgetSession();
    },
  }),
];

/** @throws {ApiError} not found; forbidden to another site's page */
const requireSession = async (browser: CallingBrowser): Promise<CurrentSession> => requireFound(await browser.session(), 'me', 'Session');

const moment = (epochSeconds: number): string => writeTime(new Date(epochSeconds * 1000));

/** @param mfaActive has the user a second factor? */
function present(
  { uid, accountId, login, amr, idp, signedInAt, expiresAt }: CurrentSession,
  mfaActive: boolean,
  baseUrl: string,
): z.input<typeof session> {
  return {
    id: sessionId(uid),
    userId: accountId,
    login,
    createdAt: moment(signedInAt),
    expiresAt: moment(expiresAt),
    status: 'ACTIVE',
    lastPasswordVerification: amr.includes('pwd') ? moment(signedInAt) : null,
    lastFactorVerification: isMultiFactor(amr) ? moment(signedInAt) : null,
    amr: [...amr],
    idp: idp === undefined ? { id: 'gatehouse', type: 'OKTA' } : { id: idp, type: 'FEDERATION' },
    mfaActive,
    _links: { self: { href: `${baseUrl}/api/v1/sessions/me` }, user: { href: `${baseUrl}/api/v1/users/${accountId}` } },
  };
}
