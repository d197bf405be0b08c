/** What decided stands in the audit event of each refusal and of each sign-in: facts and reason codes, no secrets; and it goes with a deleted user. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setPolicies } from '../../support/access-policies.ts';
import { serviceWithConsents } from '../../support/consents.ts';
import { onServer } from '../../support/database.ts';
import { codeOf, enrolledUser, secretOn, wrongCode } from '../../support/factors.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, createClient, post, tokensFor } from './relying-party.ts';

interface Told {
  readonly eventType: string;
  readonly actor: { readonly id: string; readonly type: string };
  readonly outcome: { readonly result: string; readonly reason: string | null };
  readonly target: readonly { readonly id: string }[];
  // biome-ignore lint/suspicious/noExplicitAny: asserted field by field
  readonly debugContext: any;
}

/** What a step was told by. */
async function told(service: Service, step: () => Promise<unknown>): Promise<readonly Told[]> {
  const all = async (): Promise<Told[]> => (await service.api('GET', '/logs?limit=200&since=2020-01-01T00:00:00Z')).body;
  const { length } = await all();
  await step();
  return (await all()).slice(length);
}

const only = (events: readonly Told[], type: string): Told => {
  const found = events.filter(({ eventType }) => eventType === type);
  assert.equal(found.length, 1, JSON.stringify(events));
  return found[0] as Told;
};

const token = async (service: Service, app: Parameters<typeof post>[3], form: Record<string, string>, serverId = 'default') =>
  (await post(service, serverId, 'token', app, form)).body;

test('a refusal by the access policy: the policies and rules that were passed over, and why (RFC 6749 section 4.1.2.1)', async (t) => {
  const service = await startService(t);
  const [user, other] = [await service.createUser(), await service.createUser()];
  const app = await createClient(service, { grant_types: ['authorization_code', 'client_credentials'] });
  await setPolicies(service, 'default', [
    { clients: [(await createClient(service)).clientId], rules: [{}] },
    { rules: [{ conditions: { people: { users: { include: [other.id] } } } }, { conditions: { grantTypes: { include: ['password'] } } }] },
  ]);
  const browser = new UserAgent(service.baseUrl);
  const url = authorizeUrl(service, 'default', { client_id: app.clientId, scope: 'openid email' });
  const events = await told(service, async () => {
    assert.equal(answerOf(await browser.signIn(await browser.visit(url), user)).error, 'access_denied');
  });

  await t.test('of a user at the authorize endpoint', () => {
    const event = only(events, 'app.oauth2.as.authorize');
    assert.deepEqual([event.actor.id, event.outcome], [user.id, { result: 'FAILURE', reason: 'ACCESS_POLICY' }]);
    assert.deepEqual(
      event.target.map(({ id }) => id),
      [app.clientId, 'default', user.id],
    );
    const { kind, request, steps } = event.debugContext.decision;
    assert.equal(kind, 'access-policy');
    assert.deepEqual(request, {
      clientId: app.clientId,
      serverId: 'default',
      grantType: 'authorization_code',
      scopes: ['openid', 'email'],
    });
    assert.deepEqual(
      steps.map(({ policy, rule, reason }: Record<string, string>) => [policy, rule, reason]),
      [
        ['Policy 0', undefined, 'the policy is for other clients'],
        ['Policy 1', undefined, 'the policy is for this client'],
        ['Policy 1', 'Rule 0', 'the rule is for other people'],
        ['Policy 1', 'Rule 1', 'the rule is for another grant type'],
        ['Policy 1', undefined, 'no rule of the policy fits'],
      ],
    );
    assert.match(steps[2].policyId, /^pol_\w+$/);
    assert.match(steps[2].ruleId, /^rul_\w+$/);
  });

  await t.test('of an application at the token endpoint', async () => {
    const [event, ...others] = await told(service, () => token(service, app, { grant_type: 'client_credentials' }));
    assert.deepEqual(
      [event?.eventType, event?.actor.type, event?.actor.id],
      ['app.oauth2.as.token.grant', 'PublicClientApp', app.clientId],
    );
    assert.equal(event?.debugContext.decision.request.grantType, 'client_credentials');
    assert.deepEqual(others, []);
  });

  await t.test('of whoever asks again, each time', async () => {
    const again = () => Promise.all(Array.from({ length: 20 }, () => token(service, app, { grant_type: 'client_credentials' })));
    assert.equal((await told(service, again)).length, 20);
  });
});

