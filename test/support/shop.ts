/** A small shop on openid-client, for stories in a browser. */
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import * as client from 'openid-client';
import type { Page } from 'playwright-core';
import { listen } from './listen.ts';
import type { Service } from './service.ts';

/** The shop: its button begins a sign-in, and its page shows the claims of the ID token. */
export async function openShop(
  t: TestContext,
  service: Service,
  { settings = {}, scope = 'openid profile roles' }: { readonly settings?: object; readonly scope?: string } = {},
) {
  let answer: (url: URL, res: ServerResponse) => Promise<void>;
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    answer(new URL(req.url ?? '/', origin), res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });
  const redirect_uri = `${origin}/callback`;
  const { clientId, clientSecret } = await service.createApp({ redirect_uris: [redirect_uri], client_uri: origin, ...settings });
  const configuration = await client.discovery(
    new URL(service.issuer('default')),
    clientId,
    undefined,
    client.ClientSecretBasic(clientSecret ?? ''),
    { execute: [client.allowInsecureRequests] },
  );
  const orders = new Map<string, { readonly pkceCodeVerifier: string; readonly expectedNonce: string }>();
  let accessToken = '';
  answer = async (url, res) => {
    if (url.pathname === '/callback') {
      const expectedState = url.searchParams.get('state') ?? '';
      const tokens = await client.authorizationCodeGrant(configuration, url, { expectedState, ...orders.get(expectedState) });
      accessToken = tokens.access_token;
      const claims = JSON.stringify(tokens.claims()).replaceAll('<', '\\u003c');
      return void res
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><title>Shop</title><pre id="claims">${claims}</pre>`);
    }
    if (url.pathname !== '/buy') return void res.writeHead(204).end();
    const [state, nonce, pkceCodeVerifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
    orders.set(state, { pkceCodeVerifier, expectedNonce: nonce });
    const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier);
    const parameters = { redirect_uri, scope, state, nonce, code_challenge, code_challenge_method: 'S256' };
    const address = client.buildAuthorizationUrl(configuration, { ...parameters, ...Object.fromEntries(url.searchParams) });
    res.writeHead(302, { location: address.href }).end();
  };
  return {
    clientId,
    /** Of the sign-in before. */
    accessToken: () => accessToken,
    isActive: async (token: string) => (await client.tokenIntrospection(configuration, token)).active,
    buy: (parameters: Record<string, string> = {}) => `${origin}/buy?${new URLSearchParams(parameters)}`,
  };
}

/** What the shop's page shows. */
export async function claimsOn(page: Page): Promise<Record<string, unknown>> {
  await page.waitForSelector('#claims');
  return JSON.parse((await page.textContent('#claims')) ?? '');
}
