/** Clients from the Go module proxy: go-oidc as its example begins, the device flow of golang.org/x/oauth2, and Okta's SDK. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { program } from '../support/docs.ts';
import { eventually, freePort } from '../support/process.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { build, forwardTo } from './foreign/go.ts';
import { checkOktaStory } from './foreign/okta-story.ts';
import { folderWith, mustRun, signInBy, startApplication } from './foreign/setting.ts';

test('how to: go-oidc signs in with PKCE, on the default and the built-in server', async (t) => {
  const port = await freePort();
  const cwd = folderWith(t, { 'main.go': program('connect-go', 'go', port) });
  const missing = await build(cwd, 'github.com/coreos/go-oidc/v3/oidc', 'golang.org/x/oauth2');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const origin = `http://localhost:${port}`;
  const { clientId, clientSecret = '' } = await service.createApp({ redirect_uris: [`${origin}/callback`] });
  for (const serverId of ['default', 'built-in']) {
    await t.test(serverId, async (t) => {
      const env = { ISSUER: service.issuer(serverId), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
      const output = await startApplication(t, cwd, env, './program');
      const page = await signInBy(service, new UserAgent(origin), '/', user);
      assert.equal(JSON.parse(page.text).email, 'ada@example.com', output());
    });
  }
});

const DEVICE = `package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/oauth2"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx, issuer := context.Background(), os.Getenv("ISSUER")
	config := &oauth2.Config{
		ClientID: os.Getenv("CLIENT_ID"),
		Scopes:   []string{"openid", "offline_access"},
		Endpoint: oauth2.Endpoint{
			DeviceAuthURL: issuer + "/device_authorization",
			TokenURL:      issuer + "/token",
			AuthStyle:     oauth2.AuthStyleInParams,
		},
	}
	request, err := config.DeviceAuth(ctx)
	must(err)
	fmt.Println("the device is listening at", request.VerificationURIComplete, "with", request.UserCode)
	token, err := config.DeviceAccessToken(ctx, request)
	if err != nil {
		fmt.Println("refused:", err)
		return
	}
	expired := *token
	expired.Expiry = time.Now().Add(-time.Minute)
	refreshed, err := config.TokenSource(ctx, &expired).Token()
	must(err)
	fmt.Println("tokens:", token.Type(), token.AccessToken != "", refreshed.AccessToken != token.AccessToken)
}
`;

test('golang.org/x/oauth2: a device signs in and refreshes, on the default and the built-in server, and is refused (RFC 8628)', async (t) => {
  const cwd = folderWith(t, { 'main.go': DEVICE });
  const missing = await build(cwd, 'golang.org/x/oauth2');
  if (missing !== undefined) return t.skip(missing);
  t.diagnostic((await mustRun(cwd, {}, 'go', 'list', '-m', 'golang.org/x/oauth2')).trim());
  const service = await startService(t);
  const user = await service.createUser();
  const grant_types = ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'];
  const { clientId } = await service.createApp({ application_type: 'native', grant_types });
  for (const [serverId, answer, expected] of [
    ['default', 'confirm', /tokens: Bearer true true/],
    ['built-in', 'confirm', /tokens: Bearer true true/],
    ['default', 'abort', /refused: .*access_denied/],
  ] as const) {
    const output = await startApplication(t, cwd, { ISSUER: service.issuer(serverId), CLIENT_ID: clientId }, './program');
    const [, link = ''] = /listening at (\S+) with [B-Z]{4}-[B-Z]{4}/.exec(output()) ?? [];
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.submit(await browser.visit(link), 'device-form', { [answer]: 'yes' });
    if (answer === 'confirm') assert.match((await browser.signIn(page, user)).text, /Device connected/);
    // It polls every five seconds.
    await eventually(() => expected.test(output()) || undefined, `${serverId}: ${answer}`);
  }
});

const STORY = `package main

import (
	"encoding/json"
	"fmt"

	"github.com/okta/okta-sdk-golang/v5/okta"
)

func main() {
	c, ctx := connect()

	get(c.SchemaAPI.UpdateUserProfile(ctx, "default").UserSchema(
		from[okta.UserSchema](\`{"definitions": {"custom": {"id": "#custom", "type": "object", "properties": {"seats": {"title": "Seats", "type": "integer", "unique": "UNIQUE_VALIDATED"}}}}}\`)).Execute())
	whole := get(c.SchemaAPI.GetUserSchema(ctx, "default").Execute())
	properties := whole.Definitions.Custom.GetProperties()
	seats := properties["seats"]
	seats.SetTitle("Places")
	properties["seats"] = seats
	get(c.SchemaAPI.UpdateUserProfile(ctx, "default").UserSchema(*whole).Execute())
	seats = get(c.SchemaAPI.GetUserSchema(ctx, "default").Execute()).Definitions.Custom.GetProperties()["seats"]

	user := get(c.UserAPI.CreateUser(ctx).Body(from[okta.CreateUserRequest](\`{"profile": {"login": "ada@example.com", "email": "ada@example.com", "firstName": "Ada", "lastName": "Lovelace"}}\`)).Execute())
	get(c.UserAPI.UpdateUser(ctx, *user.Id).User(from[okta.UpdateUserRequest](\`{"profile": {"lastName": "Byron"}}\`)).Execute())
	former := get(c.UserAPI.CreateUser(ctx).Body(from[okta.CreateUserRequest](\`{"profile": {"login": "former@example.com", "email": "former@example.com"}}\`)).Execute())
	done(c.UserAPI.DeactivateUser(ctx, *former.Id).Execute())
	done(c.UserAPI.DeleteUser(ctx, *former.Id).Execute())

	group := get(c.GroupAPI.CreateGroup(ctx).Group(from[okta.Group](\`{"profile": {"name": "Engineers"}}\`)).Execute())
	done(c.GroupAPI.AssignUserToGroup(ctx, *group.Id, *user.Id).Execute())

	application := func(label string) string {
		body := from[okta.ListApplications200ResponseInner](\`{"name": "oidc_client", "label": %q, "signOnMode": "OPENID_CONNECT", "credentials": {"oauthClient": {}}, "settings": {"oauthClient":
			{"redirect_uris": ["https://app.example/callback"], "response_types": ["code"], "grant_types": ["authorization_code"], "application_type": "web"}}}\`, label)
		return *get(c.ApplicationAPI.CreateApplication(ctx).Application(body).Execute()).OpenIdConnectApplication.Id
	}
	app, formerApp := application("Shop"), application("Former")
	get(c.ApplicationGroupsAPI.AssignGroupToApplication(ctx, app, *group.Id).ApplicationGroupAssignment(*okta.NewApplicationGroupAssignment()).Execute())
	done(c.ApplicationAPI.DeactivateApplication(ctx, formerApp).Execute())
	done(c.ApplicationAPI.DeleteApplication(ctx, formerApp).Execute())

	server := get(c.AuthorizationServerAPI.CreateAuthorizationServer(ctx).AuthorizationServer(
		from[okta.AuthorizationServer](\`{"name": "Orders", "description": "Orders", "audiences": ["https://orders.example"]}\`)).Execute())
	scope := get(c.AuthorizationServerScopesAPI.CreateOAuth2Scope(ctx, *server.Id).OAuth2Scope(
		from[okta.OAuth2Scope](\`{"name": "orders.read", "displayName": "Read your orders", "consent": "REQUIRED"}\`)).Execute())
	claim := get(c.AuthorizationServerClaimsAPI.CreateOAuth2Claim(ctx, *server.Id).OAuth2Claim(
		from[okta.OAuth2Claim](\`{"name": "groups", "claimType": "RESOURCE", "valueType": "GROUPS", "group_filter_type": "STARTS_WITH", "value": "Eng", "status": "ACTIVE"}\`)).Execute())
	policy := get(c.AuthorizationServerPoliciesAPI.CreateAuthorizationServerPolicy(ctx, *server.Id).Policy(
		from[okta.AuthorizationServerPolicy](\`{"type": "OAUTH_AUTHORIZATION_POLICY", "name": "Shop", "description": "Shop", "priority": 1, "conditions": {"clients": {"include": [%q]}}}\`, app)).Execute())
	// Its model of a policy has no field for the ID.
	policyId := fmt.Sprint(policy.AdditionalProperties["id"])
	rule := get(c.AuthorizationServerRulesAPI.CreateAuthorizationServerPolicyRule(ctx, *server.Id, policyId).PolicyRule(
		from[okta.AuthorizationServerPolicyRule](\`{"type": "RESOURCE_ACCESS", "name": "Everyone", "priority": 1, "conditions": {"people": {"groups": {"include": ["EVERYONE"]}},
			"grantTypes": {"include": ["authorization_code"]}, "scopes": {"include": ["*"]}}, "actions": {"token": {"accessTokenLifetimeMinutes": 30}}}\`)).Execute())

	lists := map[string]int{
		"users":    len(get(c.UserAPI.ListUsers(ctx).Execute())),
		"members":  len(get(c.GroupAPI.ListGroupUsers(ctx, *group.Id).Execute())),
		"groups":   len(get(c.GroupAPI.ListGroups(ctx).Execute())),
		"apps":     len(get(c.ApplicationAPI.ListApplications(ctx).Execute())),
		"servers":  len(get(c.AuthorizationServerAPI.ListAuthorizationServers(ctx).Execute())),
		"policies": len(get(c.AuthorizationServerPoliciesAPI.ListAuthorizationServerPolicies(ctx, *server.Id).Execute())),
		"events":   len(get(c.SystemLogAPI.ListLogEvents(ctx).Execute())),
	}
	told, err := json.Marshal(map[string]any{"user": user.Id, "former": former.Id, "group": group.Id, "app": app, "server": server.Id, "scope": scope.Id,
		"claim": claim.Id, "policy": policyId, "rule": rule.Id, "title": seats.GetTitle(), "unique": seats.GetUnique(), "lists": lists})
	must(err)
	fmt.Println(string(told))
}
`;

test('Okta’s SDK for Go tells the story of all SDKs', async (t) => {
  const cwd = folderWith(t, { 'main.go': STORY, 'okta.go': readFileSync('test/long/foreign/okta.go', 'utf8') });
  const missing = await build(cwd, 'github.com/okta/okta-sdk-golang/v5/okta@v5.0.6');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const forward = await forwardTo(t, service);
  await checkOktaStory(service, await mustRun(cwd, { FORWARD: forward, TOKEN: API_TOKEN }, './program'));
});
