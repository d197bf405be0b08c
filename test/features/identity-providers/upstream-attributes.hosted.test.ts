/** Claims of a provider fill attributes of the operator's own, judged by their types and rules; what is wrong is named in the log and stops nobody who has an account. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, isAdmitted, problemOf, signInAt, startUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const SCHEMA = '/meta/schemas/user/default';
const SELF = { permissions: [{ principal: 'SELF', action: 'READ_ONLY' }] };

test('claims of a provider in attributes of one’s own', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const upstream = await startUpstream(t);
  const setAttributes = async (properties: Record<string, unknown>) => {
    const { status, body } = await service.api('POST', SCHEMA, { definitions: { custom: { properties } } });
    assert.equal(status, 200, JSON.stringify(body));
  };
  await setAttributes({
    seats: { title: 'Seats', type: 'integer', ...SELF },
    vip: { title: 'VIP', type: 'boolean', ...SELF },
    teams: { title: 'Teams', type: 'array', items: { type: 'string' }, ...SELF },
    tier: { title: 'Tier', type: 'string', enum: ['gold', 'silver'], ...SELF },
    card: { title: 'Card', type: 'string', unique: 'UNIQUE_VALIDATED', ...SELF },
  });
  const attributeMap = {
    email: 'email',
    firstName: 'given_name',
    seats: 'seat_count',
    vip: 'vip',
    teams: 'groups',
    tier: 'tier',
    card: 'card',
  };
  const policy = { provisioning: { action: 'AUTO', profileMaster: true }, attributeMap };
  const idp = await createIdp(service, idpBody(upstream, policy));
  const { clientId } = await createClient(service);
  const come = (email: string, claims: Record<string, unknown>) => {
    upstream.behaviour.subject = email;
    upstream.behaviour.claims = { email, email_verified: true, given_name: 'Ada', ...claims };
    return signInAt(new UserAgent(service.baseUrl), authorizeUrl(service, 'default', { client_id: clientId }), idp);
  };
  const profileOf = async (email: string) => (await service.api('GET', `/users/${encodeURIComponent(email)}`)).body.profile;
  const lastEvent = async () => {
    const filter = encodeURIComponent('eventType eq "user.authentication.auth_via_IDP"');
    return (await service.api('GET', `/logs?filter=${filter}&sortOrder=DESCENDING&limit=1`)).body[0];
  };
  const address = () => `${randomUUID()}@example.com`;

  await t.test('good values are kept by their types, text that is a number or a boolean too', async () => {
    const email = address();
    assert.ok(isAdmitted(await come(email, { seat_count: '7', vip: 'true', groups: ['a', 'b'], tier: 'gold', card: 'C1' })));
    const { seats, vip, teams, tier, card, firstName } = await profileOf(email);
    assert.deepEqual(
      { seats, vip, teams, tier, card, firstName },
      { seats: 7, vip: true, teams: ['a', 'b'], tier: 'gold', card: 'C1', firstName: 'Ada' },
    );
    assert.equal((await lastEvent()).debugContext.after.attributesLeftOut, undefined);
    assert.ok(isAdmitted(await come(email, { seat_count: 8, groups: 'one', tier: 'silver', card: 'C1' })), 'later sign-ins write again');
    const after = await profileOf(email);
    assert.deepEqual(
      [after.seats, after.vip, after.teams, after.tier, after.card],
      [8, true, ['one'], 'silver', 'C1'],
      'what is absent stays',
    );
  });

  await t.test('wrong values are left out, the rest is kept, and the event names attribute, claim and problem, but no value', async () => {
    const email = address();
    const wrong = { seat_count: 'SECRET many', vip: 'SECRET', groups: { evil: true }, tier: 'bronze', card: 'c1' };
    assert.ok(isAdmitted(await come(email, wrong)));
    const { seats, vip, teams, tier, card, firstName } = await profileOf(email);
    assert.deepEqual([seats, vip, teams, tier, card, firstName], [undefined, undefined, undefined, undefined, undefined, 'Ada']);
    const event = await lastEvent();
    assert.equal(event.outcome.result, 'SUCCESS');
    assert.deepEqual(
      event.debugContext.after.attributesLeftOut.map((one: { attribute: string; claim: string }) => [one.attribute, one.claim]),
      [
        ['seats', 'seat_count'],
        ['vip', 'vip'],
        ['teams', 'groups'],
        ['tier', 'tier'],
        ['card', 'card'],
      ],
    );
    assert.match(JSON.stringify(event), /another user has this value. Choose another one/);
    assert.doesNotMatch(JSON.stringify(event), /SECRET|bronze/);
    assert.ok(isAdmitted(await come(email, { ...wrong, seat_count: 3 })), 'and at a later sign-in');
    assert.equal((await profileOf(email)).seats, 3);
  });

  await t.test('values of users together stay within their bound', async () => {
    const email = address();
    const many = Array.from({ length: 100 }, (_, n) => `${n}`.padEnd(200, 'x'));
    assert.ok(isAdmitted(await come(email, { seat_count: 1, groups: many })));
    assert.deepEqual([(await profileOf(email)).seats, (await profileOf(email)).teams], [1, undefined]);
    assert.match(JSON.stringify((await lastEvent()).debugContext.after), /at most 16384 bytes/);
  });

  await t.test('a required attribute stops a new user alone, and only where it is mapped', async () => {
    const known = address();
    assert.ok(isAdmitted(await come(known, { tier: 'gold' })));
    await setAttributes({ tier: { title: 'Tier', type: 'string', enum: ['gold', 'silver'], required: true, ...SELF } });
    const unknown = address();
    for (const claims of [{}, { tier: 'bronze' }]) {
      assert.equal(problemOf(await come(unknown, claims)), 'upstream_not_admitted');
      const event = await lastEvent();
      assert.deepEqual([event.outcome.reason, event.debugContext.after.missing], ['REQUIRED_ATTRIBUTE', ['tier']]);
      assert.equal((await service.api('GET', `/users/${unknown}`)).status, 404);
    }
    assert.ok(isAdmitted(await come(known, { tier: 'bronze' })), 'who has an account is let in');
    assert.equal((await profileOf(known)).tier, 'gold');
    assert.ok(isAdmitted(await come(unknown, { tier: 'silver' })));
    const { tier: _, ...unmapped } = attributeMap;
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream, { ...policy, attributeMap: unmapped }));
    assert.ok(isAdmitted(await come(address(), {})));
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream, policy));
  });

  await t.test('unknown attributes are refused, and one that is mapped is not removed', async () => {
    const { status, body } = await service.api(
      'PUT',
      `/idps/${idp}`,
      idpBody(upstream, { ...policy, attributeMap: { shoeSize: 'shoe_size' } }),
    );
    assert.equal(status, 400);
    assert.match(JSON.stringify(body), /policy\.attributeMap: shoeSize is not an attribute of users/);
    for (const name of ['login', 'emailVerified', '__proto__', 'constructor', 'id'])
      assert.equal(
        (await service.api('PUT', `/idps/${idp}`, idpBody(upstream, { attributeMap: JSON.parse(`{"${name}":"sub"}`) }))).status,
        400,
        name,
      );
    const removed = await service.api('POST', SCHEMA, { definitions: { custom: { properties: { vip: null } } } });
    assert.equal(removed.status, 409);
    assert.match(JSON.stringify(removed.body), /Change its profile mapping first/);
    await service.api('PUT', `/idps/${idp}`, idpBody(upstream, { attributeMap: { email: 'email' } }));
    await setAttributes({ vip: null });
  });
});
