/** Sign-in in the simulator: network and browser, the matching rule of the sign-in policy, and possible second factors. */
import type { Part } from '../../pages/console/detail-page.ts';
import type { Field } from '../../pages/console/form.ts';
import { phrase, series } from '../../platform/i18n/phrase.ts';
import { ruleReason } from '../audit/sign-in-rule-text.console.ts';
import { FACTOR_NAMES } from '../second-factors/factors.console.ts';
import type { SignInDecision } from '../sign-in-rules/sign-in-rules.policy.ts';
import type { SimulatedRequest, SimulatedResult } from './simulation.service.ts';

const BROWSERS: readonly (readonly [value: string, label: string])[] = [
  ['', 'Known to the user'],
  ['new', 'New to the user'],
];

const COUNTRIES: readonly (readonly [value: string, label: string])[] = [
  ['', 'As the IP address'],
  ['known', 'Known to the user'],
  ['new', 'New to the user'],
];

type Held = (name: string) => string;

/** @param held values of the page's URL */
export const signInFields = (held: Held): readonly Field[] => [
  { name: 'ip', label: 'IP address', hint: 'From where the user signs in, for the rules of the sign-in policy.', value: held('ip') },
  { name: 'browser', label: 'Browser', value: held('browser'), options: BROWSERS.map(([value, label]) => ({ value, label })) },
  { name: 'country', label: 'Country', value: held('country'), options: COUNTRIES.map(([value, label]) => ({ value, label })) },
];

/** Sign-in of the simulated request. */
export const signInIn = (held: Held): NonNullable<SimulatedRequest['signIn']> => ({
  ipAddress: held('ip') || undefined,
  newBrowser: held('browser') === 'new',
  ...countryIn(held('country')),
});

const countryIn = (held: string) => (held === 'new' || held === 'known' ? { newCountry: held === 'new' } : {});

export function signInRulesOf({ steps }: SignInDecision, factors: NonNullable<SimulatedResult['factors']>): Part {
  const title = 'Rules of the sign-in policy';
  return {
    kind: 'table',
    title,
    lead:
      factors.length === 0
        ? 'The user has no second factor that can be used after a password.'
        : phrase('Second factors of the user: {factors}.', { factors: series(factors.map((type) => phrase(FACTOR_NAMES[type]))) }),
    name: title,
    columns: ['Rule', 'Result'],
    rows: steps.map(({ rule, reason }) => ({ cells: [rule, ruleReason(reason)] })),
    empty: '',
  };
}
