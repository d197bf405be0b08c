/** `settings/branding`: custom properties of the stylesheet, background, icon and links; what people could not read by is refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { startService } from '../../support/service.ts';
import { openWindow } from '../../support/watched-page.ts';

const problems = (body: { errorCauses: { errorSummary: string }[] }) => body.errorCauses.map(({ errorSummary }) => errorSummary).join('; ');
const NIGHT = { ground: '#0b1020', card: '#141b33', ink: '#f4f6ff', soft: '#b9c1dd', edge: '#7f8bb5', tint: '#1d2647' };
const CSS = { version: 1, light: { ground: '#fff7ed', edge: '#7a6a58' }, dark: NIGHT, radius: 4, font: 'SERIF' };

test('the properties, the background and the icon are on the pages for end users, within the strict policy', async (t) => {
  const service = await startService(t);
  const set = { css: CSS, backgroundUrl: 'https://cdn.example/back.jpg?a="b\')', faviconUrl: 'https://icons.example/i.png' };
  const { status, body } = await service.api('PUT', '/settings/branding', set);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.css, CSS);
  const answer = await fetch(`${service.baseUrl}/signin`);
  const page = await answer.text();
  const policy = answer.headers.get('content-security-policy') ?? '';
  assert.match(policy, /img-src 'self' data: https:\/\/icons\.example https:\/\/cdn\.example;/);
  assert.match(policy, /style-src 'self';/);
  assert.match(page, /<link rel="icon" href="https:\/\/icons\.example\/i\.png"/);
  assert.doesNotMatch(page, /style=|<style/);
  const href = /href="(\/assets\/brand\.css[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const sheet = await (await fetch(service.baseUrl + href)).text();
  assert.match(sheet, /^:root\{--accent:#0f5c5c;[^}]*--on-accent:#ffffff;--radius:4px;--font:Georgia/);
  assert.match(sheet, /prefers-color-scheme:light\)\{:root\{--ground:#fff7ed;--edge:#7a6a58/);
  assert.match(sheet, /prefers-color-scheme:dark[^}]*--ground:#0b1020;--card:#141b33/);
  assert.ok(sheet.includes('url("https://cdn.example/back.jpg?a=%22b%27%29")'), sheet);
  const other = await (await fetch(`${service.baseUrl}/playground`)).text();
  assert.ok(!other.includes('/assets/brand.css') && !other.includes('icons.example'));
  await service.api('PUT', '/settings/branding', {});
  assert.doesNotMatch(await (await fetch(`${service.baseUrl}/signin`)).text(), /brand\.css|icons\.example/);
});

test(
  'colours of the light pages leave the dark ones alone',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const groundIn = async (colorScheme: 'light' | 'dark') => {
      const context = await browser.newContext({ colorScheme });
      const page = await context.newPage();
      await page.goto(`${service.baseUrl}/signin`);
      return page.evaluate('getComputedStyle(document.body).backgroundColor');
    };
    const dark = await groundIn('dark');
    const css = { version: 1, light: { ground: '#fff7ed' } };
    assert.equal((await service.api('PUT', '/settings/branding', { css })).status, 200);
    assert.deepEqual([await groundIn('light'), await groundIn('dark')], ['rgb(255, 247, 237)', dark]);
  }),
);

test('what people could not read by is refused, with the property; so is what is no property', async (t) => {
  const service = await startService(t);
  const refused: readonly (readonly [object, RegExp])[] = [
    [
      { css: { version: 1, light: { ink: '#cccccc' } } },
      /css\.light\.ink: is hard to read in light: text on the card would have a contrast of 1\.\d\d:1, but 4\.5:1 is required/,
    ],
    [{ css: { version: 1, dark: { card: '#f0f0f0' } } }, /css\.dark\.card: is hard to read in dark/],
    [{ css: { version: 1, light: { edge: '#eeeeee' } } }, /css\.light\.edge: is hard to read/],
    [{ css: { version: 1, light: { card: '#6a6a6a' } } }, /css\.light\.card/],
    [{ css: { version: 1, light: { ground: 'red;}body{display:none' } } }, /css\.light\.ground: must be a colour/],
    [{ css: { version: 1, radius: 99 } }, /css\.radius/],
    [{ css: { version: 1, font: 'Comic Sans' } }, /css\.font/],
    [{ css: { version: 2 } }, /css\.version/],
    [{ css: { version: 1, shadow: 'none' } }, /css/],
    [{ primaryColorHex: '#ffff00', css: { version: 1 } }, /primaryColorHex: is hard to read in light/],
    [{ backgroundUrl: 'http://example.com/a.png' }, /backgroundUrl: must be a URL that begins with https/],
    [{ faviconUrl: 'javascript:alert(1)' }, /faviconUrl: must be/],
    [{ footerLinks: [{ url: 'https://example.com/', labels: { de: 'Impressum' } }] }, /footerLinks.*en/],
    [{ footerLinks: [{ url: 'http://example.com/', labels: { en: 'Imprint' } }] }, /footerLinks.*url: must be/],
  ];
  for (const [body, wanted] of refused) {
    const answer = await service.api('PUT', '/settings/branding', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.match(problems(answer.body), wanted, JSON.stringify(body));
  }
});

test('a stylesheet says only what could be set: an address made by others has no more than that', async (t) => {
  const service = await startService(t);
  const coded = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const at = (query: string) => fetch(`${service.baseUrl}/assets/brand.css?light=0f5c5c&dark=6fd0c4&${query}`);
  assert.equal((await at(`css=${coded({ version: 1, light: { ink: '#ffffff' } })}`)).status, 404, 'nobody could read it');
  for (const css of ['{', coded({ version: 1, light: { ink: '}body{display:none' } }), coded({ version: 1, other: 1 })]) {
    assert.doesNotMatch(await (await at(`css=${css}`)).text(), /display|other/);
  }
  for (const background of ['http://example.com/a.png', 'https://x.example/a")}body{display:none}', 'javascript:x']) {
    assert.doesNotMatch(await (await at(`background=${coded(background)}`)).text(), /[^%]"\)\}body|http:|javascript/);
  }
});

test('style and links are changed in the console, colours typed or picked, without JavaScript', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const style = '/admin/settings/branding/style/edit';
  const refused = await agent.submit(await agent.visit(style), 'console-form', { 'light-ink': '#cccccc' });
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /Text \(light\): is hard to read in light/);
  const saved = await agent.submit(await agent.visit(style), 'console-form', {
    'light-ground.picker': '#fff7ed',
    'dark-ground': '#000000',
    radius: '2',
  });
  assert.match(wordsOf(saved), /The style is changed/);
  assert.deepEqual((await service.api('GET', '/settings/branding')).body.css, {
    version: 1,
    light: { ground: '#fff7ed' },
    dark: { ground: '#000000' },
    radius: 2,
  });
  const link = { url: 'https://example.com/imprint', 'label-en': 'Imprint', 'label-de': 'Impressum' };
  const added = await agent.submit(await agent.visit('/admin/settings/branding/links/new'), 'console-form', link);
  assert.match(wordsOf(added), /The links are changed.*Imprint https:\/\/example\.com\/imprint en, de/);
  await agent.submit(await agent.visit('/admin/settings/branding/links/0/edit'), 'console-form', { 'label-en': 'Legal notice' });
  // The other page leaves style and links as they are.
  const brand = await agent.submit(await agent.visit('/admin/settings/branding/edit'), 'console-form', {
    name: 'Acme',
    'primaryColorHex.picker': '#7a1f5c',
  });
  assert.match(wordsOf(brand), /The branding is changed/);
  const { body } = await service.api('GET', '/settings/branding');
  assert.deepEqual(
    [body.name, body.primaryColorHex, body.footerLinks[0].labels.en, body.css.radius],
    ['Acme', '#7a1f5c', 'Legal notice', 2],
  );
  await agent.submit(await agent.visit('/admin/settings/branding/links/0/remove'), 'console-form');
  assert.deepEqual((await service.api('GET', '/settings/branding')).body.footerLinks, []);
});

test(
  'in a browser, the page has the colours, corners and font that were set, in both schemes',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    await service.api('PUT', '/settings/branding', { css: CSS });
    const window = await openWindow(browser);
    const page = await window.open();
    for (const [colorScheme, ground] of [
      ['light', 'rgb(255, 247, 237)'],
      ['dark', 'rgb(11, 16, 32)'],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${service.baseUrl}/signin`);
      assert.equal(await page.evaluate('getComputedStyle(document.body).backgroundColor'), ground);
      assert.match(String(await page.evaluate('getComputedStyle(document.body).fontFamily')), /Georgia/);
      assert.equal(await page.evaluate("getComputedStyle(document.querySelector('#sign-in')).borderRadius"), '4px');
    }
    window.assertQuiet();
  }),
);
