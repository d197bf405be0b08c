/** A sign-in that waits for its next step ends with the sessions of its user, and whatever else he has reached (OWASP Session Management Cheat Sheet). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, enrolledUser } from '../support/factors.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

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
