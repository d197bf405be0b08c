/** A sign-in with a password through the page, from the first request to the code: in a fresh browser, of which the user is told, and in his own. */
import { signedIn, signIn } from '../authorization.ts';
import { flow } from '../flow.ts';
import { Browser } from '../http.ts';

export const passwordSignIn = flow({
  name: 'sign-in through the page',
  hashes: true,
  prepare: (target, seat) => ({ target, seat }),
  async request({ target, seat }) {
    await signIn(new Browser(), target, seat);
  },
});

export const signInAgain = flow({
  name: 'sign-in through the page, known browser',
  hashes: true,
  prepare: async (target, seat) => ({ target, seat, browser: await signedIn(target, seat) }),
  async request({ target, seat, browser }) {
    browser.anotherDay();
    await signIn(browser, target, seat);
  },
});
