/** axe-core on a page as it stands: WCAG 2.2 levels A and AA, and its best practices. */
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** @throws {assert.AssertionError} naming each violation with its element */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // A click waits for the answer of a form, not for its style sheet: without it, every target is too small.
  await page.waitForLoadState('load');
  // It is as long as a novel, and stays with the document through every change of its colours and width.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  // A colour on its way from light to dark is neither.
  await page.evaluate('Promise.allSettled(document.getAnimations().map((animation) => animation.finished))');
  const violations = await page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<{ violations: Violation[] }> } };
    return (await axe.run({ runOnly: tags })).violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('; ')}`,
    );
  }, TAGS);
  assert.deepEqual(violations, [], name);
}
