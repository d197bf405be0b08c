/** An application's callback that sends the user on to another host of the application: Chromium holds form-action against that hop too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inBrowser } from '../../support/browser.ts';
import { listen } from '../../support/listen.ts';
import { startService } from '../../support/service.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

test(
  'a callback that forwards to the application’s home is not cut off (CSP level 3 section 6.4.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser();
    const home = await listen(t, 'localhost', (_req, res) => res.setHeader('content-type', 'text/html').end('<h1 id="home">home</h1>'));
    const callback = `${await listen(t, '127.0.0.1', (_req, res) => res.writeHead(302, { location: `${home}/` }).end())}/callback`;
    const { clientId } = await service.createApp({ redirect_uris: [callback], client_uri: home });
    const window = await openWindow(browser);
    const page = await window.open();
    const parameters = { client_id: clientId, redirect_uri: callback, response_type: 'code', scope: 'openid', state: 's' };
    await page.goto(`${service.issuer('built-in')}/authorize?${new URLSearchParams(parameters)}`);
    await signIn(page, user);
    await page.waitForSelector('#home');
    assert.equal(new URL(page.url()).origin, home);
  }),
);
