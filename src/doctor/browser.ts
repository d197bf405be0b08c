/**
 * A browser without JavaScript, as far as a sign-in needs one: it keeps cookies by name and path (RFC 6265), follows redirects inside the service,
 * submits forms, and stops at a redirect to an application.
 */

import type { HttpClient, Reply } from './http-client.ts';
import { Broken } from './rule.ts';

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

const MOST_REDIRECTS = 12;

export class TestBrowser {
  #cookies: Cookie[] = [];

  constructor(readonly origin: string) {}

  /** A separate browser with the same cookies. */
  copy(): TestBrowser {
    const copy = new TestBrowser(this.origin);
    copy.#cookies = [...this.#cookies];
    return copy;
  }

  /** @returns the final page, or the redirect that leads outside */
  async visit(wire: HttpClient, address: string | URL, init: RequestInit = {}): Promise<Reply> {
    let reply = await this.#send(wire, new URL(address, this.origin), init);
    for (let hops = 0; reply.location !== undefined && reply.location.origin === this.origin; hops += 1) {
      if (hops === MOST_REDIRECTS) throw new Broken(`more than ${MOST_REDIRECTS} redirects`);
      reply = await this.#send(wire, reply.location);
    }
    return reply;
  }

  /** Submits a form with its hidden fields and the typed values. @throws {Broken} the page has no such form */
  async submit(wire: HttpClient, page: Reply, formId: string, typed: Readonly<Record<string, string>>): Promise<Reply> {
    const form = formOf(page.text, formId);
    if (form === undefined) throw new Broken(`the page must have the form ${formId}`);
    return this.#post(wire, page, form, typed);
  }

  /** Submits the form of a single button, if the page has it. */
  async press(wire: HttpClient, page: Reply, buttonId: string): Promise<Reply | undefined> {
    const [, form] = new RegExp(`(<form[^>]*>(?:(?!</form>)[\\s\\S])*id="${buttonId}")`).exec(page.text) ?? [];
    const action = form === undefined ? undefined : attributeOf(form, 'action');
    return action === undefined ? undefined : this.#post(wire, page, { action, hidden: {} });
  }

  #post(wire: HttpClient, page: Reply, form: Form, typed: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const body = new URLSearchParams({ ...form.hidden, ...typed });
    const headers = { origin: this.origin, 'sec-fetch-site': 'same-origin' };
    return this.visit(wire, new URL(form.action, page.url), { method: 'POST', body, headers });
  }

  async #send(wire: HttpClient, url: URL, init: RequestInit = {}): Promise<Reply> {
    const cookies = this.#cookies.filter(
      ({ path }) => url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`),
    );
    const headers = new Headers(init.headers);
    if (cookies.length > 0) headers.set('cookie', cookies.map(({ name, value }) => `${name}=${value}`).join('; '));
    const reply = await wire.send(url, { ...init, headers });
    for (const line of reply.headers.getSetCookie()) this.#keep(line);
    return reply;
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const name = pair.slice(0, pair.indexOf('='));
    const value = pair.slice(pair.indexOf('=') + 1);
    const attribute = (wanted: string) => attributes.find((part) => part.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const path = attribute('path') ?? '/';
    this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
    const expires = attribute('expires');
    const isOver = attribute('max-age') === '0' || (expires !== undefined && new Date(expires).getTime() <= Date.now());
    if (value !== '' && !isOver) this.#cookies.push({ name, value, path });
  }
}

interface Form {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
}

/** @returns undefined if the page has no form with this ID */
export function formOf(text: string, formId: string): Form | undefined {
  const [, attributes = '', content = ''] = new RegExp(`<form([^>]*\\bid="${formId}"[^>]*)>([\\s\\S]*?)</form>`).exec(text) ?? [];
  const action = attributeOf(attributes, 'action');
  if (action === undefined) return undefined;
  const fields = [...content.matchAll(/<input[^>]*\btype="hidden"[^>]*>/g)].map(([tag]) => [
    attributeOf(tag, 'name') ?? '',
    attributeOf(tag, 'value') ?? '',
  ]);
  return { action, hidden: Object.fromEntries(fields) };
}

/** @returns the value of a field on the page */
export function fieldOf(text: string, id: string): string | undefined {
  const tag = new RegExp(`<input[^>]*\\bid="${id}"[^>]*>`).exec(text)?.[0];
  return tag === undefined ? undefined : attributeOf(tag, 'value');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#34': '"', '#39': "'" };

const attributeOf = (tag: string, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]?.replace(/&([a-z]+|#\d+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole);
