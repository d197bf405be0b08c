/** The authorization code flow as an application and its browser go through it (OpenID Connect Core section 3.1). */
import { randomBytes } from 'node:crypto';
import { Browser, put } from './http.ts';
import { CALLBACK, PERSON, SCOPE, type Seat, type Target } from './target.ts';

/**
 * Sends an authorization request. Where the server has no pages, accepts the sign-in and the consent at its API, as its operator's application would.
 * @returns the page at the end, or the address outside
 */
export async function authorize(
  browser: Browser,
  { clientId, scope = SCOPE, signInApi }: Target,
  { server, login }: Seat,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: URL; readonly text: string }> {
  const state = randomBytes(16).toString('hex');
  const query = { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, scope, state, nonce: state, ...more };
  let page = await browser.visit(new URL(`${server.opaque.authorize}?${new URLSearchParams(query)}`));
  if (signInApi === undefined) return page;
  const decisions = {
    login: { subject: login, remember: true },
    consent: { grant_scope: scope.split(' '), remember: true, session: { id_token: { email: login, ...PERSON } } },
  };
  for (const [step, decision] of Object.entries(decisions)) {
    const challenge = page.url.searchParams.get(`${step}_challenge`);
    if (challenge === null) throw new Error(`no ${step}: ${page.url} ${page.text.slice(0, 500)}`);
    const accept = new URL(`${signInApi}/${step}/accept?${new URLSearchParams({ [`${step}_challenge`]: challenge })}`);
    const { redirect_to } = await put(accept, decision);
    page = await browser.visit(new URL(String(redirect_to)));
  }
  return page;
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

/** @returns where the form of the sign-in is sent, with its hidden fields @throws when there is none */
export function signInForm(page: { readonly url: URL; readonly text: string }): { readonly action: URL; readonly form: URLSearchParams } {
  const [, opening = '', content = ''] = /<form([^>]*\sid="(?:sign-in-form|kc-form-login)"[^>]*)>([\s\S]*?)<\/form>/.exec(page.text) ?? [];
  if (opening === '') throw new Error(`no form: ${page.url} ${page.text.slice(0, 500)}`);
  const form = new URLSearchParams();
  for (const [tag] of content.matchAll(/<input[^>]*\stype="hidden"[^>]*>/g))
    form.set(attribute(tag, 'name') ?? '', attribute(tag, 'value') ?? '');
  return { action: new URL(attribute(opening, 'action') ?? '', page.url), form };
}

/** A person without a session asks for a code, gets the page, types login and password. @returns the code */
export async function signIn(browser: Browser, target: Target, seat: Seat): Promise<string> {
  const page = await authorize(browser, target, seat);
  if (target.signInApi !== undefined) return codeIn(page.url);
  const { action, form } = signInForm(page);
  form.set('username', seat.login);
  form.set('password', target.password);
  const { url } = await browser.visit(action, form.toString());
  return codeIn(url);
}

export async function signedIn(target: Target, seat: Seat): Promise<Browser> {
  const browser = new Browser();
  await signIn(browser, target, seat);
  return browser;
}
