/** Explains decisions of sign-in rules in plain sentences. */
import { type Phrase, phrase } from '../../platform/i18n/phrase.ts';
import type { SignInRuled } from '../policies/decisions.policy.ts';
import type { RuleReason, SignInDecision } from '../sign-in-rules/sign-in-rules.policy.ts';
import { type DecisionText, NOTHING, type StepText } from './sign-in-text.console.ts';

const REASONS: Readonly<Record<RuleReason, string>> = {
  'the rule fits': 'It matches and decides',
  'the address is in none of its zones': 'The address is in none of its zones',
  'the address is in an excluded zone': 'The address is in an excluded zone',
  'the browser is new': 'The browser is new',
  'the browser is known': 'The browser is known',
  'the country is new': 'The country is new',
  'the country is known': 'The country is known',
  'the country is the first': 'It is the user’s first recorded country',
  'the country is not known': 'The address has no known country',
  'the last sign-in is not that long ago': 'The last sign-in is not that long ago',
};

/** Result of one rule. */
export const ruleReason = (reason: RuleReason): Phrase => phrase(REASONS[reason]);

const ruleSteps = (steps: SignInDecision['steps']): readonly StepText[] =>
  steps.map(({ rule, reason }) => ({ what: [{ text: rule }], outcome: ruleReason(reason) }));

export function ruleText({ action, rule, canProve, steps }: SignInRuled): DecisionText {
  const explanation = { steps: ruleSteps(steps), advice: ['The rules are under Security → Sign-in policy.'] };
  if (action === 'DENY')
    return {
      ...NOTHING,
      ...explanation,
      tone: 'bad',
      sentences: [phrase('The rule “{rule}” of the sign-in policy refused the sign-in.', { rule })],
    };
  const asked = phrase('The rule “{rule}” of the sign-in policy asked for a second factor.', { rule });
  if (canProve) return { ...NOTHING, ...explanation, tone: 'plain', sentences: [asked] };
  return {
    ...NOTHING,
    ...explanation,
    tone: 'bad',
    sentences: [asked, 'The user has none. A factor set up at such a sign-in would prove nothing, so the sign-in was refused.'],
  };
}
