/** Access policies that name types of authorization details (RFC 9396 section 11.2): at every step, in the simulator and in Explain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter } from '../../pages/console/administrators.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { answerOf } from '../servers/relying-party.ts';
import { ACCOUNTS, bank, PAYMENT } from './details.ts';

const onlyFor = (user: string, ...include: string[]) => ({
  conditions: { people: { users: { include: [user] } }, authorizationDetails: { include } },
});
const WITHOUT = { conditions: { authorizationDetails: { include: [] } } };

test('who may ask for payments: by the authorization request, for machines, and at each refresh', async (t) => {
  const { service, user, browser, reach, token } = await bank(t);
  await setPolicies(service, 'bank', [{ rules: [onlyFor(user.id, 'payment', 'accounts'), WITHOUT] }]);
  const { page, exchange } = await reach([PAYMENT, ACCOUNTS]);
  const { body } = await exchange(await browser.submit(page, 'consent', { decision: 'allow' }));
  assert.deepEqual(body.authorization_details, [PAYMENT, ACCOUNTS]);
  const machine = await token({ grant_type: 'client_credentials', authorization_details: JSON.stringify([ACCOUNTS]) });
  assert.deepEqual([machine.status, machine.body.error], [400, 'access_denied']);
  assert.equal((await token({ grant_type: 'client_credentials' })).status, 200);

  await setPolicies(service, 'bank', [{ rules: [onlyFor(user.id, 'accounts')] }]);
  const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token };
  const all = await token(refresh);
  assert.deepEqual([all.status, all.body.error], [400, 'access_denied']);
  const less = await token({ ...refresh, authorization_details: JSON.stringify([ACCOUNTS]) });
  assert.deepEqual([less.status, less.body.authorization_details], [200, [ACCOUNTS]]);
});

test('a refusal names the rule in Explain, and the simulator says the same', async (t) => {
  const { service, client, user, browser, reach } = await bank(t);
  const trader = await service.createUser();
  await setPolicies(service, 'bank', [{ rules: [onlyFor(trader.id, 'payment'), WITHOUT] }]);
  assert.equal(answerOf((await reach([PAYMENT])).page).error, 'access_denied');
  assert.ok(answerOf((await reach([])).page).code, 'without details');

  const filter = encodeURIComponent('eventType eq "app.oauth2.as.authorize"');
  const { body: events } = await service.api('GET', `/logs?filter=${filter}`);
  const { request, steps } = events.at(-1).debugContext.decision;
  assert.deepEqual(request.detailTypes, ['payment']);
  assert.deepEqual(
    steps.map(({ reason }: { reason: string }) => reason),
    [
      'the policy is for this client',
      'the rule is for other people',
      'the rule is for other authorization details',
      'no rule of the policy fits',
    ],
  );
  const { agent } = await enter(service);
  const { text } = await agent.visit(`/admin/reports/log/${events.at(-1).uuid}/explain`);
  assert.match(text, /has authorization details of types that it does not name/);
  const link = /href="(\/admin\/api\/servers\/bank\/simulator[^"]*)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail(text);
  assert.match(link, /details=payment/);
  assert.match((await agent.visit(link)).text, /gets no token for/);

  const simulate = async (more: object) => {
    const asked = { client_id: client.clientId, user: user.login, grant_type: 'authorization_code', scopes: ['openid'], ...more };
    return (await service.api('POST', '/authorizationServers/bank/simulate', asked)).body;
  };
  const types = { authorization_detail_types: ['payment'] };
  assert.deepEqual([(await simulate(types)).outcome, (await simulate(types)).refusal.error], ['REFUSED', 'access_denied']);
  assert.notEqual((await simulate({})).outcome, 'REFUSED');
  const allowed = await simulate({ ...types, user: trader.login });
  assert.equal(allowed.outcome, 'CONSENT');
  assert.deepEqual(allowed.consent.authorization_details, [{ type: 'payment', ask: true, reason: 'not given yet' }]);
  assert.equal((await simulate({ authorization_detail_types: ['shares'] })).refusal.error, 'invalid_authorization_details');
  const password = await simulate({ ...types, user: trader.login, grant_type: 'password' });
  assert.equal(password.refusal.error, 'invalid_authorization_details');

  await setPolicies(service, 'bank', [{ rules: [onlyFor(user.id, 'payment', 'accounts'), WITHOUT] }]);
  const asUser = (...details: object[]) => simulate({ authorization_details: details });
  const whole = await asUser(PAYMENT, ACCOUNTS);
  assert.equal(whole.outcome, 'CONSENT', JSON.stringify(whole.refusal));
  assert.deepEqual(whole.tokens.access_token.claims.authorization_details, [PAYMENT, ACCOUNTS]);
  const wrong = await asUser(ACCOUNTS, { ...PAYMENT, amount: { value: 'much', currency: 'EUR' } });
  assert.equal(wrong.refusal.error, 'invalid_authorization_details');
  assert.match(wrong.refusal.reason, /^authorization_details 1: does not match the schema of its type: \/amount\/value /);
  const unreadable = await service.api('POST', '/authorizationServers/bank/simulate', {
    ...{ client_id: client.clientId, user: user.login, grant_type: 'authorization_code' },
    authorization_details: [{ type: 'accounts', actions: 'all' }],
  });
  assert.deepEqual(unreadable.body.errorCauses, [{ errorSummary: 'authorization_details: 0: actions must be a list of strings' }]);
  // The very same detail was allowed before; another one is asked for.
  const { page: asks } = await reach([ACCOUNTS]);
  await browser.submit(asks, 'consent', { decision: 'allow' });
  const before = await asUser(ACCOUNTS, PAYMENT);
  assert.deepEqual(before.consent.authorization_details, [
    { type: 'accounts', ask: false, reason: 'given before' },
    { type: 'payment', ask: true, reason: 'not given yet' },
  ]);
  const typed = (details: string) =>
    agent.visit(`/admin/api/servers/bank/simulator?${new URLSearchParams({ application: client.clientId, user: user.login, details })}`);
  assert.match((await typed(JSON.stringify([ACCOUNTS]))).text, /Not asked: the user allowed it before/);
  assert.match((await typed('[{"type":')).text, /must be JSON/);

  const [policy] = (await service.api('GET', '/authorizationServers/bank/policies')).body;
  const page = await agent.visit(`/admin/api/servers/bank/policies/${policy.id}/rules/new`);
  const saved = await agent.submit(page, 'console-form', { name: 'Accounts', detailsFor: 'some', details: ['accounts'] });
  assert.match(saved.text, /authorization details: accounts/);
  const rules = (await service.api('GET', `/authorizationServers/bank/policies/${policy.id}/rules`)).body;
  assert.deepEqual(rules.at(-1).conditions, { authorizationDetails: { include: ['accounts'] } });
});
