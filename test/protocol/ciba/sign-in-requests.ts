/** Steps of the tests of sign-in requests (CIBA): the application's, and its user's. */
import assert from 'node:assert/strict';
import type { ServiceCalls } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { type JsonAnswer, post, type TestClient } from '../servers/relying-party.ts';

export const GRANT = 'urn:openid:params:grant-type:ciba';
export const SETTINGS = { grant_types: [GRANT, 'refresh_token', 'authorization_code'] };

export const request = (service: ServiceCalls, by: TestClient, more: Record<string, string>, serverId = 'built-in'): Promise<JsonAnswer> =>
  post(service, serverId, 'backchannel-authentication', by, { scope: 'openid', client_id: by.clientId, ...more });

export const poll = (service: ServiceCalls, by: TestClient, id: string, serverId = 'built-in'): Promise<JsonAnswer> =>
  post(service, serverId, 'token', by, { grant_type: GRANT, auth_req_id: id });

export async function pendingAt(service: ServiceCalls, by: TestClient, id: string, serverId = 'built-in'): Promise<void> {
  assert.equal((await poll(service, by, id, serverId)).body.error, 'authorization_pending');
}

/** A browser in which the user is signed in. */
export async function signedIn(service: ServiceCalls, user: { login: string; password: string }): Promise<UserAgent> {
  const browser = new UserAgent(service.baseUrl);
  const page = await browser.signIn(await browser.visit('/signin?account=requests'), user);
  assert.equal(page.url.pathname, '/account/requests', page.text);
  return browser;
}

/** Follows the newest request of the user's page. @param list the page, as it was at another time */
export async function reviewed(browser: UserAgent, list?: Page): Promise<Page> {
  const { text } = list ?? (await browser.visit('/account/requests'));
  const href = /id="review-0" href="([^"]+)"/.exec(text)?.[1] ?? assert.fail(text);
  return browser.visit(href);
}