test('a refusal for want of an assignment, on the page, in silence and by the password grant', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const app = await createClient(service, { assignment: 'ASSIGNED', grant_types: ['authorization_code', 'password'] });
  const browser = new UserAgent(service.baseUrl);
  const events = await told(service, async () => {
    const page = await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId })), user);
    assert.equal(page.status, 403);
    await browser.submit(page, 'return-form');
    await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId, prompt: 'none' }));
  });
  const refused = events.filter(({ eventType }) => eventType === 'app.oauth2.as.authorize');
  assert.deepEqual(
    refused.map(({ outcome, debugContext }) => [outcome.reason, debugContext.decision.request.prompt]),
    [
      ['NOT_ASSIGNED', undefined],
      ['NOT_ASSIGNED', 'none'],
    ],
    'one for each request',
  );
  assert.deepEqual(refused[0]?.debugContext.decision.request.scopes, ['openid']);
  const otherScopes = authorizeUrl(service, 'default', { client_id: app.clientId, prompt: 'none', scope: 'email openid' });
  only(await told(service, () => browser.visit(otherScopes)), 'app.oauth2.as.authorize');
  const form = { grant_type: 'password', username: user.login, password: user.password };
  const byPassword = only(await told(service, () => token(service, app, form)), 'app.oauth2.as.token.grant');
  assert.deepEqual([byPassword.actor.id, byPassword.debugContext.decision.request.grantType], [user.id, 'password']);
});

test('consent: why it was asked for each scope, what was denied, and what could not be asked', async (t) => {
  const service = await serviceWithConsents(t);
  const user = await service.createUser();
  const { clientId } = await createClient(service, { consent_method: 'REQUIRED' });
  const browser = new UserAgent(service.baseUrl);
  const url = (prompt?: string) => authorizeUrl(service, 'built-in', { client_id: clientId, scope: 'openid email', prompt });
  const page = await browser.signIn(await browser.visit(url()), user);
  const ask = { scope: 'email', ask: true, reason: 'not given yet' };
  const rest = { scope: 'openid', ask: false, reason: 'scope is granted without a dialog' };

  const silent = only(await told(service, () => browser.visit(url('none'))), 'app.oauth2.as.authorize');
  assert.deepEqual([silent.outcome.reason, silent.debugContext.decision.scopes], ['CONSENT_REQUIRED', [rest, ask]]);
  assert.equal(silent.debugContext.decision.request.prompt, 'none');

  const denied = only(await told(service, () => browser.submit(page, 'consent', { decision: 'deny' })), 'app.oauth2.as.consent.grant');
  assert.deepEqual([denied.actor.id, denied.outcome], [user.id, { result: 'FAILURE', reason: 'DENIED_BY_USER' }]);
  assert.deepEqual(denied.debugContext.decision, { kind: 'consent', scopes: [rest, ask] });

  const again = await browser.visit(url());
  const allowed = only(await told(service, () => browser.submit(again, 'consent', { decision: 'allow' })), 'app.oauth2.as.consent.grant');
  assert.equal(allowed.outcome.result, 'SUCCESS');
  assert.deepEqual(allowed.debugContext.decision.scopes, [rest, ask]);
  assert.deepEqual(await told(service, () => browser.visit(url('none'))), [], 'a silent request that is answered leaves nothing');
});

