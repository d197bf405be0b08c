/** The authorization code flow as an application and its browser go through it (OpenID Connect Core section 3.1). */
import { randomBytes } from 'node:crypto';
import { Browser } from './http.ts';
import { CALLBACK, SCOPE, type Seat, type Target } from './target.ts';

export function authorizationUrl(server: string, clientId: string, more: Readonly<Record<string, string>> = {}): URL {
  const state = randomBytes(16).toString('hex');
  const query = { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, scope: SCOPE, state, nonce: state, ...more };
  return new URL(`${server}/authorize?${new URLSearchParams(query)}`);
}

/** @throws when the application was told of an error, or was not reached */
export function codeIn(url: URL): string {
  const code = url.searchParams.get('code');
  if (code === null) throw new Error(`no code: ${url}`);
  return code;
}

export const exchangeForm = (code: string): string =>
  `grant_type=authorization_code&code=${code}&redirect_uri=${encodeURIComponent(CALLBACK)}`;

const decodeEntities = (text: string): string => text.replaceAll('&#34;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : decodeEntities(value);
};

/** A person without a session asks for a code, gets the page, types login and password. @returns the code */
export async function signIn(browser: Browser, { clientId, password }: Target, { server, login }: Seat): Promise<string> {
  const page = await browser.visit(authorizationUrl(server.opaque, clientId));
  const [, opening = '', content = ''] = /<form([^>]*\sid="sign-in-form"[^>]*)>([\s\S]*?)<\/form>/.exec(page.text) ?? [];
  const form = new URLSearchParams();
  for (const [tag] of content.matchAll(/<input[^>]*\stype="hidden"[^>]*>/g))
    form.set(attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? '');
  form.set('username', login);
  form.set('password', password);
  const { url } = await browser.visit(new URL(attribute(opening, 'action') ?? '', page.url), form.toString());
  return codeIn(url);
}

export async function signedIn(target: Target, seat: Seat): Promise<Browser> {
  const browser = new Browser();
  await signIn(browser, target, seat);
  return browser;
}
