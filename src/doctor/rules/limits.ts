/** "Limits". */
import { mustBeError } from '../responses.ts';
import { must, mustEqual, mustMatch, type Rule, section, unseen } from '../rule.ts';
import { challengeOf, type RuleContext } from '../rule-context.ts';

/**
 * States with characters that are refused: printable ASCII, spaces, letters and digits of other scripts, and characters that change the writing
 * direction.
 */
const REFUSED_STATES = [' ', 'a b', 'a+b', 'a/b', 'a=b', 'a&b', 'a"b', '<b>', 'a:b', 'a~b', '%', 'ä', '\u0430', '\u{1d7d8}', '\u202e'];

/** A client finds its request by the state, even if the state is refused (RFC 6749 section 4.1.2.1). */
const isPrintable = (state: string): boolean => /^[\x20-\x7e]+$/.test(state);

export const limits: readonly Rule<RuleContext>[] = section('Limits', [
  {
    id: 'limits.code',
    sentence: 'Authorization code lifetime | 300 seconds | authorize, token',
    run: unseen('the doctor does not wait 300 seconds'),
  },
  {
    id: 'limits.code_verifier',
    sentence: 'code_verifier length | 43 to 128 characters inclusive | token',
    async run(visit) {
      for (const [length, status] of [
        [42, 400],
        [43, 200],
        [128, 200],
        [129, 400],
      ] as const) {
        const verifier = 'AZaz09-._~'.repeat(13).slice(0, length);
        const { code } = await visit.code({ code_challenge: challengeOf(verifier) });
        const reply = await visit.exchange({ code, verifier });
        mustEqual(reply.status, status, `status of ${length} characters`);
        if (status !== 200) mustBeError(reply, 'invalid_request', `${length} characters`);
      }
    },
  },
  {
    id: 'limits.state',
    sentence: 'state characters | letters, digits, comma, period, underscore, hyphen | authorize',
    async run(visit) {
      for (const state of REFUSED_STATES) {
        const { fields } = await visit.authorize({ state });
        mustEqual(fields.error, 'invalid_request', `error of state ${state}`);
        mustEqual(fields.state, isPrintable(state) ? state : undefined, `state in the answer to state ${state}`);
        mustMatch(fields.error_description, /\bstate\b/, `error_description of state ${state}`);
      }
      for (const state of ['azAZ09', ',', '.', '_', '-', 'x'.repeat(2000)]) {
        const { fields } = await visit.authorize({ state });
        must(fields.code !== undefined, `state ${state} must be accepted`);
        mustEqual(fields.state, state, 'state in the answer');
      }
    },
  },
]);
