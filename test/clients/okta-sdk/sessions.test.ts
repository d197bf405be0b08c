/** A browser's own session by Okta's SDK, with the browser's cookies (management API, "sessions/me"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { oktaClient, refusal, timed } from './client.ts';

test('sessions/me by the official Okta SDK (issue 7)', async (t) => {
  const service = await startService(t);
  const { sessionApi, userApi } = oktaClient(service);
  const user = await service.createUser();
  const signedIn = async (): Promise<string> => {
    const browser = new UserAgent(service.baseUrl);
    assert.equal((await browser.signIn(await browser.visit('/signin'), user)).status, 200);
    return ['gatehouse-session', 'gatehouse-session.sig'].map((name) => `${name}=${browser.cookie(name)}`).join('; ');
  };
  const [cookie, other] = [await signedIn(), await signedIn()];

  assert.deepEqual((await refusal(sessionApi.getCurrentSession({ cookie: 'another=one' }))).slice(0, 2), [404, 'E0000007']);
  const session = await sessionApi.getCurrentSession({ cookie });
  const { createdAt, lastPasswordVerification, rest } = timed(session, 'createdAt', 'lastPasswordVerification');
  assert.equal(lastPasswordVerification, createdAt);
  assert.ok(new Date(String(rest.expiresAt)) > new Date(createdAt));
  assert.match(String(rest.id), /^[\w-]{20,}$/);
  assert.deepEqual(rest, {
    id: rest.id,
    userId: user.id,
    login: user.login,
    expiresAt: rest.expiresAt,
    status: 'ACTIVE',
    lastFactorVerification: null,
    amr: ['pwd'],
    idp: { id: 'gatehouse', type: 'OKTA' },
    // The SDK has names for neither mfaActive nor the link to the user.
    _links: { self: { href: `${service.baseUrl}/api/v1/sessions/me` } },
  });

  // The SDK remembers what it has read under its address, whoever's it was, so each look is another client's.
  const isThere = (ofBrowser: string) =>
    oktaClient(service)
      .sessionApi.getCurrentSession({ cookie: ofBrowser })
      .then(
        () => true,
        () => false,
      );
  assert.equal(await sessionApi.closeCurrentSession({ cookie }), undefined);
  assert.deepEqual([await isThere(cookie), await isThere(other)], [false, true]);
  assert.equal(await userApi.revokeUserSessions({ userId: user.id }), undefined);
  assert.equal(await isThere(other), false);
});
