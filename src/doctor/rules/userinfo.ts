/** "GET {oauth_base}/userinfo". */

import { jsonOf } from '../http-client.ts';
import { mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

export const userinfo: readonly Rule<RuleContext>[] = section('GET {oauth_base}/userinfo', [
  {
    id: 'userinfo.header',
    sentence: 'Header `Authorization: Bearer <ACCESS_TOKEN>` required.',
    async run(visit) {
      mustEqual((await visit.wire.send(`${visit.issuer}/userinfo`)).status, 401, 'status without a header');
    },
  },
  {
    id: 'userinfo.success',
    sentence: 'Success: 200 JSON of user claims.',
    async run(visit) {
      const reply = await visit.userinfo((await visit.tokens()).access_token);
      mustEqual(reply.status, 200, 'status');
      mustMatch(reply.headers.get('content-type'), /^application\/json\b/, 'content-type');
      mustEqual(jsonOf(reply).sub, (await visit.user()).id, 'sub');
    },
  },
  {
    id: 'userinfo.failures',
    sentence: 'Failures: see Errors.',
    async run(visit) {
      const reply = await visit.userinfo((await visit.tokens()).refresh_token);
      mustEqual(jsonOf(reply).error, 'invalid_token', 'error of a refresh token');
    },
  },
]);
