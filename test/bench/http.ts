/** Raw HTTP/1.1 over kept connections, the cheapest way for the generator, and a browser that keeps cookies and follows no redirect by itself. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** Kept alive; as many connections as there are concurrent users. */
const agent = new Agent({ keepAlive: true });

/** To be called after a while of requests: a server ends what is idle for long, perhaps at the moment of the next request. */
export const closeConnections = (): void => agent.destroy();

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a form, or without one a GET. */
const exchange = (url: URL, headers: Record<string, string>, form?: string): Promise<Answer> =>
  form === undefined
    ? transmit(url, 'GET', headers)
    : transmit(url, 'POST', { ...headers, 'content-type': 'application/x-www-form-urlencoded' }, form);

function transmit(url: URL, method: string, headers: Record<string, string>, body?: string): Promise<Answer> {
  const all = { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent, headers: all }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('error', reject);
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export interface Prepared {
  readonly url: URL;
  readonly authorization: string;
}

/** @returns the answer's JSON @throws unless the status is 200 */
export async function send({ url, authorization }: Prepared, form?: string): Promise<Record<string, unknown>> {
  const { status, text } = await exchange(url, { authorization }, form);
  if (status !== 200) throw new Error(`${url.pathname}: ${status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Puts JSON. @returns the answer's JSON @throws unless the status is 200 */
export async function put(url: URL, body: unknown): Promise<Record<string, unknown>> {
  const { status, text } = await transmit(url, 'PUT', { 'content-type': 'application/json' }, JSON.stringify(body));
  if (status !== 200) throw new Error(`${url.pathname}: ${status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Cookies by path (RFC 6265 section 5.1.4); those of one host that do not outlive the browser. */
export class Browser {
  readonly #cookies = new Map<string, { readonly path: string; readonly pair: string }>();

  async send(url: URL, form?: string): Promise<Answer> {
    const sent = [...this.#cookies.values()].filter(({ path }) => url.pathname.startsWith(path)).map(({ pair }) => pair);
    const headers = {
      ...(sent.length > 0 && { cookie: sent.join('; ') }),
      ...(form !== undefined && { origin: url.origin, 'sec-fetch-site': 'same-origin' }),
    };
    const answer = await exchange(url, headers, form);
    for (const line of answer.headers['set-cookie'] ?? []) this.#keep(line);
    return answer;
  }

  /** Without any session: what is left is what a service knows the browser by (a device cookie), as when its user comes back another day. */
  anotherDay(): void {
    for (const key of this.#cookies.keys()) if (!/device/.test(key)) this.#cookies.delete(key);
  }

  /** Goes where redirects lead, as long as they stay with the service. @returns the page at the end, or the address outside */
  async visit(address: URL, form?: string): Promise<{ readonly url: URL; readonly text: string }> {
    let url = address;
    let answer = await this.send(url, form);
    for (let hops = 0; hops < 12; hops += 1) {
      const { location } = answer.headers;
      if (location === undefined) return { url, text: answer.text };
      url = new URL(location, url);
      if (url.origin !== address.origin) return { url, text: '' };
      answer = await this.send(url);
    }
    throw new Error(`too many redirects, last to ${url}`);
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/;\s*/);
    const path = attributes.find((attribute) => /^path=/i.test(attribute))?.slice('path='.length) ?? '/';
    const key = `${pair.slice(0, pair.indexOf('='))}\n${path}`;
    const isOver = /^[^=]*=$/.test(pair) || attributes.some((attribute) => /^expires=thu, 01 jan 1970/i.test(attribute));
    if (isOver) this.#cookies.delete(key);
    else this.#cookies.set(key, { path, pair });
  }
}
