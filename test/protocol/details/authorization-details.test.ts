/** Rich authorization requests (RFC 9396): what a user allows is in code, tokens, introspection and refresh, and a token request asks for no more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from '../servers/relying-party.ts';
import { ACCOUNTS, bank, PAYMENT, PAYMENT_TYPE } from './details.ts';

const both = JSON.stringify([PAYMENT, ACCOUNTS]);

for (const accessTokenFormat of ['jwt', 'opaque'] as const) {
  test(`${accessTokenFormat}: what the user allows stands in the token response, the token, introspection and refreshed tokens`, async (t) => {
    const { browser, reach, token, detailsOf } = await bank(t, { accessTokenFormat });
    const { page, exchange } = await reach([PAYMENT, ACCOUNTS]);
    assert.match(page.text, /Make a payment/);
    assert.match(page.text, /Pay <bdi>120\.50<\/bdi> <bdi>EUR<\/bdi> to <bdi>Fern &amp; Sons<\/bdi>/);
    assert.match(page.text, /See your bank accounts/);
    assert.match(page.text, /<dt dir="auto">Actions<\/dt><dd><bdi>list and balance<\/bdi><\/dd>/);
    const { body } = await exchange(await browser.submit(page, 'consent', { decision: 'allow' }));
    assert.deepEqual(body.authorization_details, [PAYMENT, ACCOUNTS]);
    assert.deepEqual(await detailsOf(body.access_token), [PAYMENT, ACCOUNTS]);
    assert.deepEqual(await detailsOf(body.refresh_token), [PAYMENT, ACCOUNTS]);

    const refresh = (refresh_token: string, form = {}) => token({ grant_type: 'refresh_token', refresh_token, ...form });
    const less = { ...ACCOUNTS, actions: ['list'] };
    const narrowed = await refresh(body.refresh_token, { authorization_details: JSON.stringify([less]) });
    assert.deepEqual([narrowed.status, narrowed.body.authorization_details], [200, [less]]);
    assert.deepEqual(await detailsOf(narrowed.body.access_token), [less]);
    const again = await refresh(narrowed.body.refresh_token);
    assert.deepEqual(await detailsOf(again.body.access_token), [PAYMENT, ACCOUNTS], 'the refresh token keeps all that was granted');
    const wider = [
      { ...PAYMENT, creditor: 'Somebody else' },
      { ...PAYMENT, amount: { ...PAYMENT.amount, value: '999.00' } },
      { ...ACCOUNTS, actions: ['list', 'close'] },
      { ...ACCOUNTS, actions: [] },
      { type: 'accounts', actions: ['list'] },
      { ...ACCOUNTS, datatypes: ['all'] },
    ];
    for (const one of wider) {
      const refused = await refresh(again.body.refresh_token, { authorization_details: JSON.stringify([one]) });
      assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_authorization_details'], JSON.stringify(one));
    }
    assert.equal((await refresh(again.body.refresh_token)).status, 200, 'a refused request uses nothing up');
  });
}

test('a code is exchanged for less, never for more; a request can be for details alone, without a scope', async (t) => {
  const { browser, reach, detailsOf } = await bank(t);
  const { page, exchange } = await reach([ACCOUNTS], { scope: undefined });
  const allowed = await browser.submit(page, 'consent', { decision: 'allow' });
  const more = await exchange(allowed, { authorization_details: both });
  assert.deepEqual([more.status, more.body.error], [400, 'invalid_authorization_details']);
  assert.match(more.body.error_description, /asks for more than was granted/);
  const less = { ...ACCOUNTS, actions: ['balance'] };
  const { status, body } = await exchange(allowed, { authorization_details: JSON.stringify([less]) });
  assert.deepEqual([status, body.authorization_details], [200, [less]], JSON.stringify(body));
  assert.deepEqual(await detailsOf(body.access_token), [less]);
});

test('consent is remembered for the same details only, and never for a type that asks each time', async (t) => {
  const { service, browser, reach, user } = await bank(t);
  const first = await reach([ACCOUNTS], { scope: 'openid' });
  assert.equal((await first.exchange(await browser.submit(first.page, 'consent', { decision: 'allow' }))).status, 200);
  const swapped = { locations: ACCOUNTS.locations, actions: ACCOUNTS.actions, type: 'accounts' };
  const same = await reach([swapped], { scope: 'openid', prompt: 'none' });
  assert.equal((await same.exchange(same.page)).status, 200, 'the order of members makes no other detail');
  const other = await reach([{ ...ACCOUNTS, actions: ['list', 'balance', 'close'] }], { scope: 'openid', prompt: 'none' });
  assert.equal(answerOf(other.page).error, 'consent_required');

  const path = '/authorizationServers/bank/authorizationDetailTypes';
  const { body: types } = await service.api('GET', `${path}?q=pay`);
  assert.equal((await service.api('PUT', `${path}/${types[0].id}`, { ...PAYMENT_TYPE, rememberConsent: false })).status, 200);
  const paid = await reach([PAYMENT], { scope: 'openid' });
  assert.equal((await paid.exchange(await browser.submit(paid.page, 'consent', { decision: 'allow' }))).status, 200);
  const twice = await reach([PAYMENT], { scope: 'openid', prompt: 'none' });
  assert.equal(answerOf(twice.page).error, 'consent_required', 'the same payment is asked for again');

  const { body: grants } = await service.api('GET', `/users/${user.id}/grants`);
  const granted = grants.flatMap((grant: { authorizationDetail?: object }) => grant.authorizationDetail ?? []);
  assert.deepEqual(granted, [ACCOUNTS, PAYMENT]);
  const denied = await reach([{ ...PAYMENT, creditor: 'Nobody' }], { scope: 'openid' });
  assert.equal(answerOf(await browser.submit(denied.page, 'consent', { decision: 'deny' })).error, 'access_denied');
  const { body: events } = await service.api('GET', '/logs?filter=eventType eq "app.oauth2.as.consent.grant"&sortOrder=DESCENDING&limit=2');
  assert.deepEqual(events[1].debugContext.after.authorizationDetails, [PAYMENT]);

  const { body: listed } = await service.api('GET', `${path}?q=acc`);
  assert.equal((await service.api('DELETE', `${path}/${listed[0].id}`)).status, 204);
  const { body: left } = await service.api('GET', `/users/${user.id}/grants`);
  assert.equal(left.length, 1, 'what was allowed of a deleted type is forgotten');
});

test('a type that is deleted, or taken from the application, is refreshed no more', async (t) => {
  const { service, client, browser, reach, token } = await bank(t);
  const { page, exchange } = await reach([PAYMENT, ACCOUNTS]);
  const { body } = await exchange(await browser.submit(page, 'consent', { decision: 'allow' }));
  const path = `/apps/${client.clientId}`;
  const { body: app } = await service.api('GET', path);
  app.settings.oauthClient.authorization_details_types = ['accounts'];
  const changed = await service.api('PUT', path, { label: app.label, settings: app.settings });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  const second = await token({ grant_type: 'refresh_token', refresh_token: body.refresh_token });
  assert.deepEqual(second.body.authorization_details, [ACCOUNTS]);
  const { body: types } = await service.api('GET', '/authorizationServers/bank/authorizationDetailTypes?q=acc');
  await service.api('DELETE', `/authorizationServers/bank/authorizationDetailTypes/${types[0].id}`);
  const third = await token({ grant_type: 'refresh_token', refresh_token: second.body.refresh_token });
  assert.deepEqual([third.status, third.body.authorization_details], [200, undefined]);
});

test('an application by itself gets what it may ask for; the password grant only a trusted one', async (t) => {
  const { token, detailsOf } = await bank(t);
  const machine = await token({ grant_type: 'client_credentials', authorization_details: both });
  assert.deepEqual(machine.body.authorization_details, [PAYMENT, ACCOUNTS]);
  assert.deepEqual(await detailsOf(machine.body.access_token), [PAYMENT, ACCOUNTS]);
  const without = await token({ grant_type: 'client_credentials' });
  assert.equal(without.body.authorization_details, undefined);
});

test('discovery of a server names its types, and that of a server without any says nothing', async (t) => {
  const { service } = await bank(t);
  const read = async (id: string) =>
    (await (await fetch(`${service.issuer(id)}/.well-known/openid-configuration`)).json()) as Record<string, unknown>;
  assert.deepEqual((await read('bank')).authorization_details_types_supported, ['payment', 'accounts']);
  assert.equal('authorization_details_types_supported' in (await read('default')), false);
});
