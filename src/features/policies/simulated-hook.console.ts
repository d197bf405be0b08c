/** Describes the simulated inline hook of a rule. */
import type { Content } from '../../pages/console/detail-page.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { inlineHookPath } from '../inline-hooks/inline-hook-page.console.ts';
import type { SimulatedHook } from './simulation.service.ts';

const HOOK_OUTCOMES: Readonly<Record<SimulatedHook['outcome'], string>> = {
  NOT_RUN: 'The rule calls a hook. This preview did not call it.',
  CHANGED: 'The hook changes the tokens.',
  UNCHANGED: 'The hook changes nothing.',
  DENIED: 'The hook refuses the request.',
  FAILED: 'The hook failed.',
};

/** The hook, its outcome and the reason. */
export const hookInWords = ({ id, outcome, reason }: SimulatedHook): Content => [
  {
    text: phrase(HOOK_OUTCOMES[outcome]),
    href: inlineHookPath(id),
    ...((outcome === 'DENIED' || outcome === 'FAILED') && { tone: 'bad' as const }),
  },
  ...(reason === undefined ? [] : [{ text: verbatim(reason), soft: true }]),
];
