/**
 * An application at an address of its own, on another site than the service: a relying party on `openid-client` (OpenID Connect Core 1.0
 * section 3.1) that shows on its callback page what it received.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import * as client from 'openid-client';
import type { Page } from 'playwright-core';
import { listen } from '../../support/listen.ts';
import type { Service } from '../../support/service.ts';

export interface Application {
  readonly origin: string;
  readonly clientId: string;
  /** The application's own address that begins a sign-in; the query is added to its authorization request. */
  start(parameters?: Record<string, string>): string;
}

/** What the callback page shows. */
export interface Outcome {
  readonly sub?: string;
  readonly scope?: string;
  readonly error?: string;
  readonly error_description?: string;
}

export const outcomeOf = async (page: Page): Promise<Outcome> => JSON.parse((await page.textContent('#outcome')) ?? '');

/** Registers an application with these settings at the server `default` and runs it until the test ends. */
export async function runApplication(t: TestContext, service: Service, settings: Record<string, unknown> = {}): Promise<Application> {
  let answer: (req: IncomingMessage, url: URL, res: ServerResponse) => Promise<void>;
  // Not `localhost`: that would be the service's own site, and its cookies would travel more freely.
  const origin = await listen(t, '127.0.0.1', (req, res) => {
    answer(req, new URL(req.url ?? '/', origin), res).catch((error: unknown) => res.writeHead(500).end(String(error)));
  });

  const redirectUri = `${origin}/callback`;
  const { clientId, clientSecret } = await service.createApp({ redirect_uris: [redirectUri], client_uri: origin, ...settings });
  const options = { execute: [client.allowInsecureRequests] };
  const authentication = client.ClientSecretBasic(clientSecret ?? '');
  const configuration = await client.discovery(new URL(service.issuer('default')), clientId, undefined, authentication, options);
  const verifiers = new Map<string, string>();

  const begin = async (extra: Record<string, string>): Promise<URL> => {
    const state = client.randomState();
    const verifier = client.randomPKCECodeVerifier();
    verifiers.set(state, verifier);
    const code_challenge = await client.calculatePKCECodeChallenge(verifier);
    return client.buildAuthorizationUrl(configuration, { redirect_uri: redirectUri, scope: 'openid', state, code_challenge, ...extra });
  };

  const finish = async (response: URL): Promise<Outcome> => {
    const state = response.searchParams.get('state') ?? '';
    const pkceCodeVerifier = verifiers.get(state) ?? '';
    verifiers.delete(state);
    try {
      const tokens = await client.authorizationCodeGrant(configuration, response, { expectedState: state, pkceCodeVerifier });
      return { sub: tokens.claims()?.sub ?? '', scope: tokens.scope ?? '' };
    } catch (error) {
      if (!(error instanceof client.AuthorizationResponseError)) throw error;
      return { error: error.error, error_description: error.error_description ?? '' };
    }
  };

  answer = async (req, url, res) => {
    if (url.pathname === '/start')
      return void res.writeHead(302, { location: (await begin(Object.fromEntries(url.searchParams))).href }).end();
    if (url.pathname === '/')
      return void res.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Application</title>');
    if (url.pathname !== '/callback') return void res.writeHead(204).end();
    // form_post (OAuth 2.0 Form Post Response Mode): the same parameters, in the body.
    if (req.method === 'POST') url.search = await text(req);
    const outcome = JSON.stringify(await finish(url)).replaceAll('<', '\\u003c');
    res.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>Application</title><pre id="outcome">${outcome}</pre>`);
  };

  return { origin, clientId, start: (parameters = {}) => `${origin}/start?${new URLSearchParams(parameters)}` };
}
