/** Passkeys by API, as Okta shows them: `users/{id}/factors`, `authn`, `users/{id}/data`; and what they count for in sign-in policies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient, post } from '../../protocol/servers/relying-party.ts';
import { codeOf, secretOn } from '../../support/factors.ts';
import { addPasskey, prove, userWithPasskey } from '../../support/passkeys.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const SECURITY = '/account/security';

test('passkeys by API', async (t) => {
  const service = await startService(t);
  const client = await createClient(service, { grant_types: ['authorization_code', 'password'] });
  const authn = async ({ login: username, password }: { login: string; password: string }) => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username, password }),
    });
    return answer.json() as Promise<{ status: string; stateToken: string; _embedded: { factors: { id: string; factorType: string }[] } }>;
  };
  const verify = async (id: string, stateToken: string, passCode: string) => {
    const answer = await fetch(`${service.listensAt}/api/v1/authn/factors/${id}/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ stateToken, passCode }),
    });
    return { status: answer.status, body: (await answer.json()) as { status?: string } };
  };

  await t.test('users/{id}/factors shows them in pages, without keys and handles', async () => {
    const user = await userWithPasskey(service, { name: '<b>Phone</b>' });
    await addPasskey(user.browser, await user.browser.visit(SECURITY), { name: 'Second' });
    const page = await user.browser.submit(await user.browser.visit(SECURITY), 'app-form');
    await user.browser.submit(page, 'enroll-form', { passCode: codeOf(secretOn(page)) });
    const { body } = await service.api('GET', `/users/${user.id}/factors`);
    assert.deepEqual(
      body.map(({ factorType, profile }: { factorType: string; profile: { authenticatorName: string } }) => [
        factorType,
        profile.authenticatorName,
      ]),
      [
        ['token:software:totp', 'Authenticator app'],
        ['webauthn', '<b>Phone</b>'],
        ['webauthn', 'Second'],
      ],
    );
    const { id, created, lastUpdated, _links, ...shown } = body[1];
    assert.deepEqual(shown, {
      factorType: 'webauthn',
      provider: 'FIDO',
      vendorName: 'FIDO',
      profile: { credentialId: user.authenticator.credentialId, authenticatorName: '<b>Phone</b>' },
      status: 'ACTIVE',
    });
    assert.equal(created, lastUpdated);
    assert.ok(!JSON.stringify(body).includes(user.authenticator.userHandle ?? ''));
    assert.equal(_links.self.href, `${service.baseUrl}/api/v1/users/${user.id}/factors/${id}`);
    const first = await service.api('GET', `/users/${user.id}/factors?limit=2`);
    assert.equal(first.body.length, 2);
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    assert.deepEqual((await service.api('GET', next.slice(next.indexOf('/users')))).body, [body[2]]);
    assert.deepEqual((await service.api('GET', `/users/${user.id}/factors/${id}`)).body, body[1]);
  });

  await t.test('an administrator takes one, or all; with the last go the recovery codes', async () => {
    const user = await userWithPasskey(service);
    await addPasskey(user.browser, await user.browser.visit(SECURITY), { name: 'Second' });
    const path = `/users/${user.id}/factors`;
    const [{ id }] = (await service.api('GET', path)).body;
    const stranger = await userWithPasskey(service);
    assert.equal((await service.api('DELETE', `/users/${stranger.id}/factors/${id}`)).status, 404);
    assert.equal((await service.api('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await service.api('DELETE', `${path}/${id}`)).status, 404);
    const browser = new UserAgent(service.baseUrl);
    assert.equal((await prove(browser, await browser.visit('/signin'), user.authenticator)).status, 400);
    assert.equal((await authn(user)).status, 'MFA_REQUIRED');
    assert.equal((await service.api('DELETE', path)).status, 204);
    assert.deepEqual((await service.api('GET', path)).body, []);
    assert.equal((await authn(user)).status, 'SUCCESS');
    assert.equal((await service.api('GET', `/users/${stranger.id}/factors`)).body.length, 1);
    const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "user.mfa.factor.reset_all"')}`);
    assert.deepEqual(
      body[0].debugContext.before.factors.map(({ type, name }: { type: string; name: string }) => [type, name]),
      [['PASSKEY', 'Second']],
    );
    assert.deepEqual(body[0].debugContext.after, { factors: [], recoveryCodes: 0 });
  });

  await t.test('authn lists them, without a link where there is no code to verify; no code of another factor counts for them', async () => {
    const user = await userWithPasskey(service);
    const only = await authn(user);
    assert.equal(only.status, 'MFA_REQUIRED');
    assert.deepEqual(
      only._embedded.factors.map(({ id, ...factor }) => factor),
      [
        {
          factorType: 'webauthn',
          provider: 'FIDO',
          vendorName: 'FIDO',
          profile: { credentialId: user.authenticator.credentialId, authenticatorName: 'My key' },
          _links: {},
        },
      ],
    );
    const id = only._embedded.factors[0]?.id ?? '';
    assert.equal((await verify(id, only.stateToken, '123456')).status, 404);
    const page = await user.browser.submit(await user.browser.visit(SECURITY), 'app-form');
    const secret = secretOn(page);
    await user.browser.submit(page, 'enroll-form', { passCode: codeOf(secret) });
    const both = await authn(user);
    const [app, passkey] = both._embedded.factors;
    assert.deepEqual([app?.factorType, passkey?.factorType], ['token:software:totp', 'webauthn']);
    assert.equal((await verify(passkey?.id ?? '', both.stateToken, codeOf(secret, 1))).status, 404);
    assert.equal((await verify(app?.id ?? '', both.stateToken, codeOf(secret, 1))).body.status, 'SUCCESS');
  });

  await t.test('the password grant refuses who has one', async () => {
    const user = await userWithPasskey(service);
    const form = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid' };
    const { status, body } = await post(service, 'built-in', 'token', client, form);
    assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    await service.api('DELETE', `/users/${user.id}/factors`);
    assert.equal((await post(service, 'built-in', 'token', client, form)).status, 200);
  });

  await t.test("the export of a user's data names them", async () => {
    const user = await userWithPasskey(service, { name: 'Phone' });
    const { body } = await service.api('GET', `/users/${user.id}/data`);
    assert.deepEqual(
      body.factors.map(({ type, name, lastUsed }: Record<string, unknown>) => [type, name, lastUsed]),
      [['PASSKEY', 'Phone', null]],
    );
    // Personal data, too: what names his devices (Regulation (EU) 2016/679, article 4).
    const authenticator = '00000000-0000-0000-0000-000000000000';
    const { credentialId } = user.authenticator;
    assert.deepEqual(body.factors[0].passkey, {
      ...{ credentialId, authenticator, transports: ['internal', 'hybrid'] },
      ...{ multiDevice: false, backedUp: false },
    });
    assert.ok(!JSON.stringify(body).includes(user.authenticator.userHandle ?? ''));
  });

  await t.test('policies count them: EVERYONE, ADMINISTRATORS, an application, acr_values', async () => {
    const demanding = await service.createApp({
      ...{ redirect_uris: ['https://app.example/callback'], grant_types: ['authorization_code'], response_types: ['code'] },
      mfa_required: true,
    });
    const plain = await createClient(service);
    const administrator = await userWithPasskey(service);
    await service.api('POST', `/users/${administrator.id}/roles`, { type: 'READ_ONLY_ADMIN' });
    const { body: settings } = await service.api('GET', '/settings/sign-in');
    const enough = async (clientId: string, who: typeof administrator, parameters = {}) => {
      const browser = new UserAgent(service.baseUrl);
      const page = await browser.visit(authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters }));
      assert.ok(answerOf(await prove(browser, page, who.authenticator)).code);
    };
    const user = await userWithPasskey(service);
    await enough(demanding.clientId, user);
    await enough(plain.clientId, user, { acr_values: 'urn:okta:loa:2fa:any' });
    for (const mfa of ['ADMINISTRATORS', 'EVERYONE']) {
      assert.equal((await service.api('PUT', '/settings/sign-in', { ...settings, mfa })).status, 200);
      await enough(plain.clientId, administrator);
      await enough(plain.clientId, user);
    }
  });
});
