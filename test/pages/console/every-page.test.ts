/** What holds for every page of the console that a super administrator opens. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGES } from '../../../src/pages/console/pages.ts';
import { enter } from './administrators.ts';
import { pageAt, startOnTour } from './tours.ts';

/** Nothing else depends on these, or the tour has nothing that does and the page says so in words. */
const AFFECTS_NOTHING_ELSE: readonly string[] = [
  '/api/inline-hooks/:id/delete',
  '/api/servers/:serverId/claims/:claimId/delete',
  '/api/servers/:serverId/registration/:tokenId/revoke',
  '/api/tokens/:id/revoke',
  '/applications/:id/assignments/:kind/:assigneeId/remove',
  '/applications/:id/credentials/:secretId/remove',
  '/applications/:id/credentials/federated/:key/remove',
  '/organizations/:orgId/domains/:domain/remove',
  '/organizations/:orgId/invitations/:invitationId/revoke',
  '/security/identity-providers/:id/users/:userId/unlink',
  '/settings/branding/links/:at/remove',
  '/users/:id/applications/:applicationId/remove',
  '/users/:id/consents/:grantId/revoke',
  '/users/:id/linked-accounts/:idpId/remove',
  '/users/:id/roles/:roleId/take',
];
/** The log grows while it is read, and a dry run asks the target about each row. */
const GROWS = /^\/reports\/|\/activity(\?|$)|\/provisioning\/plan/;
/** Their order is their meaning, or nothing but a count. */
const IN_ORDER = /\/policies(\/[^/]+)?$|^\/search/;
/** Keys that sign come first, then those that are announced. */
const SIGNING_FIRST = /\/keys$/;
const DELETES = /\/(delete|remove|revoke|take|unlink)$/;

const rowsOf = (text: string): string[] =>
  [...text.matchAll(/<tr role[\s\S]*?<\/tr>/g)].slice(1).map(([row]) =>
    row
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );
/** Fields of the page's form that must be filled in and come after one that need not be. */
function lateFieldsIn(text: string): string[] {
  const [, form = ''] = /<form class="sheet" id="console-form"([\s\S]*?)<\/form>/.exec(text) ?? [];
  const late: string[] = [];
  let isAfterOptional = false;
  for (const [tag] of form.matchAll(/<(?:(?:input|select|textarea)\b|details class="advanced-fields")[^>]*>/g)) {
    const name = / name="([^"]*)"/.exec(tag)?.[1] ?? '';
    if (tag.includes(' type="hidden"') || name.endsWith('-unit')) continue;
    const isRequired = / required(?=[ >])/.test(tag.replace(/"[^"]*"/g, '""'));
    if (isRequired && isAfterOptional) late.push(name);
    isAfterOptional ||= !isRequired;
  }
  return late;
}

const navIn = (text: string, name: string): string => new RegExp(`<nav class="${name}"[\\s\\S]*?</nav>`).exec(text)?.[0] ?? '';

