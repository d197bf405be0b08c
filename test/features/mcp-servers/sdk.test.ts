/**
 * The official MCP SDK, client and server as they are: from nothing but the URL of an MCP server to a tool call. The authorization server is set up by
 * the console's form, and the MCP server is the snippet of the console's page (RFC 9728, RFC 8707, RFC 7591, client ID metadata documents).
 */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type OAuthClientProvider, UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { OAuthClientInformationMixed, OAuthClientMetadata, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { decodeJwt } from 'jose';
import { wordsOf } from '../../pages/console/administrators.ts';
import { documentHost } from '../../support/https-host.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { callTool, copied, protectedServer, transportOf } from './protected-server.ts';

const CALLBACK = 'http://127.0.0.1:33418/callback';

/** What an MCP client keeps; it opens no browser, but tells where one would go. */
class Agent implements OAuthClientProvider {
  kept: { client?: OAuthClientInformationMixed; tokens?: OAuthTokens; verifier?: string; asked?: URL } = {};
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: 'Agent',
    redirect_uris: [CALLBACK],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };

  readonly clientMetadataUrl?: string;

  /** @param id of a client that introduces itself */
  constructor(id?: string) {
    if (id !== undefined) this.clientMetadataUrl = id;
  }

  clientInformation = () => this.kept.client;
  saveClientInformation = (client: OAuthClientInformationMixed): void => void Object.assign(this.kept, { client });
  tokens = () => this.kept.tokens;
  saveTokens = (tokens: OAuthTokens): void => void Object.assign(this.kept, { tokens });
  saveCodeVerifier = (verifier: string): void => void Object.assign(this.kept, { verifier });
  codeVerifier = () => this.kept.verifier ?? '';
  redirectToAuthorization = (asked: URL): void => void Object.assign(this.kept, { asked });
}

/** The agent asks, its user signs in and allows. @returns the consent page, and whether the tool was called for this user */
async function connect(t: TestContext, service: Service, url: string, agent: Agent) {
  const user = await service.createUser();
  const first = transportOf(url, agent as OAuthClientProvider);
  await assert.rejects(new Client({ name: 'agent', version: '1.0.0' }).connect(first as Transport), UnauthorizedError);
  const browser = new UserAgent(service.baseUrl);
  const consent = await browser.signIn(await browser.visit(agent.kept.asked ?? ''), user);
  const back = await browser.submit(consent, 'consent', { decision: 'allow' });
  assert.equal(back.url.href.split('?')[0], CALLBACK, back.text.slice(0, 500));
  await first.finishAuth(back.url.searchParams.get('code') ?? '');
  assert.equal(await callTool(t, url, agent as OAuthClientProvider), user.id);
  return { consent, user };
}

test('the official MCP SDK: from an empty configuration to a tool call', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const { url, page } = await protectedServer(t, service);

  await t.test('the page tells the document that the MCP server publishes', async () => {
    const told = JSON.parse(copied(page, 'protected-resource'));
    const [, address = ''] = /resource_metadata="([^"]*)"/.exec(copied(page, 'unauthorized')) ?? [];
    const refused = await fetch(url, { method: 'POST' });
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get('www-authenticate') ?? '', new RegExp(`resource_metadata="${address}"`));
    const { bearer_methods_supported: methods, ...document } = told;
    assert.deepEqual([methods, await (await fetch(address)).json()], [['header'], document]);
    assert.deepEqual(document.scopes_supported, ['notes:read', 'notes:write']);
  });

  await t.test('a client introduces itself by its document', async (t) => {
    const host = await documentHost(t);
    const agent = new Agent(
      host.publish('/agent.json', { redirect_uris: ['http://127.0.0.1/callback'], grant_types: ['authorization_code', 'refresh_token'] }),
    );
    const { consent } = await connect(t, service, url, agent);
    const words = wordsOf(consent);
    assert.match(words, /Agent is not verified by this service\. It comes from localhost:\d+\./);
    assert.match(words, /Agent asks for Read your notes Change your notes Stay connected/);
    assert.ok(words.includes(`Agent can act in your name at ${url.replace('http://', '')} without asking you each time.`), words);
    const { aud, scope } = decodeJwt(agent.kept.tokens?.access_token ?? '');
    assert.deepEqual([aud, scope], [url, 'notes:read notes:write offline_access']);
    assert.equal(agent.kept.client?.client_id, agent.clientMetadataUrl);
  });

  await t.test('a client registers itself, and refreshes when its token is refused', async (t) => {
    const agent = new Agent();
    const { consent, user } = await connect(t, service, url, agent);
    assert.match(wordsOf(consent), /Agent is not verified by this service\. It is a program on this device\./);
    const { tokens } = agent.kept;
    assert.ok(tokens?.refresh_token !== undefined);
    agent.kept.tokens = { ...tokens, access_token: 'expired' };
    assert.equal(await callTool(t, url, agent as OAuthClientProvider), user.id);
    assert.notEqual(agent.kept.tokens?.refresh_token, tokens.refresh_token, 'it was refreshed, and asked nobody');
  });
});
