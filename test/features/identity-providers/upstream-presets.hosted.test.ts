/**
 * Google, GitHub and Microsoft, by servers that answer in the shapes of their public documentation: "OpenID Connect" of Google Identity; "Authorizing OAuth
 * apps", "Get the authenticated user" and "List email addresses for the authenticated user" of GitHub; "ID tokens" and "OpenID Connect on the Microsoft identity
 * platform".
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { CLIENT, createIdp, idpBody, isAdmitted, problemOf, signInAt, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47';

test('the presets', async (t) => {
  const service = await startService(t, { env });
  const client = await createClient(service);
  const request = (parameters: Record<string, string> = {}) =>
    authorizeUrl(service, 'default', { client_id: client.clientId, ...parameters });
  const profileOf = async (login: string) => (await service.api('GET', `/users/${encodeURIComponent(login)}`)).body.profile;

  await t.test('Google: an address of gmail.com or of its customer’s domain (hd) is verified, another one is not', async () => {
    const google = await startUpstream(t);
    const idp = await createIdp(service, { ...idpBody(google), type: 'GOOGLE', name: 'Google' });
    const come = async (claims: Record<string, unknown>) => {
      google.behaviour.subject = String(claims.sub);
      google.behaviour.claims = {
        azp: CLIENT.id,
        at_hash: undefined,
        name: 'Ada Lovelace',
        picture: 'https://lh3.example/a',
        given_name: 'Ada',
        family_name: 'Lovelace',
        ...claims,
      };
      return signInAt(new UserAgent(service.baseUrl), request(), idp);
    };
    assert.ok(isAdmitted(await come({ sub: '10769150350006150715113082367', email: 'ada@gmail.com', email_verified: true })));
    assert.equal((await profileOf('ada@gmail.com')).firstName, 'Ada');
    assert.equal(google.asked().get('scope'), 'openid email profile');
    assert.ok(isAdmitted(await come({ sub: '2', email: 'ada@customer.example', email_verified: true, hd: 'customer.example' })));
    assert.equal(problemOf(await come({ sub: '3', email: 'ada@elsewhere.example', email_verified: true })), 'upstream_no_email');
    assert.equal(problemOf(await come({ sub: '4', email: 'eve@gmail.com', email_verified: false })), 'upstream_no_email');
    // It refuses prompt=login: where a new authentication is asked for, it is not offered.
    assert.ok(!(await new UserAgent(service.baseUrl).visit(request({ prompt: 'login' }))).text.includes(`/upstream/${idp}`));
    assert.equal(problemOf(await new UserAgent(service.baseUrl).visit(request({ prompt: 'login', idp }))), 'upstream_not_offered');
    await service.api('POST', `/idps/${idp}/lifecycle/deactivate`);
  });

  await t.test(
    'GitHub: the primary verified address of /user/emails, whatever the public one is; the id, not the login, is the subject',
    async () => {
      const person = {
        login: 'octocat',
        id: 583231,
        node_id: 'MDQ6VXNlcjU4MzIzMQ==',
        html_url: 'https://github.com/octocat',
        type: 'User',
        name: 'monalisa octocat',
        email: 'public@github.example',
        site_admin: false,
      };
      let emails: unknown = [
        { email: 'octocat@example.com', verified: true, primary: true, visibility: 'public' },
        { email: 'other@example.com', verified: true, primary: false, visibility: null },
      ];
      const seen: (string | undefined)[] = [];
      const github = await startUpstream(t, {
        more: (url, req) => {
          seen.push(req.headers.authorization, req.headers['user-agent']);
          return url.pathname === '/user' ? person : url.pathname === '/user/emails' ? emails : undefined;
        },
      });
      github.behaviour.responseIssuer = 'https://github.example/login/oauth';
      const body = {
        name: 'GitHub',
        type: 'GITHUB',
        protocol: {
          endpoints: {
            authorization: { url: `${github.origin}/authorize` },
            token: { url: `${github.origin}/token` },
            userInfo: { url: `${github.origin}/user` },
          },
          credentials: { client: { client_id: CLIENT.id, client_secret: CLIENT.secret } },
        },
        policy: { provisioning: { action: 'AUTO' } },
      };
      const idp = await createIdp(service, body);
      const come = async (parameters: Record<string, string> = {}) => signInAt(new UserAgent(service.baseUrl), request(parameters), idp);
      assert.ok(isAdmitted(await come({ login_hint: 'octo' })));
      assert.deepEqual(
        [github.asked().get('scope'), github.asked().get('login'), github.asked().get('nonce')],
        ['read:user user:email', 'octo', null],
      );
      const { email, displayName, nickName, profileUrl } = await profileOf('octocat@example.com');
      assert.deepEqual(
        [email, displayName, nickName, profileUrl],
        ['octocat@example.com', 'monalisa octocat', 'octocat', 'https://github.com/octocat'],
      );
      assert.ok(seen.includes('Bearer upstream-access-token') && seen.includes('Gatehouse'), String(seen));
      const { body: links } = await service.api('GET', `/idps/${idp}/users`);
      assert.equal(links[0].externalId, '583231');
      person.id = 2;
      emails = [{ email: 'unverified@example.com', verified: false, primary: true, visibility: 'public' }];
      assert.equal(problemOf(await come()), 'upstream_no_email');
      github.behaviour.error = 'redirect_uri_mismatch';
      assert.equal(problemOf(await come()), 'upstream_refused');
      await service.api('POST', `/idps/${idp}/lifecycle/deactivate`);
    },
  );

  await t.test('Microsoft: the issuer of many tenants, told by tid; email counts with xms_edov only', async () => {
    const microsoft = await startUpstream(t, { path: '/common/v2.0' });
    microsoft.behaviour.discoveryIssuer = `${microsoft.origin}/{tenantid}/v2.0`;
    microsoft.behaviour.responseIssuer = null;
    const idp = await createIdp(service, { ...idpBody(microsoft), type: 'MICROSOFT', name: 'Microsoft' });
    const come = async (subject: string, claims: Record<string, unknown>, iss = `${microsoft.origin}/${TENANT}/v2.0`) => {
      microsoft.behaviour.subject = subject;
      microsoft.behaviour.claims = {
        ver: '2.0',
        tid: TENANT,
        oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
        preferred_username: 'ada@contoso.example',
        name: 'Ada',
        ...claims,
      };
      microsoft.behaviour.idToken = { iss };
      return signInAt(new UserAgent(service.baseUrl), request(), idp);
    };
    assert.ok(isAdmitted(await come('AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ', { email: 'ada@contoso.example', xms_edov: true })));
    assert.equal(
      problemOf(await come('B', { email: 'boss@contoso.example' })),
      'upstream_no_email',
      'any tenant may write any address (nOAuth)',
    );
    assert.equal(problemOf(await come('B', { email: 'boss@contoso.example', email_verified: true })), 'upstream_no_email');
    assert.equal(problemOf(await come('B', { email: 'boss@contoso.example', xms_edov: '0' })), 'upstream_no_email');
    const other = '11111111-86f1-41af-91ab-2d7cd011db47';
    assert.equal(
      problemOf(await come('C', { email: 'c@contoso.example', xms_edov: 1 }, `${microsoft.origin}/${other}/v2.0`)),
      'upstream_untrusted',
      'iss and tid differ',
    );
    assert.equal(
      problemOf(await come('C', { email: 'c@contoso.example', xms_edov: 1, tid: 'common' }, `${microsoft.origin}/common/v2.0`)),
      'upstream_untrusted',
    );
    microsoft.behaviour.foreignKey = true;
    assert.equal(problemOf(await come('C', { email: 'c@contoso.example', xms_edov: 1 })), 'upstream_untrusted');
    microsoft.behaviour.foreignKey = false;
    const agent = new UserAgent(service.baseUrl);
    const { url } = await agent.visit(request({ idp, prompt: 'login' }));
    assert.equal(url.searchParams.get('prompt'), 'login');
    assert.ok((await throughUpstream(agent, url)).status > 0);
  });
});
