/** Search everywhere in the console: what is found, by whom, and how. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { createAdministrator, createOrganization, enter, enterInBrowser, wordsOf } from './administrators.ts';

test('words, IDs, e-mail addresses and request IDs lead to what they name, within the roles of who asks', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Fern House');
  const user = await service.createUser({ login: 'fern-anna', firstName: 'Anna', lastName: 'Müller', email: 'anna@fern.example' });
  const outside = await service.createUser({ login: 'fern-outside' });
  await service.api('PUT', `/account/org/${orgId}/member/${user.id}`, {});
  const group = (await service.api('POST', '/groups', { profile: { name: 'Fern gardeners' } })).body;
  const app = { label: 'Fern shop', settings: { oauthClient: { redirect_uris: ['https://fern.example/cb'] } } };
  const clientId: string = (await service.api('POST', '/apps', app)).body.id;
  const serverId = 'as-0123456789';
  await service.api('POST', '/authorizationServers', { id: serverId, name: 'Fern API' });
  await service.createUser({ login: 'moss', lastName: 'Zumwalt', firstName: 'Zoe', email: 'moss@moss.example' });
  for (let at = 1; at < 7; at++)
    await service.createUser({ login: `moss${at}`, lastName: 'Adams', firstName: 'Al', email: `moss${at}@moss.example` });
  const { agent } = await enter(service);
  const search = async (q: string, who = agent) => wordsOf(await who.visit(`/admin/search?q=${encodeURIComponent(q)}`));
  const all = await search('fern');
  for (const words of ['Fern House', 'fern-anna', 'fern-outside', 'Fern gardeners', 'Fern shop', 'Fern API'])
    assert.ok(all.includes(words), words);
  for (const [q, words] of [
    ['anna mull', /Users User name Name fern-anna Anna Müller, anna@fern\.example/],
    ['anna@fern.example', /fern-anna/],
    [user.id, /fern-anna/],
    [clientId, /Fern shop/],
    [group.id, /Groups Name Description Fern gardeners/],
    [orgId, /Organizations Name ID Fern House/],
    [serverId, /Authorization servers Name ID Fern API/],
    ['moss', /Users .*User name Name moss Zoe Zumwalt/],
    ['MOSS@moss.example', /Users .*User name Name moss Zoe Zumwalt/],
    ['system log', /Pages Page Section System log Reports/],
    ['0123456789abcdef', /System log Search Fields Events with “0123456789abcdef”/],
    ['%', /Events with “%”/],
    ['\u0000', /Nothing matches/],
    ['', /Type words of a name/],
  ] as const) {
    assert.match(await search(q), words, q);
  }
  assert.equal(group.profile.name, 'Fern gardeners');
  const { agent: german } = await enter(service);
  await german.visit('/admin?language=de');
  assert.match(await search('passwörter', german), /Seiten .*Passwörter/);
  assert.match(await search('system log', german), /Seiten .*Systemprotokoll/);

  const { agent: hers } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', orgId));
  const own = await search('fern', hers);
  assert.match(own, /fern-anna.*Fern House|Fern House.*fern-anna/);
  for (const words of ['fern-outside', 'Fern gardeners', 'Fern shop', 'Fern API']) assert.ok(!own.includes(words), words);
  assert.doesNotMatch(await search(outside.id, hers), /fern-outside/);
  assert.doesNotMatch(await search('system log', hers), /Reports/);
});

test(
  'the field in the header is reached by a key, shows results while one types, and a result by the arrow keys',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.createUser({ login: 'fern-anna', firstName: 'Anna' });
    const { window, page } = await enterInBrowser(browser, service);
    await page.keyboard.press('/');
    await page.keyboard.type('anna');
    await page.waitForSelector('#found a');
    assert.match((await page.textContent('#found')) ?? '', /Users.*fern-anna/s);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/users\/usr_/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nobody at all');
    await page.waitForSelector('#found:not([hidden])');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('#found').isHidden(), true);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/admin\/search\?q=nobody/);
    window.assertQuiet();
  }),
);
