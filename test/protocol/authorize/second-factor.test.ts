/** Second factors at the authorize and token endpoints: the sign-in policy, applications, `acr_values`, the essential claim `acr`, step-up, `max_age`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, ONE_FACTOR, secretOn, TWO_FACTORS } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, createClient, post, type TestClient } from '../servers/relying-party.ts';

const acrClaim = (acr: unknown) => JSON.stringify({ id_token: { acr } });

test('second factors at the authorize endpoint', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const strict = await createClient(service, { mfa_required: true });
  const request = (parameters: Record<string, string | undefined> = {}, { clientId }: TestClient = client, serverId = 'built-in') =>
    authorizeUrl(service, serverId, { client_id: clientId, ...parameters });
  const newBrowser = () => new UserAgent(service.baseUrl);
  const claimsOf = async (page: Page, of: TestClient = client, serverId = 'built-in') => {
    const { code = '' } = answerOf(page);
    const { body } = await post(service, serverId, 'token', of, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
    return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
  };
  /** A browser with a session of one factor. */
  const signedIn = async (profile: Record<string, unknown> = {}) => {
    const user = await service.createUser(profile);
    const browser = newBrowser();
    const page = await browser.signIn(await browser.visit(request()), user);
    assert.ok(answerOf(page).code, page.text);
    return { user, browser, page };
  };
  const policy = (mfa: string) => service.api('PUT', '/settings/sign-in', { mfa });
  const asksToEnrol = (page: Page) => assert.match(page.text, /id="enroll-form"/);
  const asksForFactor = (page: Page) => assert.match(page.text, /id="factor-form"/);
  const isDone = (page: Page) => assert.ok(answerOf(page).code, page.text);
  const enrol = async (browser: UserAgent, page: Page) => {
    const secret = secretOn(page);
    const shown = await browser.submit(page, 'enroll-form', { passCode: codeOf(secret) });
    return { secret, page: await browser.submit(shown, 'enrolled-form') };
  };

  await t.test('one factor is told as such, on every server (Core 2: acr, amr)', async () => {
    const { browser, page } = await signedIn();
    for (const [serverId, at] of [
      ['built-in', page],
      ['default', await browser.visit(request({ prompt: 'none' }, client, 'default'))],
    ] as const) {
      const { acr, amr } = await claimsOf(at, client, serverId);
      assert.deepEqual([acr, amr], [ONE_FACTOR, ['pwd']], serverId);
    }
  });

  await t.test('discovery announces the classes (Discovery 3)', async () => {
    for (const serverId of ['built-in', 'default']) {
      const document = (await (await fetch(`${service.issuer(serverId)}/.well-known/openid-configuration`)).json()) as {
        acr_values_supported: unknown;
      };
      assert.deepEqual(document.acr_values_supported, [ONE_FACTOR, TWO_FACTORS]);
    }
  });

  for (const [how, parameters] of Object.entries({
    acr_values: { acr_values: TWO_FACTORS },
    'acr_values with unknown ones before': { acr_values: `unknown ${TWO_FACTORS}` },
    'the claim acr': { claims: acrClaim({ values: [TWO_FACTORS] }) },
    'the essential claim acr': { claims: acrClaim({ essential: true, value: TWO_FACTORS }) },
  })) {
    await t.test(`step-up by ${how}: only the factor is asked for, and the time of the sign-in stays`, async (t) => {
      const { browser, page, user } = await signedIn();
      const before = await claimsOf(page);
      assert.equal(answerOf(await browser.visit(request({ ...parameters, prompt: 'none' }))).error, 'login_required');
      moveClock(t, 100);
      const asked = await browser.visit(request(parameters));
      asksToEnrol(asked);
      assert.ok(asked.text.includes(user.login));
      const enrolled = await enrol(browser, asked);
      const claims = await claimsOf(enrolled.page);
      assert.deepEqual([claims.sub, claims.acr, claims.amr], [user.id, TWO_FACTORS, ['pwd', 'otp', 'mfa']]);
      assert.equal(claims.auth_time, before.auth_time);
      isDone(await browser.visit(request({ ...parameters, prompt: 'none' })));
      assert.equal(
        (await claimsOf(await browser.visit(request({ prompt: 'none' }, client, 'default')), client, 'default')).acr,
        TWO_FACTORS,
      );
    });
  }

  await t.test('a request for one factor is met by two, and told as one where that is the only class wanted', async () => {
    const user = await enrolledUser(service);
    const browser = newBrowser();
    asksForFactor(await browser.signIn(await browser.visit(request({ acr_values: ONE_FACTOR })), user));
    const page = await browser.submit(
      await browser.visit(request({ acr_values: ONE_FACTOR })).then((again) => browser.signIn(again, user)),
      'factor-form',
      {
        passCode: codeOf(user.secret, 1),
      },
    );
    assert.equal((await claimsOf(page)).acr, ONE_FACTOR);
    const essential = await browser.visit(request({ prompt: 'none', claims: acrClaim({ essential: true, values: [ONE_FACTOR] }) }));
    assert.equal((await claimsOf(essential)).acr, ONE_FACTOR);
    assert.equal((await claimsOf(await browser.visit(request({ prompt: 'none' })))).acr, TWO_FACTORS);
  });

  await t.test(
    'an essential class that does not exist: unmet_authentication_requirements; a voluntary one is ignored (Core 5.5.1.1)',
    async () => {
      const { browser } = await signedIn();
      const essential = await browser.visit(request({ claims: acrClaim({ essential: true, value: 'urn:example:gold' }) }));
      assert.equal(answerOf(essential).error, 'unmet_authentication_requirements');
      isDone(await browser.visit(request({ acr_values: 'urn:example:gold' })));
      isDone(await browser.visit(request({ claims: acrClaim({ values: ['urn:example:gold'] }) })));
      assert.equal(answerOf(await browser.visit(request({ claims: acrClaim({ values: 'urn:example:gold' }) }))).error, 'invalid_request');
    },
  );

  await t.test('an application that requires it asks all its users, signed in or not', async () => {
    const { browser } = await signedIn();
    assert.equal(answerOf(await browser.visit(request({ prompt: 'none' }, strict))).error, 'login_required');
    const asked = await browser.visit(request({}, strict));
    asksToEnrol(asked);
    const { page } = await enrol(browser, asked);
    assert.equal((await claimsOf(page, strict)).acr, TWO_FACTORS);
    const user = await service.createUser();
    const fresh = newBrowser();
    asksToEnrol(await fresh.signIn(await fresh.visit(request({}, strict)), user));
    assert.equal((await service.api('GET', `/apps/${strict.clientId}`)).body.settings.oauthClient.mfa_required, true);
  });

  await t.test('a session token of one factor does not open such an application', async () => {
    const user = await service.createUser();
    const answer = await fetch(`${service.listensAt}/api/v1/authn`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: user.login, password: user.password }),
    });
    const { sessionToken, status } = (await answer.json()) as { sessionToken: string; status: string };
    assert.equal(status, 'SUCCESS');
    assert.equal(answerOf(await newBrowser().visit(request({ sessionToken, prompt: 'none' }, strict))).error, 'login_required');
  });

  await t.test('the policy EVERYONE holds for sessions that were there before, and ADMINISTRATORS for administrators alone', async () => {
    const { browser } = await signedIn();
    const administrator = await signedIn();
    // Which ends the session.
    await service.api('POST', `/users/${administrator.user.id}/roles`, { type: 'READ_ONLY_ADMIN' });
    isDone(await administrator.browser.signIn(await administrator.browser.visit(request()), administrator.user));
    try {
      assert.equal((await policy('ADMINISTRATORS')).body.mfa, 'ADMINISTRATORS');
      isDone(await browser.visit(request()));
      asksToEnrol(await administrator.browser.visit(request()));
      await policy('EVERYONE');
      asksToEnrol(await browser.visit(request()));
      assert.equal(answerOf(await browser.visit(request({ prompt: 'none' }))).error, 'login_required');
      const standalone = newBrowser();
      asksToEnrol(await standalone.signIn(await standalone.visit('/signin'), await service.createUser()));
    } finally {
      await policy('OPTIONAL');
    }
    isDone(await browser.visit(request()));
    assert.deepEqual((await service.api('PUT', '/settings/sign-in', { mfa: 'SOMETIMES' })).status, 400);
  });

  await t.test('max_age passed: password and factor again, and a new auth_time (Core 3.1.2.1)', async (t) => {
    const user = await enrolledUser(service);
    const browser = newBrowser();
    const first = await browser.submit(await browser.signIn(await browser.visit(request()), user), 'factor-form', {
      passCode: codeOf(user.secret, 1),
    });
    const before = await claimsOf(first);
    moveClock(t, 200);
    assert.equal(answerOf(await browser.visit(request({ max_age: '100', prompt: 'none' }))).error, 'login_required');
    const asked = await browser.signIn(await browser.visit(request({ max_age: '100' })), user);
    asksForFactor(asked);
    const claims = await claimsOf(await browser.submit(asked, 'factor-form', { passCode: codeOf(user.secret) }));
    assert.ok(claims.auth_time >= before.auth_time + 200);
  });

  await t.test(
    'who has no factor yet sets none up by an old session: the password is asked for again (OWASP, "Changing MFA Factors")',
    async (t) => {
      const { browser, user } = await signedIn();
      moveClock(t, 901);
      const asked = await browser.visit(request({ acr_values: TWO_FACTORS }));
      assert.match(asked.text, /id="sign-in-form"/);
      assert.ok(asked.text.includes(`value="${user.login}"`));
      const { page } = await enrol(browser, await browser.signIn(asked, user));
      const { amr, auth_time } = await claimsOf(page);
      assert.deepEqual(amr, ['pwd', 'otp', 'mfa']);
      assert.ok(auth_time >= Math.floor(Date.now() / 1000) - 30, 'a sign-in of its own');
      const plain = await enrolledUser(service);
      const before = newBrowser();
      const home = await before.submit(await before.signIn(await before.visit(request()), plain), 'factor-form', {
        passCode: codeOf(plain.secret, 1),
      });
      isDone(home);
      isDone(await before.visit(request({ acr_values: TWO_FACTORS })));
    },
  );

  await t.test('another user can sign in where the factor is asked for', async () => {
    const { browser } = await signedIn();
    const other = await enrolledUser(service);
    const asked = await browser.visit(request({ acr_values: TWO_FACTORS }));
    const form = await browser.submit(asked, 'restart-form');
    const page = await browser.submit(await browser.signIn(form, other), 'factor-form', { passCode: codeOf(other.secret, 1) });
    assert.equal((await claimsOf(page)).sub, other.id);
  });

  await t.test('the password grant refuses who needs a second factor: invalid_grant, with the reason', async () => {
    const grants = { grant_types: ['password', 'authorization_code'] };
    const [open, closed] = [await createClient(service, grants), await createClient(service, { ...grants, mfa_required: true })];
    const grant = ({ login, password }: { login: string; password: string }, of = open) =>
      post(service, 'default', 'token', of, { grant_type: 'password', username: login, password, scope: 'openid' });
    const plain = await service.createUser();
    const allowed = await grant(plain);
    assert.equal(allowed.status, 200);
    assert.equal(JSON.parse(Buffer.from(allowed.body.id_token.split('.')[1], 'base64url').toString()).acr, ONE_FACTOR);
    const enrolled = await enrolledUser(service);
    for (const answer of [await grant(enrolled), await grant(plain, closed)]) {
      assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
      assert.match(answer.body.error_description, /second factor/);
    }
    await policy('EVERYONE');
    try {
      assert.equal((await grant(plain)).body.error, 'invalid_grant');
    } finally {
      await policy('OPTIONAL');
    }
    assert.doesNotMatch((await grant({ ...enrolled, password: 'wrong' })).body.error_description, /second factor/);
  });
});
