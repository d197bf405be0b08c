/**
 * `sessions/me`: the session of the browser that calls, as Okta's Sessions API shows it. The cookie of the sign-in is the authentication, and no API
 * token; pages of other sites are refused. How a session begins is not here.
 */
import { z } from 'zod';
import { notFound } from '../errors.ts';
import { digest } from '../secrets.ts';
import { endOwnSession } from '../services/user-sessions.ts';
import type { Browser, BrowserSession } from './browser.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { links, time, writeTime } from './fields.ts';

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
  /** OKTA, the word that Okta's SDKs read, stands for this service itself. */
  idp: z.object({ id: z.string(), type: z.literal('OKTA') }),
  mfaActive: z.boolean(),
  _links: links.extend({ user: z.object({ href: z.url() }) }),
});

const refusals = { 403: 'OtherSite', 404: 'NoSession' } as const;

export const sessions: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/sessions/me',
    access: 'anyone',
    summary: "Read the session of the browser that calls; its cookie is the authentication, and only the service's own pages may ask",
    response: session,
    refusals,
    handler: async ({ services, browser }) => present(await demandSession(browser), services.config.baseUrl),
  }),
  endpoint({
    method: 'DELETE',
    path: '/sessions/me',
    access: 'anyone',
    summary: 'End the session of the browser that calls, on all authorization servers; its tokens live on',
    refusals,
    handler: async ({ services, browser, request }) => {
      const { uid, accountId: userId, login } = await demandSession(browser);
      await endOwnSession(services, { uid, userId, login }, request);
      await browser.forgetSession();
      return undefined;
    },
  }),
];

/** @throws {ApiError} not found; forbidden to another site's page */
async function demandSession(browser: Browser): Promise<BrowserSession> {
  const found = await browser.session();
  if (found === undefined) throw notFound('me', 'Session');
  return found;
}

const moment = (epochSeconds: number): string => writeTime(new Date(epochSeconds * 1000));

/** There are no second factors yet. */
function present({ uid, accountId, login, amr, signedInAt, expiresAt }: BrowserSession, baseUrl: string): z.input<typeof session> {
  return {
    // Neither the cookie's value nor the name under which the service keeps the session.
    id: digest(JSON.stringify(['session', uid])),
    userId: accountId,
    login,
    createdAt: moment(signedInAt),
    expiresAt: moment(expiresAt),
    status: 'ACTIVE',
    lastPasswordVerification: amr.includes('pwd') ? moment(signedInAt) : null,
    lastFactorVerification: null,
    amr: [...amr],
    idp: { id: 'gatehouse', type: 'OKTA' },
    mfaActive: false,
    _links: { self: { href: `${baseUrl}/api/v1/sessions/me` }, user: { href: `${baseUrl}/api/v1/users/${accountId}` } },
  };
}
