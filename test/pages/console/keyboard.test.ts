/** The frame and the lists of the console by the keyboard alone: what has the focus is seen, and menus close. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { enterInBrowser } from './administrators.ts';

/** Stops that the tabulator makes on a page at most. */
const MOST_STOPS = 200;

/** What has the focus, and whether its middle or a corner can be seen; null: the page itself. */
const FOCUSED = `(() => {
  const focused = document.activeElement;
  if (focused === document.body) return null;
  const { left, top, right, bottom } = focused.getBoundingClientRect();
  const points = [[(left + right) / 2, (top + bottom) / 2], [left + 3, top + 3], [right - 3, bottom - 3]];
  const isSeen = points.some(([x, y]) => {
    const there = document.elementFromPoint(x, y);
    return focused.contains(there) || there?.closest('label')?.contains(focused);
  });
  return { name: focused.id || focused.textContent.trim() || focused.outerHTML, isSeen };
})()`;

/** The names of all stops of the page; fails where one cannot be seen. @param key to the next stop */
async function walk(page: Page, name: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<readonly string[]> {
  await page.evaluate('document.activeElement.blur()');
  // Else the browser goes on from where the focus was.
  if (key === 'Shift+Tab') await page.locator('main :is(a, button)').last().focus();
  const stops: string[] = [];
  while (stops.length < MOST_STOPS) {
    await page.keyboard.press(key);
    const focused = (await page.evaluate(FOCUSED)) as { name: string; isSeen: boolean } | null;
    if (focused === null) return stops;
    assert.ok(focused.isSeen, `${name}: ${focused.name} has the focus and is not seen`);
    stops.push(focused.name);
  }
  return assert.fail(`${name}: no end after ${MOST_STOPS} stops`);
}

for (const width of [1280, 390])
  test(
    `what has the focus is seen, at ${width} pixels (WCAG 2.2, 2.4.11)`,
    inBrowser(async (browser, t) => {
      const service = await startService(t);
      const { window, page } = await enterInBrowser(browser, service);
      await page.setViewportSize({ width, height: 800 });
      for (const path of ['', '/users', '/groups', '/applications', '/reports/log', '/users/new']) {
        await page.goto(`${service.baseUrl}/admin${path}`);
        const stops = await walk(page, path);
        assert.ok(stops.length > 5, path);
      }
      window.assertQuiet();
    }),
  );

test(
  'at 390 pixels the tabs are a menu that names the current one and opens without script (WCAG 2.2, 2.1.1 and 2.4.11)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { id } = await service.createUser();
    const { window, page } = await enterInBrowser(browser, service, '', { javaScriptEnabled: false });
    await page.setViewportSize({ width: 390, height: 800 });
    for (const path of ['', '/access', '/security', '/activity', '/data']) {
      await page.goto(`${service.baseUrl}/admin/users/${id}${path}`);
      const current = await page.textContent('.tabs > ul [aria-current]');
      assert.equal((await page.textContent('.tabs summary'))?.trim(), current, path);
      assert.ok(!(await page.isVisible('.tabs > ul')), path);
      await page.focus('.tabs summary');
      await page.keyboard.press('Enter');
      for (const label of await page.locator('.tabs details a').allTextContents()) {
        await page.keyboard.press('Tab');
        assert.deepEqual(await page.evaluate(FOCUSED), { name: label, isSeen: true }, path);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.ok((await page.isVisible('.tabs > ul')) && !(await page.isVisible('.tabs summary')), 'a row where there is room');
    window.assertQuiet();
  }),
);

test(
  'the header stays in sight in one line and covers neither what has the focus nor what a link leads to (WCAG 2.2, 2.4.11)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { window, page } = await enterInBrowser(browser, service, '/users/new');
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 500 });
      await page.goto(`${service.baseUrl}/admin/users/new`);
      const stops = await walk(page, `backwards at ${width}`, 'Shift+Tab');
      assert.ok(stops.length > 10, `${width}: ${stops}`);
      await page.evaluate('scrollTo(0, document.body.scrollHeight)');
      const { y, height = 0 } = (await page.locator('header.bar').boundingBox()) ?? {};
      assert.equal(y, 0, `${width}`);
      assert.ok(height < 60, `${width}: ${height} high`);
      await page.evaluate('location.hash = document.querySelector("form.sheet [id]").id');
      const top = await page.evaluate('document.querySelector(":target").getBoundingClientRect().top');
      assert.ok((top as number) >= height, `${width}: at ${top}`);
    }
    window.assertQuiet();
  }),
);

test(
  'a menu closes by Escape, which leads back to its button, and when the focus leaves it (WCAG 2.2, 2.1.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const { window, page } = await enterInBrowser(browser, service, '/users');
    for (const selector of ['#user-menu', 'main .actions details']) {
      const menu = page.locator(selector);
      const isOpen = async () => (await menu.getAttribute('open')) !== null;
      await menu.locator('summary').focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('Tab');
      assert.ok(await isOpen(), selector);
      await page.keyboard.press('Escape');
      assert.ok(!(await isOpen()), `${selector} after Escape`);
      assert.equal(await menu.locator('summary:focus').count(), 1, `${selector} leads back to its button`);
      await page.keyboard.press('Enter');
      assert.ok(await isOpen(), selector);
      await page.keyboard.press('Shift+Tab');
      assert.ok(!(await isOpen()), `${selector} after the focus has left it`);
    }
    window.assertQuiet();
  }),
);
