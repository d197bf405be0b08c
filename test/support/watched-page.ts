/**
 * A browser window of its own (cookies and all) whose pages are watched: what the console reports as wrong, scripts that fail, and
 * violations of the content security policy (CSP level 3, section 5.5) are collected on every page it visits.
 */
import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';

export interface Window {
  readonly context: BrowserContext;
  /** Another tab of the same window, watched too. */
  open(): Promise<Page>;
  /** Fails when anything was reported on any page so far. */
  assertQuiet(): void;
}

export async function openWindow(
  browser: Browser,
  { javaScriptEnabled = true, locale = 'en' }: { readonly javaScriptEnabled?: boolean; readonly locale?: string } = {},
): Promise<Window> {
  const context = await browser.newContext({ javaScriptEnabled, locale });
  context.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  // Chromium also reports most violations by itself; this covers the rest, before any script of the page runs.
  await context.addInitScript({
    content: `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('content security policy: ' + violatedDirective + ' blocked ' + blockedURI));`,
  });

  return {
    context,
    async open() {
      const page = await context.newPage();
      // A page that was answered with 4xx on purpose is reported too, as if a picture were missing. The test looks at that page itself.
      const refused = new Set<string>();
      page.on('response', (response) => {
        if (response.status() >= 400 && response.request().isNavigationRequest()) refused.add(response.url());
      });
      page.on('console', (message) => {
        const { url } = message.location();
        const isThePage = message.text().startsWith('Failed to load resource') && refused.has(url);
        if (['error', 'warning'].includes(message.type()) && !isThePage) complaints.push(`${page.url()}: ${message.text()} (${url})`);
      });
      page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`));
      return page;
    },
    assertQuiet: () => assert.deepEqual(complaints, []),
  };
}

/** Types the credentials into the sign-in page and sends the form. */
export async function signIn(page: Page, { login, password }: { login: string; password: string }): Promise<void> {
  await page.fill('#username', login);
  await page.fill('#password', password);
  await page.click('#sign-in');
}

/** The page says in plain words what happened, and under which code and request id (management-api.md, HTML hooks). */
export async function assertExplained(page: Page, code: string): Promise<void> {
  assert.equal(await page.textContent('#error-code'), code, await page.content());
  assert.match((await page.textContent('#error-description')) ?? '', /\S+ \S+ \S+/);
  assert.match((await page.textContent('#request-id')) ?? '', /^[A-Za-z0-9._-]{8,64}$/);
  assert.doesNotMatch((await page.textContent('body')) ?? '', /\bat .+:\d+:\d+|node_modules|undefined/);
}
