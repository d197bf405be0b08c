/** JSON as the OAuth endpoints send it, whether oidc-provider has seen the request or not. */
import type { ServerResponse } from 'node:http';

/** RFC 6749 section 5.1: tokens and data about them must not be cached. */
export const PROGRAM_HEADERS = { 'Cache-Control': 'no-store', 'Content-Type': 'application/json;charset=UTF-8' } as const;

export function sendJson(res: ServerResponse, status: number, body: object, headers: Readonly<Record<string, string>> = {}): void {
  const text = JSON.stringify(body);
  res.statusCode = status;
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value);
  for (const [name, value] of Object.entries(PROGRAM_HEADERS)) res.setHeader(name, value);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  res.end(text);
}
