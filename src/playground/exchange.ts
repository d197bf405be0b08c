/**
 * A request of the playground and its response as they were sent (RFC 9110), for display. The application's secret is masked before anything is
 * stored.
 */
import { STATUS_CODES } from 'node:http';
import type { CustomFetch } from 'openid-client';
import { z } from 'zod';

export const exchange = z.object({
  /** Request line, headers and form, as text. */
  request: z.string(),
  form: z.array(z.tuple([z.string(), z.string()])),
  status: z.number(),
  /** Status line, the headers that matter, and the body, as text. */
  answer: z.string(),
  /** The members of a JSON response; absent if the body is empty. */
  members: z.record(z.string(), z.unknown()).optional(),
});
export type ShownExchange = z.infer<typeof exchange>;

/** Headers worth showing; the others are about the connection, or the same on every answer. */
const SHOWN_HEADERS = new Set(['authorization', 'content-type', 'cache-control', 'www-authenticate', 'retry-after']);

const MASK = '••••••••';
const headerName = (name: string): string => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
const masked = (value: string): string => value.replace(/^Basic .*/i, `Basic ${MASK}`);

function headerLines(headers: Headers): string[] {
  return [...headers].filter(([name]) => SHOWN_HEADERS.has(name)).map(([name, value]) => `${headerName(name)}: ${masked(value)}`);
}

function membersOf(body: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(body)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** @returns a fetch for openid-client that records each exchange */
export function recording(record: (exchange: ShownExchange) => void): CustomFetch {
  return async (address, options) => {
    const response = await fetch(address, options as RequestInit);
    const url = new URL(address);
    const sent = options.body instanceof URLSearchParams ? options.body : new URLSearchParams();
    const form = [...sent].map(([name, value]): [string, string] => [name, name === 'client_secret' ? MASK : value]);
    const head = [
      `${options.method} ${url.pathname}${url.search} HTTP/1.1`,
      `Host: ${url.host}`,
      ...headerLines(new Headers(options.headers)),
    ];
    const lines = form.map(([name, value]) => (value === MASK ? `${name}=${MASK}` : new URLSearchParams([[name, value]]).toString()));
    const encoded = lines.length > 0 ? ['', lines.join('\n&')] : [];
    const body = await response.clone().text();
    const members = membersOf(body);
    record({
      request: [...head, ...encoded].join('\n'),
      form,
      status: response.status,
      answer: [
        `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ''}`,
        ...headerLines(response.headers),
        '',
        members === undefined ? body : JSON.stringify(members, null, 2),
      ]
        .join('\n')
        .trimEnd(),
      members,
    });
    return response;
  };
}
