/** Light or dark: the administrator's choice for this browser in the user menu, or else the browser's preference. */
import type Koa from 'koa';
import { cookieIn, writeCookie } from '../../platform/http/cookies.ts';
import { seeOther } from '../../platform/http/forms.ts';

const PARAMETER = 'theme';
const COOKIE = 'gatehouse-theme';
const PATH = '/admin';
/** Seconds. */
const ONE_YEAR = 365 * 86_400;

type Theme = 'light' | 'dark';
const themeOf = (value: unknown): Theme | undefined => (value === 'light' || value === 'dark' ? value : undefined);

const LABELS = { '': 'As the system', light: 'Light', dark: 'Dark' } as const;

/** Theme of the layout: the stylesheet, and links to the page in each theme. */
export function consoleTheme(ctx: Koa.Context) {
  const chosen = themeOf(cookieIn(ctx, COOKIE, ctx.secure, PATH));
  const themes = (['', 'light', 'dark'] as const).map((value) => {
    const query = new URLSearchParams(ctx.querystring);
    query.set(PARAMETER, value);
    return { label: LABELS[value], href: `?${query}`, current: value === (chosen ?? '') };
  });
  return { themes, stylesheets: chosen === undefined ? [] : [`theme-${chosen}.css`] };
}

/** Stores the theme in the page's address and redirects to the page. @returns whether the address contained one */
export function keepRequestedTheme(ctx: Koa.Context): boolean {
  const asked = ctx.query[PARAMETER];
  if (asked === undefined) return false;
  const theme = themeOf(asked);
  writeCookie(ctx, ctx.secure, { name: COOKIE, value: theme ?? '', path: PATH, seconds: theme === undefined ? 0 : ONE_YEAR });
  const query = new URLSearchParams(ctx.querystring);
  query.delete(PARAMETER);
  seeOther(ctx, query.size === 0 ? ctx.path : `${ctx.path}?${query}`);
  return true;
}
