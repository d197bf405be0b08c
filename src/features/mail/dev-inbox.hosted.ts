/**
 * The dev inbox: without a mail server, e-mails can be read here on a developer's machine, with their links. Like the playground it exists only if
 * BASE_URL is loopback, never behind a proxy (management-api.md, "How it is started and configured"). Only connections from this machine are
 * accepted, because the e-mails give access to every account, and only under that host name, so that no other site can read it (DNS rebinding).
 */
import type { RouterContext } from '@koa/router';
import type Koa from 'koa';
import { isLoopbackHost } from '../../platform/config/config.ts';
import { isFromThisMachine } from '../../platform/http/requests.ts';
import { pageLanguage } from '../../platform/i18n/page-language.ts';
import type { SignInDeps } from '../sign-in/interactions.hosted.ts';
import { type InboxMail, readInbox, readInboxMail } from './dev-inbox.service.ts';
import { mailRoute } from './mail-route.service.ts';

const PATH = '/dev/inbox';

async function isThere({ services }: SignInDeps, ctx: Koa.Context): Promise<boolean> {
  const host = ctx.get('Host').replace(/:\d+$/, '');
  return isFromThisMachine(ctx.req) && isLoopbackHost(host) && (await mailRoute(services)).kind === 'inbox';
}

/** GET /dev/inbox */
export async function inboxPage(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  if (!(await isThere(deps, ctx))) return next();
  const language = pageLanguage(ctx);
  const title = language.text('inbox.title');
  const mails = (await readInbox(deps.services)).map(({ id, to, subject, sent }) => ({
    href: `${PATH}/${id}`,
    to,
    subject,
    sent: sent.toISOString(),
  }));
  await deps.pages.render(ctx, 'dev-inbox', { ...language, title, heading: title, mails });
}

/** GET /dev/inbox/:id: the plain text, with its links. */
export async function inboxMailPage(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  const mail = await mailOf(deps, ctx);
  if (mail === undefined) return next();
  const language = pageLanguage(ctx);
  const { id, to, subject, sent, text } = mail;
  const locals = {
    ...language,
    title: subject,
    heading: subject,
    to,
    sent: sent.toISOString(),
    parts: withLinks(text),
    html: `${PATH}/${id}/html`,
    back: PATH,
  };
  await deps.pages.render(ctx, 'dev-inbox-mail', locals);
}

/** GET /dev/inbox/:id/html: the HTML version, without any script. */
export async function inboxMailHtml(deps: SignInDeps, ctx: RouterContext, next: Koa.Next): Promise<void> {
  const mail = await mailOf(deps, ctx);
  if (mail === undefined) return next();
  ctx.type = 'text/html; charset=utf-8';
  ctx.set(
    'Content-Security-Policy',
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  );
  ctx.set('Cache-Control', 'no-store');
  ctx.set('Referrer-Policy', 'no-referrer');
  ctx.body = mail.html;
}

const mailOf = async (deps: SignInDeps, ctx: RouterContext): Promise<InboxMail | undefined> =>
  (await isThere(deps, ctx)) ? readInboxMail(deps.services, ctx.params.id ?? '') : undefined;

/** The text in parts: links of this service, and everything else. */
const withLinks = (text: string): readonly { readonly text: string; readonly isLink: boolean }[] =>
  text
    .split(/(https?:\/\/\S+)/)
    .map((part) => ({ text: part, isLink: /^https?:\/\//.test(part) }))
    .filter((part) => part.text !== '');
