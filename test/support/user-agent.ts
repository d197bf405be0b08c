/**
 * A browser without JavaScript: keeps cookies as RFC 6265 says (names, paths, expiry), follows redirects inside the service, and fills in the
 * hosted pages by their hooks. It stops where it leaves for an application.
 */
import assert from 'node:assert/strict';
import { type Received, sendRequest } from './requests.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

export interface Page {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const decodeEntities = (text: string): string =>
  text.replace(
    /&(amp|lt|gt|quot|#34|#39);/g,
    (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" })[name] ?? '',
  );

const attributeOf = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : decodeEntities(value);
};

/** What the fields of a form hold (WHATWG HTML section 4.10.21.4, "Constructing the entry list"). */
function* heldBy(form: string): Generator<[name: string, value: string]> {
  for (const [tag, element, content = ''] of form.matchAll(/<input[^>]*>|<(textarea|select)\b[^>]*>([\s\S]*?)<\/\1>/g)) {
    const opening = tag.slice(0, tag.indexOf('>') + 1);
    const name = attributeOf(opening, 'name');
    if (name === undefined) continue;
    if (element === 'textarea') yield [name, decodeEntities(content.replace(/^\n/, ''))];
    else if (element === 'select') {
      const options = [...content.matchAll(/<option[^>]*>/g)].map(([option]) => option);
      const chosen = options.find((option) => /\sselected\b/.test(option)) ?? options[0];
      if (chosen !== undefined) yield [name, attributeOf(chosen, 'value') ?? ''];
    } else if (!/\stype="(checkbox|radio)"/.test(opening) || /\schecked\b/.test(opening)) {
      yield [name, attributeOf(opening, 'value') ?? (/\stype="checkbox"/.test(opening) ? 'on' : '')];
    }
  }
}

export class UserAgent {
  #cookies: Cookie[] = [];
  /** Of the pages as the browser sees them, wherever they come from. */
  #shown: string;

  constructor(readonly origin: string) {
    this.#shown = origin;
  }

  cookie(name: string): string | undefined {
    return this.#cookies.find((cookie) => cookie.name === name)?.value;
  }

  /** Another window of the same browser, with the cookies as they are now. @param origin where the service is reached */
  window(origin = this.origin): UserAgent {
    const other = new UserAgent(origin);
    other.#shown = this.#shown;
    other.#cookies = [...this.#cookies];
    return other;
  }

  /** The same browser after all cookies but one were taken from it. */
  only(name: string): UserAgent {
    const other = this.window();
    other.#cookies = other.#cookies.filter((cookie) => cookie.name === name);
    return other;
  }

  /** Somebody plants cookies of his own browser in this one, as a page of a sibling domain can: those whose names begin so. */
  plant(from: UserAgent, beginning: string): void {
    const planted = from.#cookies.filter(({ name }) => name.startsWith(beginning));
    const isReplaced = (cookie: Cookie) => planted.some(({ name, path }) => name === cookie.name && path === cookie.path);
    this.#cookies = [...planted, ...this.#cookies.filter((cookie) => !isReplaced(cookie))];
  }

  /** One request, no redirect followed. */
  async send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const url = new URL(address, this.origin);
    const sent = this.#cookies.filter(
      ({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`),
    );
    const headers = new Headers(init.headers);
    if (sent.length > 0) headers.set('cookie', sent.map(({ name, value }) => `${name}=${value}`).join('; '));
    const response = await sendRequest(url, { ...init, headers });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  /** Goes where redirects lead inside the service. @returns the page shown at the end, or the address outside */
  async visit(address: string | URL, init: RequestInit = {}): Promise<Page> {
    let url = new URL(address, this.origin);
    let response = await this.send(url, init);
    for (let hops = 0; hops < 12; hops += 1) {
      const location = response.headers.get('location');
      if (location === null) return { url, status: response.status, headers: response.headers, text: await response.text() };
      url = new URL(location, url);
      // A redirect names the service by its public address, whichever process is asked here.
      if (url.origin === this.#shown) url = new URL(url.pathname + url.search, this.origin);
      if (url.origin !== this.origin) return { url, status: response.status, headers: response.headers, text: '' };
      response = await this.send(url);
    }
    throw new Error(`too many redirects, last to ${url}`);
  }

  /** Submits a form of a page as a browser does: with what its fields hold, and what is typed or chosen in their place. */
  async submit(page: Page, formId: string, typed: Record<string, string | readonly string[]> = {}): Promise<Page> {
    const [, attributes, content = ''] = new RegExp(`<form([^>]*\\bid="${formId}"[^>]*)>([\\s\\S]*?)</form>`).exec(page.text) ?? [];
    assert(attributes !== undefined, `no form #${formId} at ${page.url}: ${page.text.slice(0, 2000)}`);
    const action = decodeEntities(/\baction="([^"]*)"/.exec(attributes)?.[1] ?? '');
    const fields = new URLSearchParams([...heldBy(content)]);
    for (const [name, value] of Object.entries(typed)) {
      fields.delete(name);
      for (const one of typeof value === 'string' ? [value] : value) fields.append(name, one);
    }
    return this.visit(new URL(action, page.url), {
      method: 'POST',
      body: fields,
      headers: { origin: this.#shown, 'sec-fetch-site': 'same-origin' },
    });
  }

  async signIn(page: Page, user: { login: string; password: string }): Promise<Page> {
    return this.submit(page, 'sign-in-form', { username: user.login, password: user.password });
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (wanted: string) => attributes.find((part) => part.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const path = attribute('path') ?? '/';
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = attribute('expires');
    const expired = attribute('max-age') === '0' || (expires !== undefined && new Date(expires).getTime() <= Date.now());
    if (value !== '' && !expired) this.#cookies = [{ name, value, path }, ...this.#cookies];
  }
}
