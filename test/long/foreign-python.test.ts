/** Clients from PyPI: Authlib as its Flask guide begins, and Okta's SDK. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { folderWith, mustCarryOut, pipInstall, signInBy, startApplication } from './foreign/setting.ts';

const FRAMEWORKS = [
  { title: 'Flask', index: 0, packages: ['authlib', 'flask', 'requests'] },
  { title: 'Django', index: 1, packages: ['authlib', 'django', 'requests'] },
];
for (const { title, index, packages } of FRAMEWORKS) {
  test(`how to: Authlib signs in by ${title}, on the default server as it is made`, async (t) => {
    const port = await freePort();
    const cwd = folderWith(t, { 'web.py': program('connect-flask-django', 'python', port, index) });
    const { python, missing } = await pipInstall(cwd, ...packages);
    if (missing !== undefined) return t.skip(missing);
    const service = await startService(t);
    const origin = `http://localhost:${port}`;
    const { clientId, clientSecret = '' } = await service.createApp({ redirect_uris: [`${origin}/callback`] });
    const user = await service.createUser({ email: 'ada@example.com' });
    const env = { ISSUER: service.issuer('default'), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
    const output = await startApplication(t, cwd, env, python, '-u', 'web.py');
    const page = await signInBy(service, new UserAgent(origin), '/login', user);
    assert.match(page.text, /ada@example\.com/, output());
  });
}

test('Okta’s SDK for Python manages users, groups, applications, servers, policies and reads the log', async (t) => {
  const cwd = folderWith(t, {
    'main.py': `import asyncio, os
from okta.client import Client
from okta import models as m

def value(answer):
    result, *_, error = answer
    if error is not None:
        raise SystemExit(f'{error!r} {error}')
    return result

async def main():
    c = Client({'orgUrl': os.environ['BASE_URL'], 'token': os.environ['TOKEN']})
    profile = m.UserProfile(login='ada@example.com', email='ada@example.com', first_name='Ada', last_name='Lovelace')
    user = value(await c.create_user(m.CreateUserRequest(profile=profile)))
    users = value(await c.list_users())
    assert any(u.id == user.id and u.credentials.provider.type == 'OKTA' for u in users)
    group = value(await c.add_group(m.AddGroupRequest(profile=m.OktaUserGroupProfile(name='Engineers'))))
    assert group.id in [g.id for g in value(await c.list_groups())]
    settings = m.OpenIdConnectApplicationSettings(oauth_client=m.OpenIdConnectApplicationSettingsClient(
        redirect_uris=['https://app.example/callback'], response_types=['code'], grant_types=['authorization_code'], application_type='web'))
    credentials = m.OAuthApplicationCredentials(oauth_client=m.ApplicationCredentialsOAuthClient(token_endpoint_auth_method='client_secret_basic'))
    app = value(await c.create_application(m.OpenIdConnectApplication(
        name='oidc_client', label='Shop', sign_on_mode='OPENID_CONNECT', credentials=credentials, settings=settings)))
    apps = value(await c.list_applications())
    found = [one.id for one in apps]
    assert app.id in found and 'playground' in found, found
    servers = value(await c.list_authorization_servers())
    assert 'default' in [s.id for s in servers]
    assert value(await c.list_authorization_server_policies('default'))
    assert value(await c.list_o_auth2_scopes('default'))
    events = value(await c.list_log_events())
    assert any(e.client.user_agent and e.client.user_agent.raw_user_agent for e in events)
    print('managed', len(users), len(apps), len(events))

asyncio.run(main())
`,
  });
  const { python, missing } = await pipInstall(cwd, 'okta==3.4.6');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const env = { BASE_URL: service.baseUrl, TOKEN: API_TOKEN, OKTA_TESTING_TESTINGDISABLEHTTPSCHECK: 'true' };
  assert.match(await mustCarryOut(cwd, env, python, 'main.py'), /managed \d+/);
});
