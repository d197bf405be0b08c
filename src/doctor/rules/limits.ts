/** "Limits". */
import { must, mustEqual, type Rule, section, unseen } from '../rule.ts';
import { challengeOf, type Visit } from '../visit.ts';

export const limits: readonly Rule<Visit>[] = section('Limits', [
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
        const verifier = 'a-b.c~D1'.repeat(17).slice(0, length);
        const { code } = await visit.code({ code_challenge: challengeOf(verifier) });
        mustEqual((await visit.exchange({ code, verifier })).status, status, `status of ${length} characters`);
      }
    },
  },
  {
    id: 'limits.state',
    sentence: 'state characters | letters, digits, comma, period, underscore, hyphen | authorize',
    async run(visit) {
      for (const state of ['a b', 'a/b', '<b>', 'ä']) {
        mustEqual((await visit.authorize({ state })).fields.error, 'invalid_request', `error of state ${state}`);
      }
      for (const state of ['azAZ09', ',', '.', '_', '-']) {
        must((await visit.authorize({ state })).fields.code !== undefined, `state ${state} must be taken`);
      }
    },
  },
]);
