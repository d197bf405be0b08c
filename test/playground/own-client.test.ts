/** The playground with an application of one's own: public with PKCE (RFC 7636), or with a secret that no page shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardAddress } from '../../src/playground/presentation.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { press, textOf } from './story.ts';

test('one’s own application signs in by its registered method; its secret is in no page and no address', async (t) => {
  const service = await startService(t);
  const user = await service.createUser({ firstName: 'Ada' });
  const redirect_uris = [`${service.baseUrl}/playground/callback`];
  for (const method of ['none', 'client_secret_basic', 'client_secret_post']) {
    const { clientId, clientSecret } = await service.createApp(
      { redirect_uris, ...(method === 'none' && { application_type: 'browser' }), grant_types: ['authorization_code', 'refresh_token'] },
      { token_endpoint_auth_method: method },
    );
    const agent = new UserAgent(service.baseUrl);
    const start = await agent.visit('/playground');
    assert.equal(textOf(start, 'redirect-uri'), redirect_uris[0]);
    const asked = await agent.submit(start, 'playground-start', {
      ...{ client_id: clientId, client_auth: method, client_secret: clientSecret ?? '' },
      ...{ server: 'default', response_type: 'code', scope: ['openid', 'profile', 'offline_access'] },
    });
    const result = await agent.signIn(asked, user);
    assert.equal(result.status, 200, result.text);
    assert.equal(JSON.parse(textOf(result, 'id-token-claims')).aud, clientId, method);
    const renewed = await press(agent, result, 'refresh refresh-token');
    assert.match(renewed.text, /id="happened"/, method);
    if (clientSecret === undefined) continue;
    for (const page of [asked, result, renewed])
      assert.ok(!page.text.includes(clientSecret) && !page.url.href.includes(clientSecret), method);
  }
});

test('a secret that is missing is asked for, and the choices stay', async (t) => {
  const service = await startService(t);
  const agent = new UserAgent(service.baseUrl);
  const start = await agent.visit('/playground');
  const refused = await agent.submit(start, 'playground-start', {
    client_id: 'mine',
    client_auth: 'client_secret_basic',
    response_type: 'code',
  });
  assert.equal(refused.status, 400);
  assert.equal(textOf(refused, 'error-code'), 'no_client_secret');
  assert.match(refused.text, /name="client_id" id="client_id" value="mine"/);
});

test('what the playground cites leads to the section', () => {
  for (const [source, address] of [
    ['RFC 6749, section 4.1.3', 'https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3'],
    ['OpenID Connect Core 1.0, section 5.1', 'https://openid.net/specs/openid-connect-core-1_0.html#rfc.section.5.1'],
    ['Gatehouse', undefined],
  ] as const)
    assert.equal(standardAddress(source), address);
});
