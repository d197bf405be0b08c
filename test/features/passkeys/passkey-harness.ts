/** What the tests of passkeys share: an application, its claims, and what the audit log tells. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { authorizeUrl, CALLBACK, createClient, post } from '../../protocol/servers/relying-party.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

export const SECURITY = '/account/security';
export const isAt = (page: Page, path: string) => assert.equal(page.url.pathname, path, page.text.slice(0, 3000));
export const challengeIn = (page: Page) => /name="challenge" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
export const problemOn = (page: Page) => /id="error-summary"[\s\S]*?<\/div>/.exec(page.text)?.[0];

export async function harness(t: TestContext, service?: Service) {
  const running = service ?? (await startService(t));
  const client = await createClient(running);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(running, 'built-in', { client_id: client.clientId, ...parameters });
  const newBrowser = () => new UserAgent(running.baseUrl);
  return {
    service: running,
    client,
    request,
    newBrowser,
    claimsOf: async (code = '') => {
      const { body } = await post(running, 'built-in', 'token', client, { grant_type: 'authorization_code', code, redirect_uri: CALLBACK });
      return JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    },
    /** The outcomes of a type of event about a user, or about nobody, the newest first. */
    outcomes: async (eventType: string, userId?: string): Promise<string[]> => {
      const { rows } = await onServer(running.database.url, (sql) =>
        sql.query(
          `SELECT coalesce(outcome->>'reason', outcome->>'result') AS reason FROM audit_events
            WHERE event_type = $1 AND ($2::text IS NULL OR target @> jsonb_build_array(jsonb_build_object('id', $2::text))) ORDER BY seq DESC`,
          [eventType, userId ?? null],
        ),
      );
      return rows.map(({ reason }) => reason);
    },
  };
}
