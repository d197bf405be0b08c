/** "POST {oauth_base}/introspect". */

import { jsonOf } from '../http-client.ts';
import { must, mustEqual, mustMatch, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

const KINDS = ['access_token', 'id_token', 'refresh_token'] as const;

export const introspect: readonly Rule<RuleContext>[] = section('POST {oauth_base}/introspect', [
  {
    id: 'introspect.token',
    sentence: 'token | string | Access token, ID token or refresh token',
    async run(visit) {
      const tokens = await visit.tokens();
      for (const kind of KINDS) mustEqual((await visit.introspect(tokens[kind])).active, true, `active of ${kind}`);
      mustEqual((await visit.post('introspect', {})).status, 400, 'status without a token');
    },
  },
  {
    id: 'introspect.token_type_hint',
    sentence: 'token_type_hint | string | `access_token`, `id_token`, `refresh_token`',
    async run(visit) {
      const tokens = await visit.tokens();
      for (const kind of KINDS) {
        const token = String(tokens[kind]);
        const { text } = await visit.post('introspect', { token });
        for (const hint of [...KINDS, 'nonsense', '']) {
          const told = await visit.post('introspect', { token, token_type_hint: hint });
          mustEqual(jsonOf(told).active, true, `active of ${kind} with token_type_hint ${hint}`);
          must(told.text === text, `token_type_hint ${hint} must not change the response for ${kind}`);
        }
      }
    },
  },
  {
    id: 'introspect.authentication',
    sentence: 'Client authentication required.',
    async run(visit) {
      const { access_token: token } = await visit.tokens();
      const reply = await visit.send('introspect', { token: String(token) });
      must(
        reply.status === 400 || reply.status === 401,
        `a caller without authentication must be refused, not answered with ${reply.status}`,
      );
    },
  },
  {
    id: 'introspect.public',
    sentence: 'Public clients without a client secret send `client_id` as a query parameter and no Authorization header.',
    async run(visit) {
      const { id } = await visit.publicOne();
      const { access_token: token } = await visit.freshTokens('openid', await visit.publicOne());
      const reply = await visit.send(`introspect?client_id=${id}`, { token: String(token) });
      mustEqual(jsonOf(reply).active, true, 'active of its own token');
    },
  },
  {
    id: 'introspect.json',
    sentence: 'Response: JSON introspection result.',
    async run(visit) {
      const reply = await visit.post('introspect', { token: String((await visit.tokens()).access_token) });
      mustMatch(reply.headers.get('content-type'), /^application\/json\b/, 'content-type');
      must(typeof jsonOf(reply).active === 'boolean', 'active must be true or false');
    },
  },
  {
    id: 'introspect.id-token',
    sentence: 'ID tokens are accepted but normally validated by the application itself.',
    async run(visit) {
      const told = await visit.introspect((await visit.tokens()).id_token);
      mustEqual(told.sub, (await visit.user()).id, 'sub of an ID token');
    },
  },
  {
    id: 'introspect.rfc-7662',
    sentence: 'Follows RFC 7662.',
    async run(visit) {
      const reply = await visit.wire.send(`${visit.issuer}/introspect`);
      must(reply.status === 404 || reply.status === 405, `GET must be refused (section 2.1), not answered with ${reply.status}`);
    },
  },
]);
