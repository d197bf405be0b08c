/** SCIM 2.0: a client sees only the users of its own organization. */
import { type HttpClient, jsonOf, type Reply } from '../http-client.ts';
import { must, mustEqual, type Rule } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

/** Milliseconds until the token expires, in case it is not deleted with its organization. */
const TOKEN_LIFETIME = 3_600_000;

/** Limited to the temporary organization, and deleted with it. */
const tokenOf = (visit: RuleContext): Promise<string> =>
  visit.once('a SCIM token', async () => {
    const orgId = await visit.once('an organization', () => visit.fixtures.makeOrganization());
    const expiresAt = new Date(Date.now() + TOKEN_LIFETIME).toISOString();
    const { token } = await visit.fixtures.api.make('/api-tokens', { name: visit.fixtures.name, type: 'SCIM', orgId, expiresAt });
    visit.examination.secrets.add(String(token));
    return String(token);
  });

const ask = (wire: HttpClient, baseUrl: string, path: string, token?: string): Promise<Reply> =>
  wire.send(`${baseUrl}/scim/v2${path}`, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

export const scimRules: readonly Rule<RuleContext>[] = [
  {
    id: 'standards.scim',
    section: 'RFC 7644 sections 2 and 4',
    sentence: 'SCIM accepts SCIM tokens only, and a token of one organization does not see users of another.',
    async run(visit) {
      const { wire, baseUrl } = visit;
      mustEqual((await ask(wire, baseUrl, '/Users')).status, 401, 'status without a token');
      const token = await tokenOf(visit);
      const config = await ask(wire, baseUrl, '/ServiceProviderConfig', token);
      must((jsonOf(config).patch as { supported?: boolean } | undefined)?.supported === true, 'PATCH must be supported');
      const { login } = await visit.user();
      const found = await ask(wire, baseUrl, `/Users?filter=${encodeURIComponent(`userName eq "${login}"`)}`, token);
      mustEqual(jsonOf(found).totalResults, 0, 'users of elsewhere that the token finds');
    },
  },
];
