/** Clients from PyPI: Authlib as its Flask guide begins, and Okta's SDK. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program } from '../support/docs.ts';
import { freePort } from '../support/process.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { checkOktaStory } from './foreign/okta-story.ts';
import { folderWith, mustRun, pipInstall, signInBy, startApplication } from './foreign/setting.ts';

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

const STORY = `import asyncio, json, os
from okta.client import Client
from okta import models as m

def value(answer):
    result, *_, error = answer
    if error is not None:
        raise SystemExit(f'{error!r} {error}')
    return result

def user_of(login, **profile):
    return m.CreateUserRequest.from_dict({'profile': {'login': login, 'email': login, **profile}})

def application(label):
    return m.OpenIdConnectApplication.from_dict({'name': 'oidc_client', 'label': label, 'signOnMode': 'OPENID_CONNECT',
        'credentials': {'oauthClient': {'token_endpoint_auth_method': 'client_secret_basic'}},
        'settings': {'oauthClient': {'redirect_uris': ['https://app.example/callback'], 'response_types': ['code'],
            'grant_types': ['authorization_code'], 'application_type': 'web'}}})

# Its model of a schema has a boolean there, which Okta's own answers have not: as the how-to says, without the model.
async def unique_seats(client):
    executor = client.get_request_executor()
    async def call(method, body=None):
        request, error = await executor.create_request(method, '/api/v1/meta/schemas/user/default', body)
        _, text, error = (None, None, error) if error else await executor.execute(request)
        return json.loads(value((text, None, error)))
    seats = {'title': 'Places', 'type': 'integer', 'unique': 'UNIQUE_VALIDATED'}
    await call('POST', {'definitions': {'custom': {'properties': {'seats': seats}}}})
    return (await call('GET'))['definitions']['custom']['properties']['seats']['unique']

async def main():
    c = Client({'orgUrl': os.environ['BASE_URL'], 'token': os.environ['TOKEN']})
    seats = {'id': '#custom', 'type': 'object', 'properties': {'seats': {'title': 'Seats', 'type': 'integer'}}}
    value(await c.update_user_profile('default', m.UserSchema.from_dict({'definitions': {'custom': seats}})))
    whole = value(await c.get_user_schema('default'))
    whole.definitions.custom.properties['seats'].title = 'Places'
    value(await c.update_user_profile('default', whole))
    title = value(await c.get_user_schema('default')).definitions.custom.properties['seats'].title

    user = value(await c.create_user(user_of('ada@example.com', firstName='Ada', lastName='Lovelace'))).id
    value(await c.update_user(user, m.UpdateUserRequest.from_dict({'profile': {'lastName': 'Byron'}})))
    former = value(await c.create_user(user_of('former@example.com'))).id
    value(await c.deactivate_user(former))
    value(await c.delete_user(former))

    group = value(await c.add_group(m.AddGroupRequest(profile=m.OktaUserGroupProfile(name='Engineers')))).id
    value(await c.assign_user_to_group(group, user))

    app, former_app = [value(await c.create_application(application(label))).id for label in ('Shop', 'Former')]
    value(await c.assign_group_to_application(app, group))
    value(await c.deactivate_application(former_app))
    value(await c.delete_application(former_app))

    server = value(await c.create_authorization_server(m.AuthorizationServer.from_dict(
        {'name': 'Orders', 'description': 'Orders', 'audiences': ['https://orders.example']}))).id
    scope = value(await c.create_o_auth2_scope(server, m.OAuth2Scope.from_dict(
        {'name': 'orders.read', 'displayName': 'Read your orders', 'consent': 'REQUIRED'}))).id
    claim = value(await c.create_o_auth2_claim(server, m.OAuth2Claim.from_dict({'name': 'groups', 'claimType': 'RESOURCE',
        'valueType': 'GROUPS', 'group_filter_type': 'STARTS_WITH', 'value': 'Eng', 'status': 'ACTIVE'}))).id
    policy = value(await c.create_authorization_server_policy(server, m.AuthorizationServerPolicy.from_dict(
        {'type': 'OAUTH_AUTHORIZATION_POLICY', 'name': 'Shop', 'description': 'Shop', 'priority': 1, 'conditions': {'clients': {'include': [app]}}}))).id
    rule = value(await c.create_authorization_server_policy_rule(server, policy, m.AuthorizationServerPolicyRuleRequest.from_dict(
        {'type': 'RESOURCE_ACCESS', 'name': 'Everyone', 'priority': 1, 'conditions': {'people': {'groups': {'include': ['EVERYONE']}},
            'grantTypes': {'include': ['authorization_code']}, 'scopes': {'include': ['*']}},
            'actions': {'token': {'accessTokenLifetimeMinutes': 30}}}))).id

    users, events = value(await c.list_users()), value(await c.list_log_events())
    assert any(u.id == user and u.credentials.provider.type == 'OKTA' for u in users)
    assert any(e.client.user_agent and e.client.user_agent.raw_user_agent for e in events)
    lists = {'users': users, 'events': events, 'members': value(await c.list_group_users(group)), 'groups': value(await c.list_groups()),
        'apps': value(await c.list_applications()), 'servers': value(await c.list_authorization_servers()),
        'policies': value(await c.list_authorization_server_policies(server))}
    unique = await unique_seats(c)
    print(json.dumps({'user': user, 'former': former, 'group': group, 'app': app, 'server': server, 'scope': scope, 'claim': claim,
        'policy': policy, 'rule': rule, 'title': title, 'unique': unique, 'lists': {name: len(one) for name, one in lists.items()}}))

asyncio.run(main())
`;

test('Okta’s SDK for Python tells the story of all SDKs', async (t) => {
  const cwd = folderWith(t, { 'main.py': STORY });
  const { python, missing } = await pipInstall(cwd, 'okta==3.4.6');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const env = { BASE_URL: service.baseUrl, TOKEN: API_TOKEN, OKTA_TESTING_TESTINGDISABLEHTTPSCHECK: 'true' };
  await checkOktaStory(service, await mustRun(cwd, env, python, 'main.py'));
});
