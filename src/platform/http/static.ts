/**
 * The public files of the pages (`views/public`: styles, icon, small scripts; and scripts of packages), read once at start and served from
 * a map, so that no path leads to another file. Cached forever under the hash of their content (RFC 8246, RFC 9110 section 8.8.3).
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type Koa from 'koa';
import { digest } from '../crypto/secrets.ts';

const DIRECTORY = new URL('../../../../views/public/', import.meta.url);
const MOUNT = '/assets/';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface PublicFile {
  readonly body: Buffer;
  readonly type: string;
  readonly version: string;
}

/** Scripts of packages, unchanged. */
const OF_PACKAGES: readonly [string, URL][] = [
  ['simplewebauthn.js', new URL('../dist/bundle/index.umd.min.js', import.meta.resolve('@simplewebauthn/browser'))],
  ...['pow.js', 'helpers.js', 'types.js', 'algorithms/web/pbkdf2.js'].map((name): [string, URL] => [
    `altcha/${name}`,
    new URL(name, import.meta.resolve('altcha-lib')),
  ]),
];

/** Colours of one scheme, for browsers that prefer the other one. They are defined in gatehouse.css only. */
function themes(): [string, Buffer][] {
  const [light = '', dark = ''] = readFileSync(new URL('gatehouse.css', DIRECTORY), 'utf8').match(/:root \{[^}]*\}/g) ?? [];
  return [
    ['theme-light.css', Buffer.from(light.replace('color-scheme: light dark', 'color-scheme: light'))],
    ['theme-dark.css', Buffer.from(dark.replace('{', '{ color-scheme: dark;'))],
  ];
}

const FILES: ReadonlyMap<string, PublicFile> = new Map(
  [
    ...[...readdirSync(DIRECTORY).map((name): [string, URL] => [name, new URL(name, DIRECTORY)]), ...OF_PACKAGES]
      .filter(([name]) => TYPES[path.extname(name)] !== undefined)
      .map(([name, address]): [string, Buffer] => [name, readFileSync(address)]),
    ...themes(),
  ].map(([name, body]): [string, PublicFile] => [
    name,
    { body, type: TYPES[path.extname(name)] ?? '', version: digest(body.toString('utf8')).slice(0, 16) },
  ]),
);

/**
 * @param name of a file in `views/public`
 * @returns its path with the hash of its content
 * @throws if there is no such file
 */
export function publicPath(name: string): string {
  const file = FILES.get(name);
  if (file === undefined) throw new Error(`there is no public file ${name}`);
  return `${MOUNT}${name}?v=${file.version}`;
}

/** Browsers request this icon for pages without one: the self-submitting form, and plain JSON. */
const FAVICON = '/favicon.ico';

/** Serves public files by GET and HEAD; other requests go to the next middleware. */
export const publicFiles: Koa.Middleware = async (ctx, next) => {
  if (ctx.path === FAVICON) return ctx.redirect(publicPath('gatehouse.svg'));
  const file = ctx.path.startsWith(MOUNT) ? FILES.get(ctx.path.slice(MOUNT.length)) : undefined;
  if (file === undefined || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
  ctx.status = 200;
  ctx.type = file.type;
  ctx.etag = file.version;
  ctx.set('Cache-Control', ctx.query.v === file.version ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = file.body;
};

/**
 * Serves stylesheets whose content is in the URL, by GET and HEAD; browsers cache them forever.
 * @param write stylesheet for a URL; undefined: go to the next middleware
 */
export const generatedStylesheets =
  (write: (path: string, query: URLSearchParams) => string | undefined): Koa.Middleware =>
  async (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    const stylesheet = isRead && ctx.path.startsWith(MOUNT) ? write(ctx.path, new URLSearchParams(ctx.querystring)) : undefined;
    if (stylesheet === undefined) return next();
    ctx.status = 200;
    ctx.type = 'text/css; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.body = stylesheet;
  };
