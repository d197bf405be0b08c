/** "POST {oauth_base}/revoke". */
import { must, mustEqual, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

const isActive = async (visit: RuleContext, token: unknown): Promise<boolean> => (await visit.introspect(token)).active === true;

export const revoke: readonly Rule<RuleContext>[] = section('POST {oauth_base}/revoke', [
  {
    id: 'revoke.token',
    sentence: 'token | string | Access token or refresh token',
    async run(visit) {
      const tokens = await visit.freshTokens();
      for (const kind of ['access_token', 'refresh_token']) {
        await visit.post('revoke', { token: String(tokens[kind]) });
        must(!(await isActive(visit, tokens[kind])), `a revoked ${kind} must not be active`);
      }
      mustEqual((await visit.post('revoke', {})).status, 400, 'status without a token');
    },
  },
  {
    id: 'revoke.token_type_hint',
    sentence: 'token_type_hint | string | `access_token` or `refresh_token`',
    async run(visit) {
      for (const hint of ['access_token', 'refresh_token']) {
        const { access_token: token } = await visit.freshTokens('openid');
        await visit.post('revoke', { token: String(token), token_type_hint: hint });
        must(!(await isActive(visit, token)), `the token must be revoked with token_type_hint ${hint}`);
      }
    },
  },
  {
    id: 'revoke.authentication',
    sentence: 'Client authentication required.',
    async run(visit) {
      const { access_token: token } = await visit.tokens();
      const reply = await visit.send('revoke', { token: String(token) });
      must(
        reply.status === 400 || reply.status === 401,
        `a caller without authentication must be refused, not answered with ${reply.status}`,
      );
    },
  },
  {
    id: 'revoke.own',
    sentence: 'A client can revoke only its own tokens.',
    async run(visit) {
      const { access_token: token } = await visit.freshTokens('openid');
      await visit.post('revoke', { token: String(token) }, await visit.other());
      must(await isActive(visit, token), 'another application must not revoke the token');
    },
  },
  {
    id: 'revoke.only',
    sentence: 'Only the token given is revoked.',
    async run(visit) {
      const tokens = await visit.freshTokens();
      await visit.post('revoke', { token: String(tokens.access_token) });
      must(await isActive(visit, tokens.refresh_token), 'the refresh token beside a revoked access token must stay active');
    },
  },
  {
    id: 'revoke.always-200',
    sentence: 'Response: HTTP 200 for success, and also for invalid, expired or already revoked tokens (to avoid leaking information).',
    async run(visit) {
      const { access_token: token } = await visit.freshTokens('openid');
      for (const time of ['first', 'second']) {
        mustEqual((await visit.post('revoke', { token: String(token) })).status, 200, `status of the ${time} time`);
      }
    },
  },
]);