test('sign-ins: why they failed, until when it is locked, and why a second factor was asked for or was not', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const authn = (password: string, username = user.login) => service.api('POST', '/authn', { username, password });
  const failure = async (step: () => Promise<unknown>) => only(await told(service, step), 'user.authentication.failure').debugContext;

  assert.deepEqual(await failure(() => authn('the-secret-of-nobody', 'nobody')), {
    decision: { kind: 'password', reason: 'UNKNOWN_USER' },
  });
  const wrong = { kind: 'password', reason: 'WRONG_PASSWORD', status: 'ACTIVE', failures: 1, knownBrowser: false };
  assert.deepEqual(await failure(() => authn('wrong')), { decision: wrong });
  const right = only(await told(service, () => authn(user.password)), 'user.session.start');
  assert.deepEqual(right.debugContext.decision, { kind: 'session', amr: ['pwd'], secondFactor: { enrolled: false } });
  for (let n = 0; n < 10; n += 1) await authn('wrong');
  const { decision } = await failure(() => authn(user.password));
  assert.equal(decision.reason, 'LOCKED');
  assert.ok(Date.parse(decision.lockedUntil) > Date.now());

  const suspended = await service.createUser();
  await service.api('POST', `/users/${suspended.id}/lifecycle/suspend`);
  const { decision: not } = await failure(() => authn(suspended.password, suspended.login));
  assert.deepEqual([not.reason, not.status], ['NOT_ACTIVE', 'SUSPENDED']);

  await t.test('whom the application asks for a second factor, at the page and by the password grant', async () => {
    const other = await service.createUser();
    const app = await createClient(service, { mfa_required: true, grant_types: ['authorization_code', 'password'] });
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId }));
    const begun = only(
      await told(service, async () => {
        const asked = await browser.signIn(page, other);
        await browser.submit(await browser.submit(asked, 'enroll-form', { passCode: codeOf(secretOn(asked)) }), 'enrolled-form');
      }),
      'user.session.start',
    );
    assert.deepEqual(begun.debugContext.decision.secondFactor, { enrolled: true, demandedBy: 'APPLICATION' });
    const form = { grant_type: 'password', username: other.login, password: other.password };
    const refused = only(await told(service, () => token(service, app, form)), 'app.oauth2.as.token.grant');
    assert.equal(refused.outcome.reason, 'SECOND_FACTOR_NEEDED');
    const plain = await createClient(service);
    const another = new UserAgent(service.baseUrl);
    await tokensFor(service, another, await service.createUser(), plain);
    const silent = authorizeUrl(service, 'default', { client_id: app.clientId, prompt: 'none' });
    const inSilence = only(await told(service, () => another.visit(silent)), 'app.oauth2.as.authorize');
    assert.equal(inSilence.debugContext.decision.demandedBy, 'APPLICATION');
  });

  await t.test('codes, wrong and right', async () => {
    const enrolled = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    const app = await createClient(service);
    const asked = await browser.signIn(await browser.visit(authorizeUrl(service, 'default', { client_id: app.clientId })), enrolled);
    const type = 'user.authentication.auth_via_mfa';
    let page = asked;
    const give = (passCode: string) => async () => {
      page = await browser.submit(page, 'factor-form', { passCode });
    };
    const refused = only(await told(service, give(wrongCode(enrolled.secret))), type);
    assert.deepEqual(refused.debugContext.decision, { kind: 'second-factor', reason: 'WRONG', method: 'code', failures: 1 });
    const taken = only(await told(service, give(codeOf(enrolled.secret, 1))), type);
    assert.deepEqual(taken.debugContext.decision, { kind: 'second-factor', reason: 'RIGHT', method: 'code', failures: 0 });
  });

  await t.test('without anything that was typed', async () => {
    const { body } = await service.api('GET', '/logs?limit=200&since=2020-01-01T00:00:00Z');
    const text = JSON.stringify(body);
    for (const secret of [user.password, 'the-secret-of-nobody', 'wrong"']) assert.ok(!text.includes(secret), secret);
  });
});

test('an address that is barred is told of once, however many sign-ins it goes on to try', async (t) => {
  const service = await startService(t);
  const tries = () =>
    Promise.all(Array.from({ length: 130 }, () => service.api('POST', '/authn', { username: 'nobody', password: 'wrong' })));
  await tries();
  await tries();
  const rows = await onServer(service.database.url, async (client) => {
    const { rows: found } = await client.query("SELECT * FROM audit_events WHERE event_type = 'security.request.blocked'");
    return found;
  });
  assert.equal(rows.length, 1);
  assert.deepEqual([rows[0].debug_context.decision.failures, rows[0].outcome.reason], [100, 'TOO_MANY_FAILURES']);
  assert.match(rows[0].client.ipAddress, /127\.0\.0\.1$/);
});
