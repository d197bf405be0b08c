/** Checks of pages that several rules share. */
import type { Arrival } from '../answers.ts';
import { formOf } from '../browser.ts';
import { must } from '../rule.ts';

export const mustBePage = ({ place }: Arrival, why: string): void => must(place === 'page', `there must be a page, not an answer: ${why}`);

export const mustAskToSignIn = ({ reply }: Arrival): void =>
  must(formOf(reply.text, 'sign-in-form') !== undefined, 'there must be the sign-in page');
