/** The story that all four of Okta's SDKs tell; those for Python, Go and Java tell it in test/long/foreign-…. */
import { test } from 'node:test';
import { checkOktaStory } from '../../long/foreign/okta-story.ts';
import { startService } from '../../support/service.ts';
import { all, oktaClient } from './client.ts';

test('Okta’s SDK for Node.js tells the story of all SDKs', async (t) => {
  const service = await startService(t);
  const { userApi, groupApi, applicationApi, authorizationServerApi, systemLogApi, schemaApi } = oktaClient(service);
  const idOf = async (made: Promise<{ id?: string }>): Promise<string> => String((await made).id);

  const seats = { id: '#custom', type: 'object', properties: { seats: { title: 'Seats', type: 'integer', unique: 'UNIQUE_VALIDATED' } } };
  await schemaApi.updateUserProfile({ schemaId: 'default', userSchema: { definitions: { custom: seats } } as never });
  const propertyOf = (schema: Awaited<ReturnType<typeof schemaApi.getUserSchema>>) => schema.definitions?.custom?.properties?.seats;
  const whole = await schemaApi.getUserSchema({ schemaId: 'default' });
  Object.assign(propertyOf(whole) ?? {}, { title: 'Places' });
  await schemaApi.updateUserProfile({ schemaId: 'default', userSchema: whole });
  const seatsRead = propertyOf(await schemaApi.getUserSchema({ schemaId: 'default' }));

  const profile = (login: string) => ({ profile: { login, email: login, firstName: 'Ada', lastName: 'Lovelace' } });
  const user = await idOf(userApi.createUser({ body: profile('ada@example.com') }));
  await userApi.updateUser({ userId: user, user: { profile: { lastName: 'Byron' } } });
  const former = await idOf(userApi.createUser({ body: profile('former@example.com') }));
  await userApi.deactivateUser({ userId: former });
  await userApi.deleteUser({ userId: former });

  const group = await idOf(groupApi.createGroup({ group: { profile: { name: 'Engineers' } } }));
  await groupApi.assignUserToGroup({ groupId: group, userId: user });

  const application = (label: string) => {
    const settings = { redirect_uris: ['https://app.example/callback'], response_types: ['code'], grant_types: ['authorization_code'] };
    const body = {
      ...{ name: 'oidc_client', label, signOnMode: 'OPENID_CONNECT', credentials: { oauthClient: {} } },
      settings: { oauthClient: { ...settings, application_type: 'web' } },
    };
    return idOf(applicationApi.createApplication({ application: body as never }));
  };
  const [app, formerApp] = [await application('Shop'), await application('Former')];
  await applicationApi.assignGroupToApplication({ appId: app, groupId: group });
  await applicationApi.deactivateApplication({ appId: formerApp });
  await applicationApi.deleteApplication({ appId: formerApp });

  const orders = { name: 'Orders', description: 'Orders', audiences: ['https://orders.example'] };
  const server = await idOf(authorizationServerApi.createAuthorizationServer({ authorizationServer: orders }));
  const at = { authServerId: server };
  const oAuth2Scope = { name: 'orders.read', displayName: 'Read your orders', consent: 'REQUIRED' };
  const scope = await idOf(authorizationServerApi.createOAuth2Scope({ ...at, oAuth2Scope: oAuth2Scope as never }));
  const oAuth2Claim = { name: 'groups', claimType: 'RESOURCE', valueType: 'GROUPS', group_filter_type: 'STARTS_WITH', value: 'Eng' };
  const claim = await idOf(authorizationServerApi.createOAuth2Claim({ ...at, oAuth2Claim: oAuth2Claim as never }));
  const named = { type: 'OAUTH_AUTHORIZATION_POLICY', name: 'Shop', description: 'Shop', priority: 1 };
  const shop = { ...named, conditions: { clients: { include: [app] } } };
  const policy = await idOf(authorizationServerApi.createAuthorizationServerPolicy({ ...at, policy: shop as never }));
  const everyone = {
    ...{ type: 'RESOURCE_ACCESS', name: 'Everyone', priority: 1, actions: { token: { accessTokenLifetimeMinutes: 30 } } },
    conditions: {
      people: { groups: { include: ['EVERYONE'] } },
      grantTypes: { include: ['authorization_code'] },
      scopes: { include: ['*'] },
    },
  };
  const ruleOf = { ...at, policyId: policy, policyRule: everyone as never };
  const rule = await idOf(authorizationServerApi.createAuthorizationServerPolicyRule(ruleOf));

  const lists = {
    users: (await all(userApi.listUsers())).length,
    members: (await all(groupApi.listGroupUsers({ groupId: group }))).length,
    groups: (await all(groupApi.listGroups())).length,
    apps: (await all(applicationApi.listApplications())).length,
    servers: (await all(authorizationServerApi.listAuthorizationServers())).length,
    policies: (await all(authorizationServerApi.listAuthorizationServerPolicies(at))).length,
    events: (await all(systemLogApi.listLogEvents({ limit: 10 }))).length,
  };
  await checkOktaStory(
    service,
    JSON.stringify({
      user,
      former,
      group,
      app,
      server,
      scope,
      claim,
      policy,
      rule,
      title: seatsRead?.title,
      unique: seatsRead?.unique,
      lists,
    }),
  );
});
