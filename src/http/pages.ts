/**
 * Renders the pages of the service: `views/<name>.ejs` inside `views/layout.ejs`, with the headers that every page carries. Views
 * escape all they print (`<%= %>`); only the layout prints the finished body as it is.
 */
import { readdirSync, readFileSync } from 'node:fs';
import ejs from 'ejs';
import type Koa from 'koa';
import type { Config } from '../config.ts';
import { requestId } from './requests.ts';
import { type PageSources, pageHeaders } from './security-headers.ts';
import { publicPath } from './static.ts';

const VIEWS = new URL('../../../views/', import.meta.url);

export interface PageOptions extends PageSources {
  /** HTTP status; 200 when absent. */
  readonly status?: number;
}

/** What each view finds besides its own locals. */
interface PageLocals extends Record<string, unknown> {
  readonly lang: string;
}

export interface Pages {
  /**
   * Answers with a page. Of the locals the layout itself reads: `title` (text, required), `lang` and `dir` (default: English),
   * `wide` (more room than a card), `stylesheets` and `scripts` (names in views/public), `languages` (links to the same page in each).
   * @throws when there is no such view
   */
  render(ctx: Koa.Context, view: string, locals: Record<string, unknown>, options?: PageOptions): Promise<void>;
}

/** All views, compiled once: a view that does not compile stops the start, not a user. */
function compileViews(): ReadonlyMap<string, ejs.TemplateFunction> {
  const files = readdirSync(VIEWS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ejs'));
  return new Map(
    files.map((file) => [file.slice(0, -'.ejs'.length).replaceAll('\\', '/'), ejs.compile(readFileSync(new URL(file, VIEWS), 'utf8'))]),
  );
}

export function createPages({ config }: { readonly config: Config }): Pages {
  const views = compileViews();
  const setHeaders = pageHeaders(config);

  const print = (view: string, locals: Record<string, unknown>): string => {
    const template = views.get(view);
    if (template === undefined) throw new Error(`there is no view ${view}`);
    return template(locals);
  };

  return {
    async render(ctx, view, locals, { status = 200, ...sources } = {}) {
      const common: PageLocals = { lang: 'en', dir: 'ltr', requestId: requestId(ctx.req), asset: publicPath, ...locals };
      const html = print('layout', { ...common, body: print(view, common) });
      await setHeaders(ctx, sources);
      ctx.status = status;
      ctx.type = 'text/html; charset=utf-8';
      ctx.set('Content-Language', common.lang);
      ctx.set('Cache-Control', 'no-store');
      ctx.body = html;
    },
  };
}
