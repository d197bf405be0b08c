/**
 * Browser tests on Debian's Chromium, driven by playwright-core. The browser reaches this machine only: every other name and address
 * is answered as unknown. Where Chromium is missing its tests are skipped by name; in CI they fail instead.
 */
import { existsSync } from 'node:fs';
import { after, type TestContext } from 'node:test';
import { type Browser, chromium } from 'playwright-core';

/** The build without windows takes two thirds of the processor time of the whole browser, with the same engine. */
const BUILDS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = process.env.CHROMIUM || BUILDS.find((file) => existsSync(file)) || '/usr/bin/chromium';
const inCI = process.env.CI === 'true';

/** Is there a browser to test with? */
const hasChromium: boolean = existsSync(executablePath);

/** @returns a fresh headless browser; the caller closes it */
function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      // No page lives long enough to gain by compiling its scripts for speed.
      '--js-flags=--no-opt,--no-maglev',
      '--disable-gpu',
      '--disable-software-rasterizer',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-proxy-server',
      '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1, EXCLUDE [::1]',
    ],
  });
}

/** One for all tests of the process: to start it takes longer than most of them. It is closed after the last one. */
let shared: Promise<Browser> | undefined;
after(async () => (await shared?.catch(() => undefined))?.close());

async function sharedBrowser(): Promise<Browser> {
  const browser = await shared?.catch(() => undefined);
  if (browser?.isConnected()) return browser;
  shared = launchBrowser();
  return shared;
}

/**
 * The body of a test with a browser that knows nothing: `test(title, inBrowser(async (browser, t) => …))`. All that the test opens in it
 * is closed with it, cookies, cache and storage included.
 */
export function inBrowser(run: (browser: Browser, t: TestContext) => Promise<void>): (t: TestContext) => Promise<void> {
  return async (t) => {
    if (!hasChromium && !inCI) return t.skip(`Chromium is missing at ${executablePath}; on Debian: apt-get install chromium`);
    const browser = await sharedBrowser();
    try {
      await run(browser, t);
    } finally {
      for (const context of browser.contexts()) await context.close();
    }
  };
}
