/**
 * HTML forms: their bodies (`application/x-www-form-urlencoded`, WHATWG URL section 5: names and strings, nothing nested), and the redirect
 * after them.
 */
import { isUtf8 } from 'node:buffer';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import { bodyParser } from '@koa/bodyparser';
import type Koa from 'koa';
import { validation } from '../errors/errors.ts';

/** The body is read as text and parsed by URLSearchParams: the usual parser would create objects and arrays from field names. */
const readText = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/x-www-form-urlencoded'] },
  textLimit: '64kb',
});

/**
 * Reads the posted form; a body of another type counts as an empty form.
 * @throws an HTTP error 413 if it is larger than 64 KiB
 */
export async function readForm(ctx: Koa.Context): Promise<URLSearchParams> {
  await readText(ctx, async () => undefined);
  return new URLSearchParams(ctx.request.rawBody);
}

/**
 * Reads a posted form with a file (RFC 7578); the file's text is the value of its field. Other types are read by `readForm`.
 * @param most maximum bytes of the file
 * @throws {ApiError} validation of the file's field: too large, or not UTF-8
 */
export async function readUpload(ctx: Koa.Context, most: number): Promise<URLSearchParams> {
  const headers = ctx.req.headers;
  if (headers['content-type'] === undefined || ctx.is('multipart/form-data') === false) return readForm(ctx);
  const form = new URLSearchParams();
  const problems: { field: string; message: string }[] = [];
  const parser = new Busboy({
    headers: { ...headers, 'content-type': headers['content-type'] },
    limits: { files: 1, fileSize: most, fields: 50, fieldSize: 65_536, fieldNameSize: 100 },
  });
  parser.on('field', (name, value) => form.append(name, value));
  parser.on('file', (name, file) => {
    const chunks: Buffer[] = [];
    file.on('data', (chunk: Buffer) => chunks.push(chunk));
    file.on('limit', () => problems.push({ field: name, message: `must have at most ${Math.floor(most / 1_000_000)} MB` }));
    file.on('end', () => {
      const content = Buffer.concat(chunks);
      if (isUtf8(content)) form.append(name, content.toString('utf8'));
      else if (problems.length === 0) problems.push({ field: name, message: 'must be encoded in UTF-8' });
    });
  });
  await pipeline(ctx.req, parser);
  if (problems.length > 0) throw validation(problems);
  return form;
}

/** @param address a path of this service, or an absolute URL that was validated before */
export function seeOther(ctx: Koa.Context, address: string): void {
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(address);
}
