/** axe-core on a page as it stands: WCAG 2.2 levels A and AA, its best practices, and Reflow (1.4.10). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { BrowserContext, Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules that look at colours. All others find the same in light and dark. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };
/** CSS pixels: a window of 1280 at 400 % zoom. */
export const NARROW = 320;

/** What stands around each page of the console, the same on all: more elements than most pages have themselves. */
const FRAME = 'header.bar:has(#find-form), .room > .beside';
/** The windows in which axe-core has looked at it. */
const knowFrame = new WeakSet<BrowserContext>();
/** The menu of actions of a page, which covers what stands below it. All pages draw it alike. */
const MENU = '.actions .more';
/** The windows in which axe-core has looked at one. */
const knowMenu = new WeakSet<BrowserContext>();
/** The windows that load axe-core with each page. As a script of the page it is compiled once for all pages of the process. */
const haveAxe = new WeakSet<BrowserContext>();

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/**
 * Looks at the page at 320 CSS pixels with everything unfolded: all rules in light, the colours once more in dark. The frame of the console, and an open
 * menu of actions, are looked at on the first page of a window that has them. Leaves the page as it was.
 * @throws {assert.AssertionError} naming each violation with its element
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  await assertFits(page, name, NARROW, async () => {
    const wasDark = await page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches");
    const putBack = knowFrame.has(page.context()) ? await takeFrameOut(page) : async () => {};
    if ((await page.$(FRAME)) !== null) knowFrame.add(page.context());
    await assertCleanInBoth(page, name);
    const menu = knowMenu.has(page.context()) ? null : await page.$(`${MENU}:not([open])`);
    if (menu !== null) {
      knowMenu.add(page.context());
      await menu.evaluate((details) => Object.assign(details, { open: true }));
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), NARROW, `${name} fits with its menu open`);
      await assertCleanInBoth(page, `${name}, menu of actions`, MENU);
      await menu.evaluate((details) => Object.assign(details, { open: false }));
    }
    await page.emulateMedia({ colorScheme: wasDark ? 'dark' : 'light' });
    await putBack();
  });
}

/** @param part the only element to look at; absent: the whole document */
async function assertCleanInBoth(page: Page, name: string, part?: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await assertClean(page, `${name}, light`, TAGS, part);
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertClean(page, `${name}, dark`, COLOURS, part);
}

/** axe-core follows every element of the document, those that it is told to exclude as well. @returns what puts the frame back */
async function takeFrameOut(page: Page): Promise<() => Promise<void>> {
  const taken = await page.evaluateHandle(
    `[...document.querySelectorAll(${JSON.stringify(FRAME)})].map((part) => {
      const mark = document.createComment('');
      part.replaceWith(mark);
      return [mark, part];
    })`,
  );
  return () =>
    taken.evaluate((all) => {
      for (const [mark, part] of all as [{ replaceWith(node: unknown): void }, unknown][]) mark.replaceWith(part);
    });
}

/**
 * A page in one of the languages: axe-core looks at it in English. Elsewhere only the words differ, and have to fit.
 * @param lang the language that the page is to declare
 */
export async function assertAccessibleIn(page: Page, lang: string, name: string): Promise<void> {
  assert.equal(await page.getAttribute('html', 'lang'), lang, name);
  await (lang === 'en' ? assertAccessible(page, name) : assertFits(page, `${name}, ${lang}`));
}

/**
 * The page does not scroll sideways with everything unfolded. Leaves the page as it was.
 * @param look what else to check in this width
 */
export async function assertFits(page: Page, name: string, width = NARROW, look?: () => Promise<void>): Promise<void> {
  const size = page.viewportSize();
  const isOther = size?.width !== width;
  if (isOther) await page.setViewportSize({ width, height: 720 });
  // A click waits for the response to a form, not for its style sheet. Without it nothing has its size.
  await page.waitForLoadState('load');
  const folded = await page.evaluateHandle(`[...document.querySelectorAll('details:not([open], ${MENU})')]`);
  const setOpen = (open: boolean) =>
    folded.evaluate((all, isOpen) => {
      for (const details of all as { open: boolean }[]) details.open = isOpen;
    }, open);
  await setOpen(true);
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${name} fits into ${width} CSS pixels`);
  await look?.();
  await setOpen(false);
  if (isOther && size !== null) await page.setViewportSize(size);
}

async function assertClean(page: Page, name: string, runOnly: unknown, part = 'html'): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  if (!haveAxe.has(page.context())) {
    haveAxe.add(page.context());
    await page.context().addInitScript(AXE);
  }
  // A colour on its way from light to dark is neither.
  await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))');
  const violations = await page.evaluate(
    async ({ part, ...options }) => {
      const { axe } = globalThis as unknown as { axe: { run(part: string, options: object): Promise<{ violations: Violation[] }> } };
      return (await axe.run(part, options)).violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
      );
    },
    { part, runOnly, resultTypes: ['violations'] },
  );
  assert.deepEqual(violations, [], name);
}
