/** Languages, writing directions, sizes and colours in Chromium: the hosted pages as different people see them (WCAG 2.2). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { inBrowser } from '../../support/browser.ts';
import { type Service, startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';
import { outcomeOf, runApplication } from './application.ts';

test(
  'the switcher works without JavaScript, from sign-in through an error to the application (WCAG 2.2, 3.1.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const application = await runApplication(t, service);
    const window = await openWindow(browser, { javaScriptEnabled: false });
    const page = await window.open();
    await page.goto(application.start({ ui_locales: 'es' }));
    assert.equal(await page.getAttribute('html', 'lang'), 'es');
    await page.click('text=Deutsch');
    assert.equal(await page.textContent('h1'), 'Anmelden');
    await signIn(page, { ...user, password: 'not-the-password' });
    await page.waitForSelector('#error-summary');
    assert.match(await page.title(), /^Fehler: Anmelden/);
    await page.click('text=简体中文');
    assert.equal(await page.textContent('h1'), '登录');
    assert.equal(await page.getAttribute('[aria-current]', 'lang'), 'zh-Hans');
    await signIn(page, user);
    await page.waitForURL(`${application.origin}/callback?*`);
    assert.equal((await outcomeOf(page)).sub, user.id);
    await page.goto(`${service.baseUrl}/nowhere`);
    assert.equal(await page.getAttribute('html', 'lang'), 'zh-Hans', 'remembered');
    window.assertQuiet();
  }),
);

/** Two pages that between them show all there is: fields, buttons, links, a summary, a notice. */
async function visit(page: Page, service: Service, look: (name: string) => Promise<void>): Promise<void> {
  await page.goto(`${service.baseUrl}/signin?language=de`);
  await signIn(page, { login: 'nobody', password: 'nothing' });
  await page.waitForSelector('#error-summary');
  await look('sign-in with an error');
  await page.goto(`${service.baseUrl}/nowhere`);
  await look('error');
}

const width = (page: Page) => page.evaluate('document.documentElement.scrollWidth');

/** Boxes in CSS pixels. */
const boxes = (page: Page, selector: string) =>
  page
    .locator(selector)
    .evaluateAll((found) => found.map((one) => [one.outerHTML.slice(0, 90), one.getBoundingClientRect().toJSON()] as const));

test(
  'at 320 pixels nothing scrolls sideways and no target is below 24 pixels; from right to left the page is mirrored (WCAG 2.2, 1.4.10, 2.5.8)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
    await visit(page, service, async (name) => {
      assert.equal(await width(page), 320, name);
      // The links of the summary are left out: each is a sentence of its own.
      for (const [html, box] of await boxes(page, 'button, .button, input:not([type=hidden]), .aside a, .languages a')) {
        assert.ok(box.width >= 24 && box.height >= 24, `${name}: ${box.width} × ${box.height} ${html}`);
      }
      const blocks = 'main > *, .field, .with-button > *';
      const leftToRight = await boxes(page, blocks);
      await page.evaluate(`document.documentElement.setAttribute('dir', 'rtl')`);
      assert.equal(await width(page), 320, name);
      for (const [index, [html, { left, right }]] of (await boxes(page, blocks)).entries()) {
        const mirrored = leftToRight[index]?.[1];
        assert.ok(Math.abs(320 - right - mirrored?.left) < 1 && Math.abs(320 - left - mirrored?.right) < 1, `${name}: ${html}`);
      }
    });
  }),
);

/** Elements that are not set off from what lies around them. */
const WITHOUT_EDGE = `[...document.querySelectorAll('button, .button, input:not([type=hidden]), .notice, .problems')]
  .filter((one) => {
    const { borderTopStyle, borderTopColor, backgroundColor } = getComputedStyle(one);
    return !one.matches('.link') && (borderTopStyle !== 'solid' || borderTopColor === backgroundColor);
  })
  .map((one) => one.outerHTML)`;

const MOVING = `[...document.querySelectorAll('*')].filter((one) => {
  const { transitionDuration, animationName } = getComputedStyle(one);
  return transitionDuration !== '0s' || animationName !== 'none';
}).length`;

test(
  'with forced colours everything keeps an edge and the focus is seen; who wants no motion gets none (WCAG 2.2, 1.4.11, 2.4.7, 2.3.3)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const page = await browser.newPage({ forcedColors: 'active', reducedMotion: 'reduce' });
    await visit(page, service, async (name) => {
      assert.deepEqual(await page.evaluate(WITHOUT_EDGE), [], name);
      assert.equal(await page.evaluate(MOVING), 0, name);
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid', name);
    });
  }),
);
