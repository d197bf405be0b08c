/** Reads form bodies before oidc-provider sees the request. */
import type { IncomingMessage } from 'node:http';
import { parse } from 'node:querystring';
import type { Context } from 'koa';
import { describable, repeated } from '../authorize/parameters.ts';
import { errors } from '../library/oidc-provider.ts';

/** Same limit as in oidc-provider. */
const BODY_LIMIT = 56 * 1024;

const PLAIN_FORM = /^application\/x-www-form-urlencoded(; ?charset=utf-8)?$/i;

/** Is the body a form in UTF-8, as all client libraries send it? */
export const isPlainForm = ({ headers }: IncomingMessage): boolean => PLAIN_FORM.test(headers['content-type'] ?? '');

const noted = new WeakMap<IncomingMessage, string>();

/** Keeps a form that was read, because a stream can be read only once. */
export const noteForm = (req: IncomingMessage, text: string): void => void noted.set(req, text);

/** @returns a form that was read already */
export const notedForm = (req: IncomingMessage): string | undefined => noted.get(req);

/** @throws {errors.InvalidRequest} the body is too large or incomplete */
export async function readProtocolForm(ctx: Context): Promise<string> {
  const known = noted.get(ctx.req);
  if (known !== undefined) return known;
  const text = await readText(ctx.req, BODY_LIMIT).catch(() => {
    throw new errors.InvalidRequest('the request body is incomplete');
  });
  if (text === undefined) throw new errors.InvalidRequest('the request body is too large');
  noteForm(ctx.req, text);
  return text;
}

/** @throws {errors.InvalidRequest} a repeated parameter, known or not (RFC 6749 section 3.2) */
export async function refuseRepeated(ctx: Context): Promise<void> {
  const twice = repeated(parse(await readProtocolForm(ctx)));
  if (twice !== undefined) throw new errors.InvalidRequest(`the parameter ${describable(twice)} must not appear twice`);
}

/**
 * Reads a body by its events, which costs a third of an iterator.
 * @returns undefined if it is too large; it is read to the end, so that a response can be sent
 */
export function readText(req: IncomingMessage, limit: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= limit) chunks.push(chunk);
    });
    req.once('end', () => resolve(length > limit ? undefined : Buffer.concat(chunks).toString('utf8')));
    req.once('error', reject);
    // After an early disconnect there is no further event.
    if (req.destroyed) reject(new Error('the request was cut off'));
  });
}
