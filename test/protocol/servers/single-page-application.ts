/**
 * A single-page application at an origin of its own: nothing but static files and the library `oidc-client-ts` as its makers ship it for browsers.
 * Its pages carry a strict content security policy, as a careful application's would; a test drives it through `app` in the page.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { TestContext } from 'node:test';
import type { Page } from 'playwright-core';
import { listen } from '../../support/listen.ts';
import type { ServiceCalls } from '../../support/service.ts';

const LIBRARY = readFileSync(
  createRequire(import.meta.url)
    .resolve('oidc-client-ts')
    .replace(/dist\/.*$/, 'dist/browser/oidc-client-ts.min.js'),
);

export interface SinglePageApplication {
  readonly origin: string;
  readonly clientId: string;
}

export interface SinglePageOptions {
  /** `localhost` is the service's own site, whatever the port; `127.0.0.1` another one. */
  readonly host?: 'localhost' | '127.0.0.1';
  readonly serverId?: string;
  readonly scope?: string;
  readonly settings?: Record<string, unknown>;
}

/** What the library keeps of a signed-in user. */
export interface KeptUser {
  readonly access_token: string;
  readonly refresh_token: string | undefined;
  readonly id_token: string;
  readonly scope: string;
  readonly profile: Readonly<Record<string, unknown>>;
}

/** The script of every page: each path ends one of the library's ways. */
const script = (settings: Record<string, unknown>): string => `
  const events = [];
  const app = new oidc.UserManager({ ...${JSON.stringify(settings)}, userStore: new oidc.WebStorageStateStore({ store: localStorage }) });
  for (const name of ['SilentRenewError', 'AccessTokenExpired', 'UserSignedOut']) app.events['add' + name](() => events.push(name));
  const show = (outcome) => { document.querySelector('#outcome').textContent = outcome; };
  const endings = {
    '/callback': () => app.signinRedirectCallback().then(() => 'signed in'),
    '/popup': () => app.signinPopupCallback().then(() => 'popup done'),
    '/silent': () => app.signinSilentCallback().then(() => 'silent done'),
    '/signed-out': () => app.signoutRedirectCallback().then((response) => 'signed out ' + (response.userState ?? '')),
  };
  addEventListener('DOMContentLoaded', () => {
    (endings[location.pathname] ?? (async () => 'ready'))().then(show, (error) => show('failed: ' + (error.error ?? error.message)));
  });
`;

const PAGE = `<!doctype html><html lang="en"><title>Single page</title><link rel="icon" href="data:,">
<script src="/oidc-client-ts.js"></script><script src="/app.js"></script>
<button id="popup" type="button">Sign in</button><p id="outcome"></p></html>`;

/** Registers the application with its origin and serves its files until the test ends. */
export async function serveSinglePage(
  t: TestContext,
  service: ServiceCalls,
  { host = 'localhost', serverId = 'default', scope = 'openid profile email', settings = {} }: SinglePageOptions = {},
): Promise<SinglePageApplication> {
  let code = '';
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    'img-src data:',
    `connect-src ${service.baseUrl}`,
    `frame-src 'self' ${service.baseUrl}`,
    "frame-ancestors 'self'",
  ].join('; ');
  const origin = await listen(t, host, (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://localhost');
    if (pathname.endsWith('.js')) {
      res.setHeader('content-type', 'text/javascript');
      return void res.end(pathname === '/app.js' ? code : LIBRARY);
    }
    res.setHeader('content-type', 'text/html; charset=utf-8');
    res.setHeader('content-security-policy', policy);
    res.end(PAGE);
  });

  const { clientId } = await service.createApp(
    {
      application_type: 'browser',
      redirect_uris: ['/callback', '/popup', '/silent'].map((path) => origin + path),
      post_logout_redirect_uris: [`${origin}/signed-out`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      allowed_origins: [origin],
      ...settings,
    },
    { token_endpoint_auth_method: 'none' },
  );
  code = script({
    authority: service.issuer(serverId),
    client_id: clientId,
    redirect_uri: `${origin}/callback`,
    popup_redirect_uri: `${origin}/popup`,
    silent_redirect_uri: `${origin}/silent`,
    post_logout_redirect_uri: `${origin}/signed-out`,
    scope,
    loadUserInfo: true,
    automaticSilentRenew: false,
    silentRequestTimeoutInSeconds: 10,
  });
  return { origin, clientId };
}

/** The page has come to the end of what its path is for. @returns what it says */
export async function outcomeOn(page: Page, path: string): Promise<string> {
  await page.waitForURL((url) => url.pathname === path);
  await page.waitForSelector('#outcome:not(:empty)');
  return (await page.textContent('#outcome')) ?? '';
}

/** Calls the library in the page. @param call e.g. `signinSilent()` */
export const inPage = (page: Page, call: string): Promise<unknown> =>
  page.evaluate(
    `app.${call}.then((value) => JSON.parse(JSON.stringify(value ?? null)), (error) => ({ failed: error.error ?? error.message }))`,
  );

export const keptUser = async (page: Page): Promise<KeptUser | null> => (await inPage(page, 'getUser()')) as KeptUser | null;

/** Begins the redirect to the authorization server; the page is left. */
export async function leaveToSignIn(page: Page, parameters: Record<string, unknown> = {}): Promise<void> {
  await page.evaluate(`void app.signinRedirect(${JSON.stringify(parameters)})`);
}
