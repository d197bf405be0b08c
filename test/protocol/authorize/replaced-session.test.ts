/**
 * A browser session that gives way to another sign-in ends as by a logout: its applications are told (decisions, "Token, introspect, revoke, userinfo,
 * logout", back-channel logout), and the audit log keeps whose session ended. One that goes on has no end.
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { signInAt, told, waiting } from '../logout/logout-receiver.ts';
import { answerOf, authorizeUrl } from '../servers/relying-party.ts';

/** Nobody listens there: what the outbox holds stays in it. */
const NOWHERE = 'https://app.example/back-channel-logout';

/** A user who is signed in at an application on two servers. */
async function signedIn(t: TestContext) {
  const service = await startService(t);
  const client = await told(service, NOWHERE);
  const [user, other] = [await service.createUser(), await service.createUser()];
  const browser = new UserAgent(service.baseUrl);
  const opened = await browser.visit('/signin');
  const places = [
    ['built-in', client],
    ['default', client],
  ] as const;
  const { sids } = await signInAt(service, user, places, browser);
  const url = (parameters: Record<string, string> = {}) => authorizeUrl(service, 'built-in', { client_id: client.clientId, ...parameters });
  const ends = () =>
    onServer(service.database.url, async (sql) => {
      const { rows } = await sql.query(
        "SELECT actor->>'id' AS actor, target->0->>'id' AS target FROM audit_events WHERE event_type = 'user.session.end' ORDER BY seq",
      );
      return rows;
    });
  /** @returns the sessions' names that the application is to be told of */
  const toTell = async () => (await waiting(service.database)).map(({ payload }) => payload.sid).sort();
  const isSignedIn = async ({ id }: { id: string }) => {
    const { rows } = await onServer(service.database.url, (sql) =>
      sql.query('SELECT account_id FROM oidc_payload WHERE model = 1 AND server_key = 0'),
    );
    assert.deepEqual(rows, [{ account_id: id }]);
  };
  const sessionToken = async ({ login, password }: { login: string; password: string }): Promise<string> => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: login, password }),
    });
    return ((await answer.json()) as { sessionToken: string }).sessionToken;
  };
  return { opened, user, other, browser, sids, url, ends, toTell, isSignedIn, sessionToken };
}

test('another user signs in for an application', async (t) => {
  const { user, other, browser, sids, url, ends, toTell, isSignedIn } = await signedIn(t);
  assert.ok(answerOf(await browser.signIn(await browser.visit(url({ prompt: 'login' })), other)).code);
  assert.deepEqual(await toTell(), [...sids].sort());
  assert.deepEqual(await ends(), [{ actor: user.id, target: user.id }]);
  await isSignedIn(other);
});

test('another user comes with a sessionToken', async (t) => {
  const { user, other, browser, sids, url, ends, toTell, isSignedIn, sessionToken } = await signedIn(t);
  assert.ok(answerOf(await browser.visit(url({ prompt: 'none', sessionToken: await sessionToken(other) }))).code);
  assert.deepEqual(await toTell(), [...sids].sort());
  assert.deepEqual(await ends(), [{ actor: user.id, target: user.id }]);
  await isSignedIn(other);
});

test('the same user signs in again for an application, or with a sessionToken: the session goes on, and nobody is told', async (t) => {
  const { user, browser, url, ends, toTell, isSignedIn, sessionToken } = await signedIn(t);
  assert.ok(answerOf(await browser.signIn(await browser.visit(url({ prompt: 'login' })), user)).code);
  assert.ok(answerOf(await browser.visit(url({ sessionToken: await sessionToken(user) }))).code);
  assert.deepEqual([await toTell(), await ends()], [[], []]);
  await isSignedIn(user);
});

test('at the page that stands by itself the same user goes on too, under another cookie; another one ends the session', async (t) => {
  const { opened, user, other, browser, sids, url, ends, toTell, isSignedIn } = await signedIn(t);
  const thief = browser.window();
  await browser.signIn(opened, user);
  assert.deepEqual([await toTell(), await ends()], [[], []]);
  await isSignedIn(user);
  assert.notEqual(browser.cookie('gatehouse-session'), thief.cookie('gatehouse-session'));
  assert.equal((await thief.visit('/account')).url.pathname, '/signin', 'whoever has the former cookie is out (session fixation)');
  assert.ok(answerOf(await browser.visit(url({ prompt: 'none' }))).code);
  // The page was opened before the session began: with one it leads on.
  await browser.signIn(opened, other);
  assert.deepEqual(await toTell(), [...sids].sort());
  assert.deepEqual(await ends(), [{ actor: user.id, target: user.id }]);
  await isSignedIn(other);
});
