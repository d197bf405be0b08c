/** Clients from the Go module proxy: go-oidc as its example begins, the device flow of golang.org/x/oauth2, and Okta's SDK. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program } from '../support/docs.ts';
import { listen } from '../support/listen.ts';
import { eventually, freePort } from '../support/process.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { folderWith, install, mustCarryOut, signInBy, startApplication } from './foreign/setting.ts';

/** @returns why the modules are not there; undefined when ./program is built */
async function build(cwd: string, ...modules: string[]): Promise<string | undefined> {
  const missing = (await install(cwd, 'go', 'mod', 'init', 'client')) ?? (await install(cwd, 'go', 'get', ...modules));
  if (missing === undefined) await mustCarryOut(cwd, {}, 'go', 'build', '-o', 'program', '.');
  return missing;
}

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
  t.diagnostic((await mustCarryOut(cwd, {}, 'go', 'list', '-m', 'golang.org/x/oauth2')).trim());
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

test('Okta’s SDK for Go manages users, groups, applications, policies and reads the log', async (t) => {
  const cwd = folderWith(t, {
    'main.go': `package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/okta/okta-sdk-golang/v5/okta"
)

func must(err error) {
	if err != nil {
		if api, ok := err.(*okta.GenericOpenAPIError); ok {
			panic(string(api.Body()))
		}
		panic(err)
	}
}

func main() {
	// It drops the port of the address; a proxy brings it back.
	proxy, _ := url.Parse(os.Getenv("FORWARD"))
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy)}}
	config, err := okta.NewConfiguration(okta.WithOrgUrl("http://gatehouse.invalid"), okta.WithToken(os.Getenv("TOKEN")),
		okta.WithTestingDisableHttpsCheck(true), okta.WithHttpClientPtr(client), okta.WithCache(false))
	must(err)
	c, ctx := okta.NewAPIClient(config), context.Background()

	profile := okta.NewUserProfile()
	profile.SetLogin("ada@example.com")
	profile.SetEmail("ada@example.com")
	user, _, err := c.UserAPI.CreateUser(ctx).Body(*okta.NewCreateUserRequest(*profile)).Execute()
	must(err)
	users, _, err := c.UserAPI.ListUsers(ctx).Execute()
	must(err)
	group := okta.NewGroup()
	groupProfile := okta.NewGroupProfile()
	groupProfile.SetName("Engineers")
	group.SetProfile(*groupProfile)
	_, _, err = c.GroupAPI.CreateGroup(ctx).Group(*group).Execute()
	must(err)

	oauth := okta.NewOpenIdConnectApplicationSettingsClientWithDefaults()
	oauth.SetRedirectUris([]string{"https://app.example/callback"})
	oauth.SetResponseTypes([]string{"code"})
	oauth.SetGrantTypes([]string{"authorization_code"})
	oauth.SetApplicationType("web")
	settings := okta.NewOpenIdConnectApplicationSettings()
	settings.SetOauthClient(*oauth)
	credentials := okta.NewOAuthApplicationCredentials()
	credentials.SetOauthClient(*okta.NewApplicationCredentialsOAuthClientWithDefaults())
	app := okta.NewOpenIdConnectApplicationWithDefaults()
	app.SetLabel("Shop")
	app.SetName("oidc_client")
	app.SetSignOnMode("OPENID_CONNECT")
	app.SetCredentials(*credentials)
	app.SetSettings(*settings)
	made, _, err := c.ApplicationAPI.CreateApplication(ctx).Application(okta.OpenIdConnectApplicationAsListApplications200ResponseInner(app)).Execute()
	must(err)
	apps, _, err := c.ApplicationAPI.ListApplications(ctx).Execute()
	must(err)
	policies, _, err := c.AuthorizationServerPoliciesAPI.ListAuthorizationServerPolicies(ctx, "default").Execute()
	must(err)
	events, _, err := c.SystemLogAPI.ListLogEvents(ctx).Execute()
	must(err)
	fmt.Println("managed", *user.Id, *made.OpenIdConnectApplication.Id, len(users), len(apps), len(policies), len(events))
}
`,
  });
  const missing = await build(cwd, 'github.com/okta/okta-sdk-golang/v5/okta@v5.0.2');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const forward = await listen(t, 'localhost', async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(req.url ?? '/', 'http://gatehouse.invalid');
    const { host: _, 'proxy-connection': __, connection: ___, ...headers } = req.headers;
    const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
    const answer = await fetch(service.baseUrl + pathname + search, {
      method: req.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...body,
    });
    res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(Buffer.from(await answer.arrayBuffer()));
  });
  assert.match(await mustCarryOut(cwd, { FORWARD: forward, TOKEN: API_TOKEN }, './program'), /managed usr_\w+ app_\w+/);
});
