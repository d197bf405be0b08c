/** What holds for every page of the console that a super administrator opens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../../../src/pages/console/pages.ts';
import { startService } from '../../support/service.ts';
import { enter } from './administrators.ts';
import { everyStop, pageAt } from './tours.ts';

test('every page of the console', async (t) => {
  const service = await startService(t);
  const stops = await everyStop(service);

  await t.test('is passed by a tour', () => {
    assert.deepEqual(
      stops.filter((stop) => pageAt(stop) === undefined),
      [],
      'stops that are no page',
    );
    const seen = new Set(stops.map(pageAt));
    assert.deepEqual(
      PAGES.filter((page) => !seen.has(page)).map(({ path }) => path),
      [],
    );
  });

  await t.test('is there for a super administrator, under one heading, with a title', async () => {
    const { agent } = await enter(service);
    for (const stop of stops) {
      const { status, text } = await agent.visit(`/admin${stop}`);
      assert.equal(status, 200, `${stop}: ${text}`);
      assert.equal([...text.matchAll(/<h1\b/g)].length, 1, stop);
      assert.match(text, /<title>[^<]+ – Admin console – /, stop);
      const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      assert.deepEqual(
        ids.filter((id, at) => ids.indexOf(id) !== at),
        [],
        `${stop}: an id twice`,
      );
      assert.doesNotMatch(text, />\s*(undefined|null|NaN|\[object Object\])\s*</, stop);
    }
  });
});
