/**
 * MCP's enterprise-managed authorization with the official SDK: the user signs in to the agent at the company's identity provider, and the agent calls the
 * tool of another party's MCP server by an ID-JAG. Nobody visits the second authorization server.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { decodeJwt } from 'jose';
import * as client from 'openid-client';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { trustProvider } from '../../support/trusted-provider.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { callTool, protectedServer } from './protected-server.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

test('an agent calls the tool of an MCP server by the ID-JAG of its company', async (t) => {
  const company = await startService(t);
  const vendor = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const { url } = await protectedServer(t, vendor);
  const employee = await company.createUser();
  const { user } = await trustProvider(vendor, company.issuer('default'), employee.id);
  const there = await vendor.createApp({ application_type: 'service', grant_types: [GRANT] });
  const audience = vendor.issuer('notes');
  const here = await createClient(company, {
    grant_types: ['authorization_code', EXCHANGE],
    id_jag_targets: [{ audience, client_id: there.clientId }],
  });
  const signedIn = await tokensFor(company, new UserAgent(company.baseUrl), employee, here, { serverId: 'default', scope: 'openid' });
  const idp = await client.discovery(new URL(company.issuer('default')), here.clientId, here.clientSecret ?? '', undefined, {
    execute: [client.allowInsecureRequests],
  });

  let kept: OAuthTokens | undefined;
  const agent: OAuthClientProvider = {
    redirectUrl: undefined,
    clientMetadata: { redirect_uris: [], grant_types: [GRANT], client_name: 'Agent' },
    clientInformation: () => ({ client_id: there.clientId, client_secret: there.clientSecret ?? '', issuer: audience }),
    tokens: () => kept,
    saveTokens(tokens) {
      kept = tokens;
    },
    async prepareTokenRequest() {
      const form = { subject_token: signedIn.body.id_token, subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' };
      const target = { requested_token_type: ID_JAG, audience, resource: url, scope: 'notes:read' };
      const issued = await client.genericGrantRequest(idp, EXCHANGE, { ...form, ...target });
      return new URLSearchParams({ grant_type: GRANT, assertion: issued.access_token });
    },
    redirectToAuthorization: () => assert.fail('nobody is asked'),
    saveCodeVerifier: () => assert.fail('there is no code'),
    codeVerifier: () => assert.fail('there is no code'),
  };
  assert.equal(await callTool(t, url, agent), user.id);
  const { aud, scope, client_id: by } = decodeJwt(kept?.access_token ?? '');
  assert.deepEqual([aud, scope, by], [url, 'notes:read', there.clientId]);
});
