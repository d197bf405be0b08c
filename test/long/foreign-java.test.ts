/** Clients from Maven Central: Spring Boot as its documentation says (login, both logouts, both kinds of resource server, DPoP), and Okta's SDK. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { codeBlocks } from '../support/docs.ts';
import { eventually, freePort } from '../support/process.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { checkOktaStory } from './foreign/okta-story.ts';
import { folderWith, mustRun, runProgram, signInBy, startApplication } from './foreign/setting.ts';

const dependency = (group: string, artifact: string, version: string): string =>
  `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;

const pom = (dependencies: readonly string[], build: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>app</groupId><artifactId>app</artifactId><version>1</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>${dependencies.join('')}</dependencies>
  ${build}
</project>
`;

/** @returns why it cannot be built here; undefined when the project is built */
async function build(cwd: string, ...goals: string[]): Promise<string | undefined> {
  const { code, output } = await runProgram(cwd, {}, 'mvn', '--batch-mode', '--quiet', ...goals);
  if (code === undefined) return 'mvn is not on this machine';
  if (code === 0) return undefined;
  if (/Could not (transfer|find artifact)|Non-resolvable/.test(output)) return output.trim().split('\n').slice(0, 2).join(' ');
  throw new Error(output.slice(-6000));
}

/** A Maven project's folder: sources lie deeper than the others' files. */
function project(t: Parameters<typeof folderWith>[0], pomText: string, source: string): string {
  const cwd = folderWith(t, { 'pom.xml': pomText });
  const sources = 'src/main/java/app';
  mkdirSync(path.join(cwd, sources), { recursive: true });
  writeFileSync(path.join(cwd, sources, 'Application.java'), source);
  return cwd;
}

