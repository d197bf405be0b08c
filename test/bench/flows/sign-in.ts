/** A sign-in with a password through the page, from the first request to the code: in a fresh browser, of which the user is told, and in his own. */
import { signedIn, signIn } from '../authorization.ts';
import { flow } from '../flow.ts';
import { Browser } from '../http.ts';
import type { Seat, Target } from '../target.ts';

export const passwordSignIn = flow({
  name: 'sign-in through the page',
  hashes: true,
  lackedBy: ['hydra'],
  prepare: (target, seat) => ({ target, seat }),
  async request({ target, seat }) {
    await signIn(new Browser(), target, seat);
  },
});

export const signInAgain = flow({
  name: 'sign-in through the page, known browser',
  hashes: true,
  lackedBy: ['hydra'],
  prepare: async (target, seat) => ({ target, seat, browser: await ownBrowser(target, seat) }),
  async request({ target, seat, browser }) {
    browser.anotherDay();
    await signIn(browser, target, seat);
  },
});

/** Of one measurement. */
const browsers = new WeakMap<Target, Map<string, Browser>>();

/** Each user has one, for all servers: of many browsers the service would forget the oldest, and tell him of it as of a new one. */
async function ownBrowser(target: Target, seat: Seat): Promise<Browser> {
  const known = browsers.get(target) ?? new Map<string, Browser>();
  browsers.set(target, known);
  const browser = known.get(seat.login) ?? (await signedIn(target, seat));
  known.set(seat.login, browser);
  return browser;
}
