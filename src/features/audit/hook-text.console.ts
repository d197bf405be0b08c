/** Explains the result of an inline hook in plain sentences. */

import { type Phrase, phrase, series, verbatim } from '../../platform/i18n/phrase.ts';
import type { HookCall, HookOutcome, HookProblem } from '../policies/decisions.policy.ts';
import { type DecisionText, NOTHING } from './sign-in-text.console.ts';

const OUTCOMES: Readonly<Record<HookOutcome, string>> = {
  CHANGED: 'The hook changed what was to be issued or stored.',
  UNCHANGED: 'The hook changed nothing.',
  ALLOWED: 'The hook allowed it.',
  DENIED: 'The hook refused it.',
  VERIFIED: 'The hook verified the password. It is kept here from now on, and the hook is not asked again for this user.',
  UNVERIFIED: 'The hook did not verify the password, so it counts as wrong.',
  FAILED: 'The hook gave no valid response.',
};

/** Reasons for an unusable response of a hook. */
export const HOOK_PROBLEMS: Readonly<Record<HookProblem, string>> = {
  TIMEOUT: 'It did not answer within three seconds.',
  UNREACHABLE: 'It could not be reached.',
  PRIVATE_ADDRESS: 'Its address is in a private network or on this machine, which is not called; ALLOW_PRIVATE_NETWORK=true allows it.',
  STATUS: 'It answered with a status other than 2xx.',
  SERVER_ERROR: 'It answered with a status of 500 or above.',
  INVALID_RESPONSE: 'Its response is not valid for a hook.',
};

const FAILURES = {
  OPEN: 'The hook is set to continue after a failure, so nothing was changed.',
  CLOSED: 'The hook is set to refuse, so it was refused.',
} as const;

export function hookText({ outcome, problem, detail, failure, milliseconds, attempts, changed = [] }: HookCall): DecisionText {
  const took: Phrase = phrase('It took {milliseconds} ms and {attempts} attempts.', { milliseconds, attempts });
  const isGood = outcome === 'CHANGED' || outcome === 'UNCHANGED' || outcome === 'ALLOWED' || outcome === 'VERIFIED';
  return {
    ...NOTHING,
    tone: isGood ? 'good' : 'bad',
    sentences: [
      OUTCOMES[outcome],
      ...(problem === undefined ? [] : [HOOK_PROBLEMS[problem], ...(detail === undefined ? [] : [verbatim(detail)]), FAILURES[failure]]),
      ...(changed.length === 0 ? [] : [phrase('Changed: {names}.', { names: series(changed) })]),
      took,
    ],
    advice: problem === undefined ? [] : ['Test the hook on its page: the test shows what it answers.'],
  };
}