test('how to: Spring Boot 3.5: login, RP-initiated and back-channel logout, resource servers by JWT and by introspection', async (t) => {
  const [pomText = ''] = codeBlocks('how-to/connect-spring', 'xml');
  const [configuration = ''] = codeBlocks('how-to/connect-spring', 'yaml');
  const [source = ''] = codeBlocks('how-to/connect-spring', 'java');
  const cwd = project(t, pomText, source);
  mkdirSync(path.join(cwd, 'src/main/resources'), { recursive: true });
  writeFileSync(path.join(cwd, 'src/main/resources/application.yml'), configuration);
  const missing = await build(cwd, 'package');
  if (missing !== undefined) return t.skip(missing);

  const service = await startService(t, { sendsOutbox: true, env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const user = await service.createUser({ email: 'ada@example.com' });
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const { clientId, clientSecret = '' } = await service.createApp({
    redirect_uris: [`${origin}/login/oauth2/code/gatehouse`],
    post_logout_redirect_uris: [`${origin}/bye`],
    backchannel_logout_uri: `${origin}/logout/connect/back-channel/gatehouse`,
    // Its state ends in "=".
    profile: 'openid',
  });
  const issuer = service.issuer('default');
  const { body: opaque } = await service.api('POST', '/authorizationServers', {
    id: 'opaque',
    name: 'Opaque',
    audiences: ['api://opaque'],
    accessTokenFormat: 'opaque',
  });
  const { body: machine } = await service.api('POST', '/apps', {
    label: 'Machine',
    settings: { oauthClient: { application_type: 'service', grant_types: ['client_credentials'] } },
  });
  await startApplication(
    t,
    cwd,
    { SERVER_PORT: port, ISSUER: issuer, OPAQUE_ISSUER: service.issuer('opaque'), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
    'java',
    '-jar',
    'target/app-1.jar',
  );
  assert.equal(opaque.id, 'opaque');

  await t.test('signs in, and out everywhere', async () => {
    const application = new UserAgent(origin);
    const browser = new UserAgent(service.baseUrl);
    const left = await application.visit('/me');
    const back = await browser.signIn(await browser.visit(left.url), user);
    const page = await application.visit(back.url);
    assert.equal(page.text, `${user.id} ada@example.com`);

    const out = await application.visit(`${origin}/logout`, { method: 'POST' });
    assert.equal(out.url.pathname, '/oauth/v1/default/logout');
    const done = await browser.visit(out.url);
    assert.equal(String(done.url), `${origin}/bye`);
  });

  await t.test('ends its session by a logout token', async () => {
    const application = new UserAgent(origin);
    await signInBy(service, application, '/me', user);
    assert.equal((await application.visit('/me')).text, `${user.id} ada@example.com`);
    await service.api('DELETE', `/users/${user.id}/sessions`);
    await eventually(async () => (await application.visit('/me')).url.origin !== origin, 'the session has ended');
  });

  await t.test('admits by JWT of the type JWT, and by introspection', async () => {
    const { body: settings } = await service.api('GET', '/authorizationServers/default');
    await service.api('PUT', '/authorizationServers/default', {
      ...settings,
      accessTokenType: 'JWT',
      audiences: ['api://default', 'api://other'],
    });
    const { client_id, client_secret } = machine.credentials.oauthClient;
    const token = async (serverId: string, resource: Record<string, string> = {}): Promise<string> => {
      const authorization = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
      const body = new URLSearchParams({ grant_type: 'client_credentials', ...resource });
      const answer = await fetch(`${service.issuer(serverId)}/token`, { method: 'POST', headers: { authorization }, body });
      return ((await answer.json()) as { access_token: string }).access_token;
    };
    const call = async (place: string, bearer: string) => {
      const answer = await fetch(`${origin}/${place}`, { headers: { authorization: `Bearer ${bearer}` } });
      return [answer.status, await answer.text()];
    };
    assert.deepEqual(await call('jwt', await token('default')), [200, client_id]);
    const [status] = await call('jwt', await token('default', { resource: 'api://other' }));
    assert.equal(status, 401, 'a token for another API');
    assert.deepEqual(await call('opaque', await token('opaque')), [200, client_id]);
    for (const place of ['jwt', 'opaque']) assert.equal((await call(place, 'nonsense'))[0], 401, place);
  });
});

const BOUND = `package app;

import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.context.WebServerInitializedEvent;
import org.springframework.context.annotation.Bean;
import org.springframework.context.event.EventListener;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.SpringSecurityCoreVersion;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.http.HttpHeaders;
import org.springframework.security.oauth2.client.endpoint.OAuth2ClientCredentialsGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientClientCredentialsTokenResponseClient;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.jwt.JwsHeader;
import org.springframework.security.oauth2.jwt.JwtClaimsSet;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtEncoderParameters;
import org.springframework.security.oauth2.jwt.JwtValidators;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

@SpringBootApplication
@RestController
public class Application {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @EventListener
    void ready(WebServerInitializedEvent event) {
        System.out.println("Spring Security " + SpringSecurityCoreVersion.getVersion() + " is listening at its port");
    }

    @Bean
    JwtDecoder decoder(@Value("\${ISSUER}") String issuer, @Value("\${AUDIENCE}") String audience, @Value("\${CLIENT_ID}") String clientId) {
        var decoder = NimbusJwtDecoder.withIssuerLocation(issuer).validateType(false).build();
        decoder.setJwtValidator(JwtValidators.createAtJwtValidator().issuer(issuer).audience(audience).clientId(clientId).build());
        return decoder;
    }

    @Bean
    SecurityFilterChain api(HttpSecurity http) throws Exception {
        return http.authorizeHttpRequests(all -> all.requestMatchers("/client").permitAll().anyRequest().authenticated())
            .oauth2ResourceServer(server -> server.jwt(Customizer.withDefaults())).build();
    }

    @GetMapping("/me")
    Map<String, String> me(Authentication authentication) {
        return Map.of("sub", authentication.getName());
    }

    static String proof(ECKey key, String method, String uri, String token) {
        try {
            var header = JwsHeader.with(SignatureAlgorithm.ES256).type("dpop+jwt").jwk(key.toPublicJWK().toJSONObject()).build();
            var claims = JwtClaimsSet.builder().issuedAt(Instant.now()).id(UUID.randomUUID().toString()).claim("htm", method).claim("htu", uri);
            if (token != null) {
                var hash = MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.US_ASCII));
                claims.claim("ath", Base64.getUrlEncoder().withoutPadding().encodeToString(hash));
            }
            return new NimbusJwtEncoder(new ImmutableJWKSet<>(new JWKSet(key))).encode(JwtEncoderParameters.from(header, claims.build())).getTokenValue();
        } catch (Exception exception) {
            throw new IllegalStateException(exception);
        }
    }

    @GetMapping("/client")
    Map<String, Object> client(HttpServletRequest request, @Value("\${ISSUER}") String issuer, @Value("\${CLIENT_ID}") String id,
        @Value("\${CLIENT_SECRET}") String secret) throws Exception {
        var key = new ECKeyGenerator(Curve.P_256).generate();
        var registration = ClientRegistrations.fromIssuerLocation(issuer).registrationId("gatehouse").clientId(id).clientSecret(secret)
            .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS).build();
        var tokens = new RestClientClientCredentialsTokenResponseClient();
        tokens.addHeadersConverter(grant -> {
            var headers = new HttpHeaders();
            headers.set("DPoP", proof(key, "POST", grant.getClientRegistration().getProviderDetails().getTokenUri(), null));
            return headers;
        });
        var token = tokens.getTokenResponse(new OAuth2ClientCredentialsGrantRequest(registration)).getAccessToken();
        var api = "http://localhost:" + request.getServerPort() + "/me";
        var type = token.getTokenType().getValue();
        var answer = RestClient.create().get().uri(api).headers(headers -> {
            headers.set("Authorization", type + " " + token.getTokenValue());
            headers.set("DPoP", proof(key, "GET", api, token.getTokenValue()));
        }).retrieve().body(Map.class);
        return Map.of("type", type, "me", answer);
    }
}
`;

test('Spring Security 6.5 with DPoP: as resource server, what a thief of a token can do, and as client (RFC 9449)', async (t) => {
  const [pomText = ''] = codeBlocks('how-to/connect-spring', 'xml');
  const cwd = project(t, pomText, BOUND);
  const missing = await build(cwd, 'package');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const { clientId, clientSecret = '' } = await service.createApp({
    application_type: 'service',
    grant_types: ['client_credentials'],
    dpop_bound_access_tokens: true,
  });
  const port = await freePort();
  const env = {
    SERVER_PORT: port,
    ISSUER: service.issuer('default'),
    AUDIENCE: 'api://default',
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
  };
  const output = await startApplication(t, cwd, env, 'java', '-jar', 'target/app-1.jar');
  t.diagnostic(/Spring Security [\d.]+/.exec(output())?.[0] ?? '');

  const insecure = { [oauth.allowInsecureRequests]: true } as const;
  const issuer = new URL(service.issuer('default'));
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const client: oauth.Client = { client_id: clientId };
  const [own, stolen] = [await oauth.generateKeyPair('ES256'), await oauth.generateKeyPair('ES256')].map((pair) =>
    oauth.DPoP(client, pair),
  );
  assert.ok(own !== undefined && stolen !== undefined);
  const parameters = new URLSearchParams();
  const answer = await oauth.clientCredentialsGrantRequest(as, client, oauth.ClientSecretBasic(clientSecret), parameters, {
    ...insecure,
    DPoP: own,
  });
  const { access_token: token, token_type: type } = await oauth.processClientCredentialsResponse(as, client, answer);
  assert.equal(type, 'dpop');

  const api = new URL(`http://localhost:${port}/me`);
  const call = (proof: oauth.DPoPHandle) =>
    oauth.protectedResourceRequest(token, 'GET', api, undefined, undefined, { ...insecure, DPoP: proof });
  const allowed = await call(own);
  assert.deepEqual([allowed.status, await allowed.json()], [200, { sub: clientId }], output());
  const status = async (request: Promise<Response>) => (await request.catch(({ response }) => response as Response)).status;
  assert.equal(await status(call(stolen)), 401, 'a proof by another key');
  const headers = { authorization: `DPoP ${token}` };
  assert.equal(await status(fetch(api, { headers })), 401, 'without a proof');
  const bearer = { authorization: `Bearer ${token}` };
  assert.equal(await status(fetch(api, { headers: bearer })), 401, 'as a bearer token');

  // Spring's client knows the token type, and makes no proofs: they go in by its converter of headers.
  const byClient = await fetch(`http://localhost:${port}/client`);
  assert.deepEqual([byClient.status, await byClient.json()], [200, { type: 'DPoP', me: { sub: clientId } }], output());
});

const STORY = `package app;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.okta.sdk.authc.credentials.TokenClientCredentials;
import com.okta.sdk.client.Clients;
import com.okta.sdk.resource.api.*;
import com.okta.sdk.resource.client.ApiClient;
import com.okta.sdk.resource.model.*;
import java.util.LinkedHashMap;
import java.util.Map;

public class Application {
    static ObjectMapper json;

    // The models have a setter for each field; JSON is shorter.
    static <T> T from(Class<T> type, String text, Object... values) throws Exception {
        return json.readValue(text.formatted(values), type);
    }

    static CreateUserRequest user(String login) throws Exception {
        return from(CreateUserRequest.class, """
            {"profile": {"login": "%s", "email": "%s", "firstName": "Ada", "lastName": "Lovelace"}}""", login, login);
    }

    static String application(ApplicationApi apps, String label) throws Exception {
        return apps.createApplication(from(OpenIdConnectApplication.class, """
            {"name": "oidc_client", "label": "%s", "signOnMode": "OPENID_CONNECT", "credentials": {"oauthClient": {}}, "settings": {"oauthClient":
              {"redirect_uris": ["https://app.example/callback"], "response_types": ["code"], "grant_types": ["authorization_code"], "application_type": "web"}}}""", label), true, null).getId();
    }

    public static void main(String[] args) throws Exception {
        System.setProperty("okta.testing.disableHttpsCheck", "true");
        ApiClient client = Clients.builder().setOrgUrl(System.getenv("ORG")).setClientCredentials(new TokenClientCredentials(System.getenv("TOKEN"))).build();
        json = client.getObjectMapper();
        SchemaApi schemas = new SchemaApi(client);
        schemas.updateUserProfile("default", from(UserSchema.class, """
            {"definitions": {"custom": {"id": "#custom", "type": "object", "properties": {"seats": {"title": "Seats", "type": "integer", "unique": "UNIQUE_VALIDATED"}}}}}"""));
        UserSchema whole = schemas.getUserSchema("default");
        whole.getDefinitions().getCustom().getProperties().get("seats").setTitle("Places");
        schemas.updateUserProfile("default", whole);
        UserSchemaAttribute seats = schemas.getUserSchema("default").getDefinitions().getCustom().getProperties().get("seats");

        UserApi users = new UserApi(client);
        String user = users.createUser(user("ada@example.com"), true, null, null).getId();
        users.updateUser(user, from(UpdateUserRequest.class, """
            {"profile": {"lastName": "Byron"}}"""), null);
        String former = users.createUser(user("former@example.com"), true, null, null).getId();
        new UserLifecycleApi(client).deactivateUser(former, null, null);
        users.deleteUser(former, null, null);

        GroupApi groups = new GroupApi(client);
        String group = groups.addGroup(from(AddGroupRequest.class, """
            {"profile": {"name": "Engineers"}}""")).getId();
        groups.assignUserToGroup(group, user);

        ApplicationApi apps = new ApplicationApi(client);
        String app = application(apps, "Shop"), formerApp = application(apps, "Former");
        new ApplicationGroupsApi(client).assignGroupToApplication(app, group, new ApplicationGroupAssignment());
        apps.deactivateApplication(formerApp);
        apps.deleteApplication(formerApp);

        AuthorizationServerApi servers = new AuthorizationServerApi(client);
        String server = servers.createAuthorizationServer(from(AuthorizationServer.class, """
            {"name": "Orders", "description": "Orders", "audiences": ["https://orders.example"]}""")).getId();
        String scope = new AuthorizationServerScopesApi(client).createOAuth2Scope(server, from(OAuth2Scope.class, """
            {"name": "orders.read", "displayName": "Read your orders", "consent": "REQUIRED"}""")).getId();
        String claim = new AuthorizationServerClaimsApi(client).createOAuth2Claim(server, from(OAuth2Claim.class, """
            {"name": "groups", "claimType": "RESOURCE", "valueType": "GROUPS", "group_filter_type": "STARTS_WITH", "value": "Eng", "status": "ACTIVE"}""")).getId();
        AuthorizationServerPoliciesApi policies = new AuthorizationServerPoliciesApi(client);
        String policy = policies.createAuthorizationServerPolicy(server, from(AuthorizationServerPolicy.class, """
            {"type": "OAUTH_AUTHORIZATION_POLICY", "name": "Shop", "description": "Shop", "priority": 1, "conditions": {"clients": {"include": ["%s"]}}}""", app)).getId();
        String rule = new AuthorizationServerRulesApi(client).createAuthorizationServerPolicyRule(server, policy, from(AuthorizationServerPolicyRuleRequest.class, """
            {"type": "RESOURCE_ACCESS", "name": "Everyone", "priority": 1, "conditions": {"people": {"groups": {"include": ["EVERYONE"]}},
              "grantTypes": {"include": ["authorization_code"]}, "scopes": {"include": ["*"]}}, "actions": {"token": {"accessTokenLifetimeMinutes": 30}}}""")).getId();

        Map<String, Object> told = new LinkedHashMap<>(Map.of("user", user, "former", former, "group", group, "app", app, "server", server,
            "scope", scope, "claim", claim, "policy", policy, "rule", rule));
        told.put("title", seats.getTitle());
        told.put("unique", seats.getUnique());
        told.put("lists", Map.of(
            "users", users.listUsers(null, null, null, null, null, null, null, null).size(),
            "members", groups.listGroupUsers(group, null, null).size(),
            "groups", groups.listGroups(null, null, null, null, null, null, null, null).size(),
            "apps", apps.listApplications(null, null, null, null, null, null, null).size(),
            "servers", servers.listAuthorizationServers(null, null, null).size(),
            "policies", policies.listAuthorizationServerPolicies(server).size(),
            "events", new SystemLogApi(client).listLogEvents(null, null, null, null, null, 100, null).size()));
        System.out.println(new ObjectMapper().writeValueAsString(told));
    }
}
`;

test('Okta’s SDK for Java tells the story of all SDKs', async (t) => {
  const cwd = project(
    t,
    pom(
      [dependency('com.okta.sdk', 'okta-sdk-api', '24.0.0'), dependency('com.okta.sdk', 'okta-sdk-impl', '24.0.0')],
      '<build><plugins><plugin><groupId>org.codehaus.mojo</groupId><artifactId>exec-maven-plugin</artifactId><version>3.5.0</version></plugin></plugins></build>',
    ),
    STORY,
  );
  const missing = await build(cwd, 'compile');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const run = ['--batch-mode', '--quiet', 'exec:java', '-Dexec.mainClass=app.Application'];
  const output = await mustRun(cwd, { ORG: service.baseUrl, TOKEN: API_TOKEN }, 'mvn', ...run);
  await checkOktaStory(service, output);
});
