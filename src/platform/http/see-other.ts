/** The answer to a form that was accepted: go and look there (RFC 9110 section 15.4.4), so that a reload posts nothing again. */
import type Koa from 'koa';

/** @param address a path of this service, or an absolute address that was validated before */
export function seeOther(ctx: Koa.Context, address: string): void {
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(address);
}
