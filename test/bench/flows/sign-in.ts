/** A sign-in with a password through the page, in a fresh browser, from the first request to the code. */
import { signIn } from '../authorization.ts';
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
