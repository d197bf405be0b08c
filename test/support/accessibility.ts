/** axe-core on a page as it stands: WCAG 2.2 levels A and AA, and its best practices. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Those that look at colours; all others find the same in light and dark. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Each document reads it anew: half as long where it is minified. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** @throws {assert.AssertionError} naming each violation with its element */
export const assertAccessible = (page: Page, name: string): Promise<void> => assertClean(page, name, TAGS);

/** The same document in other colours, once {@link assertAccessible} has looked at it. @throws as that does */
export const assertReadable = (page: Page, name: string): Promise<void> => assertClean(page, name, COLOURS);

async function assertClean(page: Page, name: string, runOnly: unknown): Promise<void> {
  // A click waits for the answer of a form, not for its style sheet: without it, every target is too small.
  await page.waitForLoadState('load');
  // It is as long as a novel, and stays with the document through every change of its colours and width.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  // A colour on its way from light to dark is neither.
  await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))');
  const violations = await page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
      return (await axe.run(options)).violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
      );
    },
    { runOnly, resultTypes: ['violations'] },
  );
  assert.deepEqual(violations, [], name);
}
