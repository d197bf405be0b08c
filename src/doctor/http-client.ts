/** The doctor's HTTP client: one request, without redirects, with a timeout, and recorded without secrets. */
import { timeoutSignal } from '../platform/clock/timeout.ts';
import { Broken } from './rule.ts';
import { type SecretRedactor, shown } from './secret-redactor.ts';

/** Short summary of a request and its response. */
export interface HttpExchange {
  readonly sent: string;
  readonly received: string;
}

export interface Reply {
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Redirect target. */
  readonly location: URL | undefined;
}

/** Milliseconds until a response must arrive. */
const RESPONSE_TIMEOUT_MS = 10_000;
const LONGEST_BODY = 2_000_000;
/** Long random path segments can be secrets, e.g. the ID of a pending sign-in. */
const LONG_SEGMENT = /\/[\w-]{40,}/g;

export interface WireOptions {
  readonly secrets: SecretRedactor;
  /** Stops further requests. Waits for a pending response, because its result must be known for the cleanup. */
  readonly signal?: AbortSignal;
}

export class HttpClient {
  readonly exchanges: HttpExchange[] = [];

  constructor(readonly options: WireOptions) {}

  /** @throws {Broken} no response arrived, or the examination has ended */
  async send(address: string | URL, init: RequestInit = {}): Promise<Reply> {
    const url = new URL(address);
    const sent = sentWords(url, init);
    const { secrets, signal } = this.options;
    if (signal?.aborted) throw new Broken('the examination has ended');
    const ended = timeoutSignal(RESPONSE_TIMEOUT_MS);
    try {
      const response = await fetch(url, { ...init, redirect: 'manual', signal: ended });
      const text = await response.text();
      if (text.length > LONGEST_BODY) throw new Broken(`the answer has ${text.length} characters`);
      const location = response.headers.get('location');
      const { status, headers } = response;
      const reply = { url, status, headers, text, location: location === null ? undefined : new URL(location, url) };
      this.exchanges.push({ sent: secrets.scrub(sent), received: secrets.scrub(receivedWords(reply)) });
      return reply;
    } catch (error) {
      if (error instanceof Broken) throw error;
      const why = ended.aborted ? `nothing within ${RESPONSE_TIMEOUT_MS / 1000} seconds` : reasonOf(error);
      this.exchanges.push({ sent: secrets.scrub(sent), received: why });
      throw new Broken(`no answer: ${why}`);
    }
  }
}

/** @returns the JSON object of a reply @throws {Broken} it contains none */
export function jsonOf(reply: Reply): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(reply.text);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The check below reports it.
  }
  throw new Broken(
    `the answer must be a JSON object, is ${reply.text === '' ? 'empty' : (reply.headers.get('content-type') ?? 'of no type')}`,
  );
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
};

function sentWords(url: URL, { method = 'GET', headers, body }: RequestInit): string {
  const authorization = new Headers(headers).get('authorization');
  const form = body instanceof URLSearchParams ? ` with ${parametersOf(body)}` : typeof body === 'string' ? ' with JSON' : '';
  const proof = authorization === null ? '' : ` (Authorization: ${authorization.split(' ')[0]} …)`;
  return `${method} ${addressOf(url)}${form}${proof}`;
}

function receivedWords({ status, headers, text, location }: Reply): string {
  if (location !== undefined) return `${status} to ${addressOf(location, true)}`;
  if (text === '') return `${status} without content`;
  if (/\bjson\b/.test(headers.get('content-type') ?? '')) return `${status} ${jsonWords(text)}`;
  const code = /id="error-code">([^<]*)</.exec(text)?.[1];
  const title = /<title[^>]*>([^<]*)</.exec(text)?.[1]?.trim() ?? 'untitled';
  return `${status} a page “${title}”${code === undefined ? '' : ` (${code})`}`;
}

/** @param whole include the host, because the request goes to another one */
function addressOf(url: URL, whole = false): string {
  const fragment = url.hash === '' ? '' : `#${parametersOf(new URLSearchParams(url.hash.slice(1)))}`;
  const query = url.search === '' ? '' : `?${parametersOf(url.searchParams)}`;
  return `${whole ? url.origin : ''}${url.pathname.replace(LONG_SEGMENT, '/…')}${query}${fragment}`;
}

const parametersOf = (parameters: URLSearchParams): string =>
  [...parameters].map(([name, value]) => `${name}=${shown(name, value).replaceAll(' ', '+')}`).join('&');

/** Without line breaks and shortened: a rule is about few fields. */
function jsonWords(text: string): string {
  try {
    const masked = JSON.stringify(JSON.parse(text), (name, value: unknown) => (typeof value === 'string' ? shown(name, value) : value));
    return masked.length > 400 ? `${masked.slice(0, 400)}…` : masked;
  } catch {
    return 'what is no JSON';
  }
}
