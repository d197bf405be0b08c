/** Checks of pages that several rules share. */

import { formOf } from '../browser.ts';
import type { Arrival } from '../responses.ts';
import { must } from '../rule.ts';

export const mustBePage = ({ place }: Arrival, why: string): void =>
  must(place === 'page', `a page must be shown instead of a redirect: ${why}`);

export const mustAskToSignIn = ({ reply }: Arrival): void =>
  must(formOf(reply.text, 'sign-in-form') !== undefined, 'the sign-in page must be shown');
