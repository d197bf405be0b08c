/**
 * Documentation site at /docs, built by `npm run docs` with VitePress. Its files are listed once at start, so that no path leads to other
 * files, and are read on demand.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type Koa from 'koa';
import { documentationPolicy } from './security-headers.ts';

const BUILT = new URL('../../../docs/', import.meta.url);
const MOUNT = '/docs';
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};
const NOT_BUILT = 'The documentation is not built. Run "npm run docs" and restart the service, or read the folder docs.\n';

const sha256 = (text: Buffer | string, encoding: 'base64' | 'base64url'): string => createHash('sha256').update(text).digest(encoding);

/** @returns the URL paths of a file in links of the site: `how-to/deploy`, `decisions/` */
function addressesOf(name: string): string[] {
  if (!name.endsWith('.html')) return [name];
  const page = name.slice(0, -'.html'.length);
  return [name, page === 'index' ? '' : page.endsWith('/index') ? page.slice(0, -'index'.length) : page];
}

function filesOf(folder: URL): ReadonlyMap<string, URL> {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const files = names.map((name) => name.replaceAll(path.sep, '/')).filter((name) => path.extname(name) in TYPES);
  return new Map(
    files.flatMap((name) => addressesOf(name).map((address): [string, URL] => [`${MOUNT}/${address}`, new URL(name, folder)])),
  );
}

/** @param folder of the built site */
export function documentation(folder = BUILT): Koa.Middleware {
  const files = filesOf(folder);
  const missing = files.get(`${MOUNT}/404`);
  return async (ctx, next) => {
    const isOurs = ctx.path === MOUNT || ctx.path.startsWith(`${MOUNT}/`);
    if (!isOurs || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    if (!files.has(ctx.path) && files.has(`${ctx.path}/`)) return ctx.redirect(`${ctx.path}/`);
    const found = files.get(ctx.path);
    const file = found ?? missing;
    ctx.status = found === undefined ? 404 : 200;
    if (file === undefined) {
      ctx.type = 'text/plain; charset=utf-8';
      ctx.body = NOT_BUILT;
      return;
    }
    const body = await readFile(file);
    ctx.type = TYPES[path.extname(file.pathname)] ?? 'application/octet-stream';
    ctx.etag = sha256(body, 'base64url').slice(0, 16);
    // VitePress names these files by their content.
    ctx.set('Cache-Control', ctx.path.startsWith(`${MOUNT}/assets/`) ? 'public, max-age=31536000, immutable' : 'no-cache');
    if (path.extname(file.pathname) === '.html') {
      const inline = [...body.toString('utf8').matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)];
      ctx.set('Content-Security-Policy', documentationPolicy(inline.map(([, script = '']) => sha256(script, 'base64'))));
    }
    if (ctx.status === 200 && ctx.fresh) ctx.status = 304;
    else ctx.body = body;
  };
}
