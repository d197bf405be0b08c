/** What tests of the playground ask of its pages. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { Page as PlainPage, UserAgent } from '../support/user-agent.ts';

export const ADA = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };

/** The JSON in an element of the page. */
export const json = async (page: Page, selector: string) => JSON.parse((await page.textContent(selector)) ?? '');

/** The text of an element of a page without scripts. */
export function textOf(page: PlainPage, id: string): string {
  const [, text] = new RegExp(`id="${id}"[^>]*>([^<]*)<`).exec(page.text) ?? [];
  assert(text !== undefined, `no #${id}: ${page.text}`);
  return text.replaceAll('&#34;', '"').replaceAll('&amp;', '&');
}

/** Presses a button among the actions of a result page. */
export function press(agent: UserAgent, page: PlainPage, action: string): Promise<PlainPage> {
  return agent.submit(page, 'actions', { action });
}

/** Chooses a request on the start page. */
export async function choose(page: Page, server: string, { responseType = 'code', responseMode = '', prompt = '' }): Promise<void> {
  await page.check(`#server-${server}`);
  if (!(await page.isVisible('#response_type'))) await page.click('#more > summary');
  await page.selectOption('#response_type', responseType);
  await page.selectOption('#response_mode', responseMode);
  await page.selectOption('#prompt', prompt);
}
