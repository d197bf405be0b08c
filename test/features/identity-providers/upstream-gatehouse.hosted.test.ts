/** Gatehouse as the identity provider of another Gatehouse, with the settings that both begin with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { followRefresh, isAdmitted, linkTo, problemOf } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const ID = 'idp_AnotherGatehouse0000';
const SECRET = 'a-secret-of-its-own-0123456789-0123456789';

for (const serverId of ['built-in', 'default']) {
  test(`sign-in by another Gatehouse: its ${serverId} server`, async (t) => {
    const [upper, lower] = [await startService(t), await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } })];
    const redirectUri = `${lower.baseUrl}/interaction/upstream/${ID}/callback`;
    const { clientId } = await upper.createApp({ redirect_uris: [redirectUri] }, { client_secret: SECRET });
    const body = (policy: object = {}) => ({
      ...{ name: 'Upper', type: 'OIDC' },
      protocol: {
        issuer: { url: upper.issuer(serverId) },
        credentials: { client: { client_id: clientId, client_secret: SECRET } },
      },
      policy: { provisioning: { action: 'AUTO' }, ...policy },
    });
    const { status, body: created } = await lower.api('POST', '/idps', { ...body(), id: ID });
    assert.deepEqual([status, created._links?.clientRedirectUri.href], [200, redirectUri], JSON.stringify(created));
    const client = await createClient(lower);

    /** @returns the page where a new person's sign-in ends */
    const signIn = async (email: string, more: object = { emailVerified: true }) => {
      const user = await upper.createUser({ email, firstName: 'Ada', lastName: 'Lovelace', ...more });
      const agent = new UserAgent(lower.baseUrl);
      const page = await agent.visit(authorizeUrl(lower, 'default', { client_id: client.clientId }));
      const { url: out } = await agent.visit(linkTo(page, ID));
      const there = new UserAgent(upper.baseUrl);
      const { url: back } = await there.signIn(await there.visit(out), user);
      assert.ok(back.href.startsWith(redirectUri), back.href);
      return followRefresh(agent, await agent.visit(back));
    };

    const page = await signIn('ada@example.com');
    assert.ok(isAdmitted(page), page.text);
    const [found] = (await lower.api('GET', `/users?search=${encodeURIComponent('profile.login eq "ada@example.com"')}`)).body;
    assert.deepEqual([found.profile.email, found.profile.firstName, found.profile.displayName], ['ada@example.com', 'Ada', 'Ada Lovelace']);

    // An address that nobody has verified names no user here. Another claim can.
    const unverified = await signIn('mary@example.com', {});
    assert.deepEqual([unverified.status, problemOf(unverified)], [403, 'upstream_no_email']);
    const byName = { userNameTemplate: { template: 'idpuser.preferred_username' } };
    assert.equal((await lower.api('PUT', `/idps/${ID}`, body({ subject: byName }))).status, 200);
    assert.ok(isAdmitted(await signIn('mary@example.org', { login: `mary-${serverId}` })));
    const [mary] = (await lower.api('GET', `/users?search=${encodeURIComponent(`profile.login eq "mary-${serverId}"`)}`)).body;
    assert.deepEqual([mary.profile.firstName, mary.profile.email ?? null], ['Ada', null]);

    // An id of the other one may not be a name here: it could be taken for one of our own.
    const template = { userNameTemplate: { template: 'idpuser.sub' } };
    assert.equal((await lower.api('PUT', `/idps/${ID}`, body({ subject: template }))).status, 200);
    const refused = await signIn('grace@example.com');
    assert.deepEqual([refused.status, problemOf(refused)], [403, 'upstream_no_user_name']);
    assert.match(refused.text, /Your name at Upper cannot be a user name here/);
  });
}
