/** HTML forms: their bodies (`application/x-www-form-urlencoded`, WHATWG URL section 5: names with strings, nothing nested), and the redirect after them. */
import { bodyParser } from '@koa/bodyparser';
import type Koa from 'koa';

/** The body is taken as text and split by URLSearchParams: the usual parser would build objects and arrays out of field names. */
const readText = bodyParser({
  enableTypes: ['text'],
  extendTypes: { text: ['application/x-www-form-urlencoded'] },
  textLimit: '64kb',
});

/**
 * Reads the posted form; a body of another type counts as an empty form.
 * @throws an HTTP error 413 when it is larger than 64 KiB
 */
export async function readForm(ctx: Koa.Context): Promise<URLSearchParams> {
  await readText(ctx, async () => undefined);
  return new URLSearchParams(ctx.request.rawBody);
}

/** @param address a path of this service, or an absolute address that was validated before */
export function seeOther(ctx: Koa.Context, address: string): void {
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(address);
}
