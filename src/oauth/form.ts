/** The body of a form that is read before oidc-provider sees the request. */
import type { Context } from 'koa';
import { errors } from 'oidc-provider';

/** As oidc-provider's own limit. */
const BODY_LIMIT = 56 * 1024;

/** @throws {errors.InvalidRequest} when it is too large */
export async function readForm(ctx: Context): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The stream stays open when the body is too large, so that the refusal can be sent.
  for await (const chunk of ctx.req.iterator({ destroyOnReturn: false })) {
    length += (chunk as Buffer).length;
    if (length <= BODY_LIMIT) chunks.push(chunk as Buffer);
  }
  if (length > BODY_LIMIT) throw new errors.InvalidRequest('the request body is too large');
  return Buffer.concat(chunks).toString('utf8');
}
