/** Times of the user's own pages: in the zone of the profile, else in that of the browser, and in UTC on hover. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { signIn } from '../../support/watched-page.ts';

const UTC = /^\d+ \w+ \d{4}, \d\d:\d\d\u00a0UTC$/;

/** What a `time` shows has to be, in a zone. */
const inZone = (iso: string, timeZone: string): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(iso));

test(
  'times are in the zone of the profile, else of the browser, and in UTC on hover',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    for (const [zoneinfo, javaScriptEnabled, expected] of [
      ['Asia/Tokyo', true, 'Asia/Tokyo'],
      ['Asia/Tokyo', false, 'Asia/Tokyo'],
      [undefined, true, 'America/Lima'],
      [undefined, false, 'UTC'],
    ] as const) {
      const name = `${zoneinfo}, with script: ${javaScriptEnabled}`;
      const user = await service.createUser({ zoneinfo });
      const context = await browser.newContext({ timezoneId: 'America/Lima', javaScriptEnabled, locale: 'en' });
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/account/sessions`);
      await signIn(page, user);
      await page.waitForURL(`${service.baseUrl}/account/sessions`);
      const time = page.locator('#sessions time').first();
      const iso = (await time.getAttribute('datetime')) ?? '';
      const text = (await time.textContent()) ?? '';
      assert.equal((await page.textContent('#zone'))?.trim(), `Times are in ${expected}.`, name);
      if (expected === 'UTC') assert.match(text, UTC, name);
      else {
        assert.equal(text, inZone(iso, expected), name);
        assert.match((await time.getAttribute('title')) ?? '', UTC, name);
      }
      await context.close();
    }
  }),
);
