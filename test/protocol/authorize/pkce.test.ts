/** Proof key for code exchange (RFC 7636, RFC 9700 section 2.1.1): what the authorize endpoint asks for. The token endpoint is the doctor's: authorize.code_challenge. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, challengeOf, createClient, verifier } from '../servers/relying-party.ts';

const EVERYTHING = {
  grant_types: ['authorization_code', 'implicit'],
  response_types: ['code', 'token', 'code token', 'code id_token token'],
};

for (const serverId of ['built-in', 'default']) {
  test(`code_challenge at the authorize endpoint: required of public applications and by pkce_required, S256 alone: ${serverId} server`, async (t) => {
    const service = await startService(t);
    const free = await createClient(service, EVERYTHING);
    const obliged = await createClient(service, EVERYTHING, { pkce_required: true });
    const open = await createClient(service, { ...EVERYTHING, application_type: 'browser' }, { token_endpoint_auth_method: 'none' });
    const code_challenge = challengeOf(verifier());
    const rows: [title: string, clientId: string, parameters: Record<string, string>, error: string][] = [
      ['confidential, none', free.clientId, {}, 'login_required'],
      ['confidential, S256 by default', free.clientId, { code_challenge }, 'login_required'],
      ['confidential, S256', free.clientId, { code_challenge, code_challenge_method: 'S256' }, 'login_required'],
      ['confidential, plain', free.clientId, { code_challenge, code_challenge_method: 'plain' }, 'invalid_request'],
      ['confidential, s256', free.clientId, { code_challenge, code_challenge_method: 's256' }, 'invalid_request'],
      ['a method without a challenge', free.clientId, { code_challenge_method: 'S256' }, 'invalid_request'],
      ['a challenge of 42 characters', free.clientId, { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
      ['a challenge of 129 characters', free.clientId, { code_challenge: 'a'.repeat(129) }, 'invalid_request'],
      ['a challenge of other characters', free.clientId, { code_challenge: `${'a'.repeat(42)}+` }, 'invalid_request'],
      ['public, none', open.clientId, {}, 'invalid_request'],
      ['public, none, hybrid', open.clientId, { response_type: 'code token' }, 'invalid_request'],
      ['public, an empty one', open.clientId, { code_challenge: '' }, 'invalid_request'],
      ['public, S256', open.clientId, { code_challenge }, 'login_required'],
      ['public, no code at all', open.clientId, { response_type: 'token' }, 'login_required'],
      ['pkce_required, none', obliged.clientId, {}, 'invalid_request'],
      ['pkce_required, none, hybrid', obliged.clientId, { response_type: 'code id_token token' }, 'invalid_request'],
      ['pkce_required, S256', obliged.clientId, { code_challenge }, 'login_required'],
    ];
    for (const [title, clientId, parameters, error] of rows) {
      const request = authorizeUrl(service, serverId, { client_id: clientId, prompt: 'none', ...parameters });
      const answer = answerOf(await new UserAgent(service.baseUrl).visit(request));
      assert.deepEqual([answer.error, answer.state], [error, 'some-state'], `${title}: ${answer.error_description}`);
    }
  });
}
