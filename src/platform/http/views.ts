/**
 * Renders the pages of the service: `views/<name>.ejs` inside `views/layout.ejs`, with the headers of every page. Views escape all values
 * (`<%= %>`); only the rendered body, in the layout and in a frame, icons and times are inserted as HTML.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ejs from 'ejs';
import type Koa from 'koa';
import { BRAND } from '../../../config/defaults.ts';
import type { Config } from '../config/config.ts';
import type { Language } from '../i18n/messages.ts';
import { icon } from './icons.ts';
import { requestId } from './requests.ts';
import { type PageSources, pageHeaders } from './security-headers.ts';
import { publicPath } from './static.ts';

const VIEWS = new URL('../../../../views/', import.meta.url);

export interface PageOptions extends PageSources {
  /** HTTP status; 200 when absent. */
  readonly status?: number;
  /** A view around the page's own, instead of the layout's frame. */
  readonly frame?: string;
  /** Is the view the same for everyone, so that it can be rendered once? */
  readonly fixed?: boolean;
}

/** Branding on pages; null: no such link. */
interface Brand {
  readonly name: string;
  readonly logoUrl: string | null;
  readonly faviconUrl: string | null;
  readonly backgroundUrl: string | null;
  /** Footer links of the pages for end users. */
  links?(lang: string, words: Language['text']): readonly { readonly href: string; readonly label: string }[];
  /** @param own `#rrggbb`, of the page's application @returns the URL of a stylesheet with the colours; undefined: the default colours */
  stylesheet?(own: string | undefined): string | undefined;
}

export interface PagesOptions {
  readonly config: Config;
  /** Called for every page; must not fail. Absent: the service's name and no links. @param state of the request */
  brand?(state: Koa.DefaultState): Promise<Brand>;
}

/** Variables of every view. */
interface PageLocals extends Record<string, unknown> {
  readonly lang: string;
}

export interface Pages {
  /**
   * Responds with a page, in the colour `ctx.state.brandColor` (`#rrggbb`) of its application, if set. The layout uses the locals `title` (text,
   * required), `lang` and `dir` (default: English), `wide` (wider than a card), `stylesheets` and `scripts` (names in views/public), `languages`
   * (links to the same page in each), `text` (for end users' pages, which have the brand's logo, colours and links).
   * @throws if there is no such view
   */
  render(ctx: Koa.Context, view: string, locals: Record<string, unknown>, options?: PageOptions): Promise<void>;
}

/** All views by name, compiled once: an invalid view stops the start. */
const TEMPLATES: ReadonlyMap<string, ejs.TemplateFunction> = compileViews();

function compileViews(): ReadonlyMap<string, ejs.TemplateFunction> {
  const files = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ejs'));
  // `include('partials/…')` resolves its file only once.
  const options = { root: fileURLToPath(VIEWS), views: [fileURLToPath(VIEWS)], cache: true };
  return new Map(
    files.map((file) => {
      const address = new URL(file, VIEWS);
      const compiled = ejs.compile(readFileSync(address, 'utf8'), { ...options, filename: fileURLToPath(address) });
      return [file.slice(0, -'.ejs'.length).replaceAll('\\', '/'), compiled];
    }),
  );
}

export function createPages({ config, brand = async () => BRAND }: PagesOptions): Pages {
  const setHeaders = pageHeaders(config);

  const printed = new Map<string, string>();
  const print = (view: string, locals: Record<string, unknown>): string => {
    const template = TEMPLATES.get(view);
    if (template === undefined) throw new Error(`there is no view ${view}`);
    return template(locals);
  };

  return {
    async render(ctx, view, locals, { status = 200, frame, fixed = false, images = [], ...sources } = {}) {
      const presented = await brand(ctx.state);
      const forEndUsers = locals.text === undefined ? undefined : presented;
      const common: PageLocals = {
        lang: 'en',
        dir: 'ltr',
        requestId: requestId(ctx.req),
        asset: publicPath,
        icon,
        brand: presented,
        logoUrl: forEndUsers?.logoUrl ?? undefined,
        faviconUrl: forEndUsers?.faviconUrl ?? undefined,
        colours: forEndUsers?.stylesheet?.(ctx.state.brandColor),
        feet: forEndUsers?.links?.(String(locals.lang ?? 'en'), locals.text as Language['text']) ?? [],
        ...locals,
      };
      const page = (fixed ? printed.get(view) : undefined) ?? print(view, common);
      if (fixed) printed.set(view, page);
      const body = frame === undefined ? page : print(frame, { ...common, body: page });
      const html = print('layout', { ...common, body, frame });
      const pictures = [forEndUsers?.logoUrl, forEndUsers?.faviconUrl, forEndUsers?.backgroundUrl];
      const origins = pictures.flatMap((address) => (address ? [new URL(address).origin] : []));
      await setHeaders(ctx, { ...sources, images: [...new Set([...images, ...origins])] });
      ctx.status = status;
      ctx.type = 'text/html; charset=utf-8';
      ctx.set('Content-Language', common.lang);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = html;
    },
  };
}