test('every page of the console', async (t) => {
  const { service, stops } = await startOnTour(t);

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
    assert.deepEqual(
      AFFECTS_NOTHING_ELSE.filter((path) => !PAGES.some((page) => page.path === path)),
      [],
      'exceptions that are no page',
    );
  });

  await t.test('is there for a super administrator, under one heading, with a title and a way back', async () => {
    const { agent } = await enter(service);
    const sorted = new Set<string>();
    /** A list with a count sorts by the heads of its columns; each is tried once. */
    const sorts = async (stop: string, text: string): Promise<void> => {
      const path = pageAt(stop)?.path ?? '';
      const heads = [...text.matchAll(/<a class="sort" href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
      if (/<p class="count">/.test(text) && !IN_ORDER.test(path)) assert.ok(heads.length > 0, `${stop}: no column sorts`);
      for (const href of sorted.has(path) ? [] : heads) {
        sorted.add(path);
        const direction = href.includes('sort=-') ? 'descending' : 'ascending';
        assert.match((await agent.visit(href)).text, new RegExp(`aria-sort="${direction}"><a class="sort"`), href);
      }
    };
    /** The list begins with the newest row where it can be sorted by when its rows came to be. */
    let compared = 0;
    const oldFirst: string[] = [];
    const withoutIcon: string[] = [];
    const late: string[] = [];
    const beginsWithNewest = async (stop: string, text: string): Promise<void> => {
      const by = /href="[^"]*[?&;]sort=-?(created|joined|sent|signedIn)["&]/.exec(text)?.[1];
      if (by === undefined || SIGNING_FIRST.test(stop)) return;
      const newest = await agent.visit(`/admin${stop}${stop.includes('?') ? '&' : '?'}sort=-${by}`);
      if (rowsOf(text).length > 1) compared += 1;
      if (rowsOf(text).join('\n') !== rowsOf(newest.text).join('\n')) oldFirst.push(stop);
    };
    const searched = new Set<string>();
    /** A search finds nothing, or the list has none: no order of words is refused. */
    const searches = async (stop: string, text: string): Promise<void> => {
      const path = pageAt(stop)?.path ?? '';
      if (searched.has(path) || !/<p class="count">/.test(text)) return;
      searched.add(path);
      const address = `/admin${stop.split('?', 1)[0]}`;
      const found = await agent.visit(`${address}?q=nothing-has-this-name`);
      assert.equal(found.status, 200, `${address}: ${found.text}`);
      if (/<form class="search"[\s\S]*?name="q"/.test(found.text))
        assert.match(found.text, /class="empty"/, `${address}: the search is not applied`);
    };
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
      const [crumbs, tabs, menu] = [navIn(text, 'crumbs'), navIn(text, 'tabs'), navIn(text, 'menu beside')];
      const entry = / href="([^"]+)" aria-current=/.exec(menu)?.[1];
      const isTop = `/admin${stop.split('?', 1)[0]}` === entry || tabs.includes(`href="${entry}"`) || stop.startsWith('/search');
      if (!isTop) assert.match(crumbs, /<a href="\/admin\//, `${stop}: the way back to the list`);
      assert.ok([...tabs.replace(/<details[\s\S]*<\/details>/, '').matchAll(/<li>/g)].length <= 6, `${stop}: at most six tabs`);
      for (const [, label = ''] of text.matchAll(/<svg class="icon icon-open"[\s\S]*?<\/svg>([^<]*)/g))
        withoutIcon.push(`${stop}: ${label}`);
      for (const [, label = ''] of text.matchAll(/<button class="(?:link|small main)" type="submit" name="[^"]*" value="[^"]*">([^<]+)/g))
        withoutIcon.push(`${stop}: ${label}`);
      late.push(...lateFieldsIn(text).map((name) => `${stop}: ${name}`));
      if (!GROWS.test(stop)) assert.doesNotMatch(text, /<a [^>]*href="[^"]*[?&]after=/, `${stop}: a list has numbered pages`);
      if (DELETES.test(stop) && !AFFECTS_NOTHING_ELSE.includes(pageAt(stop)?.path ?? '')) {
        const facts = /<form class="sheet"[\s\S]*?<div class="row">/.exec(text)?.[0].match(/<p>[^<]*<\/p>/g) ?? [];
        assert.match(facts.join(' '), /\b\d[\d,]* [a-z]/, `${stop}: what the deletion affects, in numbers`);
      }
      await sorts(stop, text);
      await beginsWithNewest(stop, text);
      await searches(stop, text);
      assert.doesNotMatch(text, />\s*(undefined|null|NaN|\[object Object\])\s*</, stop);
    }
    assert.deepEqual(late, [], 'forms begin with their required fields');
    assert.deepEqual(withoutIcon, [], 'actions without an icon of their own');
    assert.deepEqual(oldFirst, [], 'the newest row comes first');
    assert.ok(compared > 10, `${compared} lists of several rows`);
  });
});
