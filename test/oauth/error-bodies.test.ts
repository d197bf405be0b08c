/** Errors of token, introspect and revoke are JSON with `error` and `error_description`, and nothing else ("Errors"; RFC 6749 section 5.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { createClient, post, tokensFor } from './relying-party.ts';

test('an error has a code and a description, whatever it is about', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service, { grant_types: ['authorization_code', 'refresh_token', 'password', 'client_credentials'] });
  for (const serverId of ['built-in', 'default']) {
    const { body: tokens } = await tokensFor(service, new UserAgent(service.baseUrl), user, client, { serverId });
    const password = { grant_type: 'password', username: user.login, password: user.password };
    for (const [endpoint, form, expected] of [
      ['token', { grant_type: 'client_credentials', scope: 'nonsense' }, 'invalid_scope'],
      ['token', { ...password, scope: 'nonsense' }, 'invalid_scope'],
      ['token', { grant_type: 'refresh_token', refresh_token: tokens.refresh_token, scope: 'phone' }, 'invalid_scope'],
      ['token', { grant_type: 'refresh_token', refresh_token: 'nonsense' }, 'invalid_grant'],
      ['token', { ...password, password: 'wrong' }, 'invalid_grant'],
      ['token', { grant_type: 'nonsense' }, 'unsupported_grant_type'],
      ['introspect', {}, 'invalid_request'],
      ['revoke', {}, 'invalid_request'],
    ] as const) {
      const { body } = await post(service, serverId, endpoint, client, form as Record<string, string>);
      assert.deepEqual([body.error, Object.keys(body)], [expected, ['error', 'error_description']], JSON.stringify(form));
      assert.ok(body.error_description.length > 0);
    }
  }
});
