/** A sign-in that waits for its next step ends with the sessions of its user, and whatever else he has reached (OWASP Session Management Cheat Sheet). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { codeOf, enrolledUser } from '../../support/factors.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('what ends a user’s sessions ends his sign-ins under way', async (t) => {
  const service = await startService(t);
  const endings: Record<string, (id: string) => Promise<{ status: number }>> = {
    'sessions are cleared': (id) => service.api('DELETE', `/users/${id}/sessions`),
    'sessions and tokens are cleared': (id) => service.api('DELETE', `/users/${id}/sessions?oauthTokens=true`),
    'a role is granted': (id) => service.api('POST', `/users/${id}/roles`, { type: 'READ_ONLY_ADMIN' }),
    'the password is expired': (id) => service.api('POST', `/users/${id}/lifecycle/expire_password`),
    'the password is reset': (id) => service.api('POST', `/users/${id}/lifecycle/reset_password?sendEmail=false`),
    'the password is set': (id) => service.api('POST', `/users/${id}`, { credentials: { password: { value: 'another password of his' } } }),
    'the factors are reset': (id) => service.api('POST', `/users/${id}/lifecycle/reset_factors`),
    'the user is suspended': (id) => service.api('POST', `/users/${id}/lifecycle/suspend`),
  };
  for (const [what, end] of Object.entries(endings)) {
    const user = await enrolledUser(service);
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit('/signin'), user);
    assert.match(page.text, /id="factor-form"/);
    const { body } = await service.api('POST', '/authn', { username: user.login, password: user.password });
    assert.ok((await end(user.id)).status < 300, what);
    const after = await browser.submit(page, 'factor-form', { passCode: codeOf(user.secret, 1) });
    assert.match(after.text, /id="sign-in-form"/, what);
    const verify = `/authn/factors/${body._embedded.factors[0].id}/verify`;
    assert.equal((await service.api('POST', verify, { stateToken: body.stateToken, passCode: codeOf(user.secret, 1) })).status, 401, what);
  }
});

test('what ends a user’s sessions ends his sign-ins that are done and have no session yet', async (t) => {
  const service = await startService(t);
  const { clientId } = await createClient(service);
  const request = (parameters: Record<string, string> = {}) => authorizeUrl(service, 'built-in', { client_id: clientId, ...parameters });
  const endings: Record<string, (id: string) => Promise<{ status: number }>> = {
    nothing: async () => ({ status: 200 }),
    'sessions are cleared': (id) => service.api('DELETE', `/users/${id}/sessions`),
    'a role is granted': (id) => service.api('POST', `/users/${id}/roles`, { type: 'READ_ONLY_ADMIN' }),
    'the password is set': (id) => service.api('POST', `/users/${id}`, { credentials: { password: { value: 'another password of his' } } }),
    'the user is suspended, and back': async (id) => {
      await service.api('POST', `/users/${id}/lifecycle/suspend`);
      return service.api('POST', `/users/${id}/lifecycle/unsuspend`);
    },
  };
  for (const [what, end] of Object.entries(endings)) {
    const { id, login: username, password } = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.visit(request());
    const form = new URL(/id="sign-in-form" method="post" action="([^"]+)"/.exec(page.text)?.[1] ?? '', page.url);
    const headers = { origin: service.baseUrl, 'sec-fetch-site': 'same-origin' };
    const done = await browser.send(form, { method: 'POST', headers, body: new URLSearchParams({ username, password }) });
    assert.equal(done.status, 303);
    const { body } = await service.api('POST', '/authn', { username, password });
    assert.ok((await end(id)).status < 300, what);

    const after = answerOf(await browser.visit(done.headers.get('location') ?? ''));
    const byToken = answerOf(await new UserAgent(service.baseUrl).visit(request({ prompt: 'none', sessionToken: body.sessionToken })));
    const goesOn = what === 'nothing';
    assert.deepEqual([after.code !== undefined, byToken.code !== undefined], [goesOn, goesOn], what);
    if (!goesOn) assert.equal(answerOf(await browser.visit(request({ prompt: 'none' }))).error, 'login_required', what);
  }
});
