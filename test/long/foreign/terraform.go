// The calls behind the resources of Okta's Terraform provider, by the SDK that it builds on (../foreign-terraform.test.ts).
package main

import (
	"encoding/json"
	"fmt"

	"github.com/okta/okta-sdk-golang/v5/okta"
)

// The status of an answer that has no resource.
func status[T any](_ T, response *okta.APIResponse, _ error) int {
	if response == nil || response.Response == nil {
		return 0
	}
	return response.StatusCode
}

func tell(resource string, work func()) {
	failed := ""
	defer func() {
		if reason := recover(); reason != nil {
			failed = fmt.Sprint(reason)
		}
		line, _ := json.Marshal(map[string]string{"resource": resource, "failed": failed})
		fmt.Println(string(line))
	}()
	work()
}

func main() {
	c, ctx := connect()

	var user, group, app, server, policy string
	tell("okta_user", func() {
		made := func(login string) string {
			return *get(c.UserAPI.CreateUser(ctx).Body(from[okta.CreateUserRequest](`{"profile": {"login": %q, "email": %q, "firstName": "Ada"}}`, login, login)).Execute()).Id
		}
		user = made("ada@tf.example")
		get(c.UserAPI.GetUser(ctx, user).Execute())
		get(c.UserAPI.UpdateUser(ctx, user).User(from[okta.UpdateUserRequest](`{"profile": {"lastName": "Byron"}}`)).Execute())
		former := made("former@tf.example")
		done(c.UserAPI.SuspendUser(ctx, former).Execute())
		done(c.UserAPI.UnsuspendUser(ctx, former).Execute())
		done(c.UserAPI.DeactivateUser(ctx, former).Execute())
		done(c.UserAPI.DeleteUser(ctx, former).Execute())
	})
	tell("okta_group", func() {
		group = *get(c.GroupAPI.CreateGroup(ctx).Group(from[okta.Group](`{"profile": {"name": "Engineers"}}`)).Execute()).Id
		get(c.GroupAPI.GetGroup(ctx, group).Execute())
		get(c.GroupAPI.ReplaceGroup(ctx, group).Group(from[okta.Group](`{"profile": {"name": "Engineers", "description": "Two"}}`)).Execute())
		former := *get(c.GroupAPI.CreateGroup(ctx).Group(from[okta.Group](`{"profile": {"name": "Former"}}`)).Execute()).Id
		done(c.GroupAPI.DeleteGroup(ctx, former).Execute())
	})
	members := func() {
		done(c.GroupAPI.AssignUserToGroup(ctx, group, user).Execute())
		get(c.GroupAPI.ListGroupUsers(ctx, group).Execute())
		get(c.UserAPI.ListUserGroups(ctx, user).Execute())
		done(c.GroupAPI.UnassignUserFromGroup(ctx, group, user).Execute())
	}
	tell("okta_group_memberships", members)
	tell("okta_user_group_memberships", members)
	tell("okta_user_schema_property", func() {
		for _, property := range []string{`{"title": "Seats", "type": "integer"}`, `{"title": "Places", "type": "integer"}`} {
			get(c.SchemaAPI.UpdateUserProfile(ctx, "default").UserSchema(
				from[okta.UserSchema](`{"definitions": {"custom": {"id": "#custom", "type": "object", "properties": {"seats": %s}}}}`, property)).Execute())
			get(c.SchemaAPI.GetUserSchema(ctx, "default").Execute())
		}
	})
	application := func(label string, redirects string) okta.ListApplications200ResponseInner {
		return from[okta.ListApplications200ResponseInner](`{"name": "oidc_client", "label": %q, "signOnMode": "OPENID_CONNECT", "credentials": {"oauthClient": {}}, "settings": {"oauthClient":
			{"redirect_uris": [%s], "post_logout_redirect_uris": [%s], "response_types": ["code"], "grant_types": ["authorization_code"], "application_type": "web"}}}`, label, redirects, redirects)
	}
	tell("okta_app_oauth", func() {
		app = *get(c.ApplicationAPI.CreateApplication(ctx).Application(application("Shop", `"https://tf.example"`)).Execute()).OpenIdConnectApplication.Id
		get(c.ApplicationAPI.GetApplication(ctx, app).Execute())
		get(c.ApplicationAPI.ReplaceApplication(ctx, app).Application(application("Shop", `"https://tf.example", "https://two.example"`)).Execute())
		done(c.ApplicationAPI.DeactivateApplication(ctx, app).Execute())
		done(c.ApplicationAPI.ActivateApplication(ctx, app).Execute())
		former := *get(c.ApplicationAPI.CreateApplication(ctx).Application(application("Former", `"https://tf.example"`)).Execute()).OpenIdConnectApplication.Id
		done(c.ApplicationAPI.DeactivateApplication(ctx, former).Execute())
		done(c.ApplicationAPI.DeleteApplication(ctx, former).Execute())
	})
	addresses := func() {
		for _, uris := range []string{`"https://tf.example", "https://three.example"`, `"https://tf.example"`} {
			get(c.ApplicationAPI.GetApplication(ctx, app).Execute())
			get(c.ApplicationAPI.ReplaceApplication(ctx, app).Application(application("Shop", uris)).Execute())
		}
	}
	tell("okta_app_oauth_redirect_uri", addresses)
	tell("okta_app_oauth_post_logout_redirect_uri", addresses)
	groups := func() {
		get(c.ApplicationGroupsAPI.AssignGroupToApplication(ctx, app, group).ApplicationGroupAssignment(*okta.NewApplicationGroupAssignment()).Execute())
		get(c.ApplicationGroupsAPI.GetApplicationGroupAssignment(ctx, app, group).Execute())
		get(c.ApplicationGroupsAPI.ListApplicationGroupAssignments(ctx, app).Execute())
		done(c.ApplicationGroupsAPI.UnassignApplicationFromGroup(ctx, app, group).Execute())
	}
	tell("okta_app_group_assignment", groups)
	tell("okta_app_group_assignments", groups)
	tell("okta_app_user", func() {
		get(c.ApplicationUsersAPI.AssignUserToApplication(ctx, app).AppUser(from[okta.AppUserAssignRequest](`{"id": %q, "scope": "USER"}`, user)).Execute())
		get(c.ApplicationUsersAPI.GetApplicationUser(ctx, app, user).Execute())
		done(c.ApplicationUsersAPI.UnassignUserFromApplication(ctx, app, user).Execute())
	})
	tell("okta_auth_server", func() {
		body := func(description string) okta.AuthorizationServer {
			return from[okta.AuthorizationServer](`{"name": "Orders", "description": %q, "audiences": ["https://tf.example"]}`, description)
		}
		server = *get(c.AuthorizationServerAPI.CreateAuthorizationServer(ctx).AuthorizationServer(body("One")).Execute()).Id
		get(c.AuthorizationServerAPI.GetAuthorizationServer(ctx, server).Execute())
		get(c.AuthorizationServerAPI.ReplaceAuthorizationServer(ctx, server).AuthorizationServer(body("Two")).Execute())
		done(c.AuthorizationServerAPI.DeactivateAuthorizationServer(ctx, server).Execute())
		done(c.AuthorizationServerAPI.ActivateAuthorizationServer(ctx, server).Execute())
	})
	tell("okta_auth_server_default", func() {
		whole := get(c.AuthorizationServerAPI.GetAuthorizationServer(ctx, "default").Execute())
		whole.SetDescription("By a plan")
		get(c.AuthorizationServerAPI.ReplaceAuthorizationServer(ctx, "default").AuthorizationServer(*whole).Execute())
	})
	tell("okta_auth_server_scope", func() {
		body := func(name string) okta.OAuth2Scope {
			return from[okta.OAuth2Scope](`{"name": "orders.read", "displayName": %q, "consent": "REQUIRED"}`, name)
		}
		id := *get(c.AuthorizationServerScopesAPI.CreateOAuth2Scope(ctx, server).OAuth2Scope(body("Read")).Execute()).Id
		get(c.AuthorizationServerScopesAPI.GetOAuth2Scope(ctx, server, id).Execute())
		get(c.AuthorizationServerScopesAPI.ReplaceOAuth2Scope(ctx, server, id).OAuth2Scope(body("Read orders")).Execute())
		done(c.AuthorizationServerScopesAPI.DeleteOAuth2Scope(ctx, server, id).Execute())
	})
	tell("okta_auth_server_claim", func() {
		body := func(value string) okta.OAuth2Claim {
			return from[okta.OAuth2Claim](`{"name": "groups", "claimType": "RESOURCE", "valueType": "GROUPS", "group_filter_type": "STARTS_WITH", "value": %q, "status": "ACTIVE"}`, value)
		}
		id := *get(c.AuthorizationServerClaimsAPI.CreateOAuth2Claim(ctx, server).OAuth2Claim(body("Eng")).Execute()).Id
		get(c.AuthorizationServerClaimsAPI.GetOAuth2Claim(ctx, server, id).Execute())
		get(c.AuthorizationServerClaimsAPI.ReplaceOAuth2Claim(ctx, server, id).OAuth2Claim(body("En")).Execute())
		done(c.AuthorizationServerClaimsAPI.DeleteOAuth2Claim(ctx, server, id).Execute())
	})
	tell("okta_auth_server_policy", func() {
		body := func(name string) okta.AuthorizationServerPolicy {
			return from[okta.AuthorizationServerPolicy](`{"type": "OAUTH_AUTHORIZATION_POLICY", "name": %q, "description": "Shop", "priority": 1, "conditions": {"clients": {"include": [%q]}}}`, name, app)
		}
		policy = fmt.Sprint(get(c.AuthorizationServerPoliciesAPI.CreateAuthorizationServerPolicy(ctx, server).Policy(body("Shop")).Execute()).AdditionalProperties["id"])
		get(c.AuthorizationServerPoliciesAPI.GetAuthorizationServerPolicy(ctx, server, policy).Execute())
		get(c.AuthorizationServerPoliciesAPI.ReplaceAuthorizationServerPolicy(ctx, server, policy).Policy(body("The shop")).Execute())
		done(c.AuthorizationServerPoliciesAPI.DeactivateAuthorizationServerPolicy(ctx, server, policy).Execute())
		done(c.AuthorizationServerPoliciesAPI.ActivateAuthorizationServerPolicy(ctx, server, policy).Execute())
	})
	tell("okta_auth_server_policy_rule", func() {
		body := func(minutes int) okta.AuthorizationServerPolicyRule {
			return from[okta.AuthorizationServerPolicyRule](`{"type": "RESOURCE_ACCESS", "name": "Everyone", "priority": 1, "conditions": {"people": {"groups": {"include": ["EVERYONE"]}},
				"grantTypes": {"include": ["authorization_code"]}, "scopes": {"include": ["*"]}}, "actions": {"token": {"accessTokenLifetimeMinutes": %d}}}`, minutes)
		}
		id := *get(c.AuthorizationServerRulesAPI.CreateAuthorizationServerPolicyRule(ctx, server, policy).PolicyRule(body(30)).Execute()).Id
		get(c.AuthorizationServerRulesAPI.GetAuthorizationServerPolicyRule(ctx, server, policy, id).Execute())
		get(c.AuthorizationServerRulesAPI.ReplaceAuthorizationServerPolicyRule(ctx, server, policy, id).PolicyRule(body(20)).Execute())
		done(c.AuthorizationServerRulesAPI.DeactivateAuthorizationServerPolicyRule(ctx, server, policy, id).Execute())
		done(c.AuthorizationServerRulesAPI.DeleteAuthorizationServerPolicyRule(ctx, server, policy, id).Execute())
	})
	provider := func(kind string, protocol string) func() {
		return func() {
			body := func(name string) okta.IdentityProvider {
				return from[okta.IdentityProvider](`{"name": %q, "type": %q, "protocol": %s, "policy": {"provisioning": {"action": "AUTO", "groups": {"action": "NONE"}},
					"accountLink": {"action": "AUTO"}, "subject": {"matchType": "USERNAME", "userNameTemplate": {"template": "idpuser.email"}}}}`, name, kind, protocol)
			}
			id := *get(c.IdentityProviderAPI.CreateIdentityProvider(ctx).IdentityProvider(body(kind)).Execute()).Id
			get(c.IdentityProviderAPI.GetIdentityProvider(ctx, id).Execute())
			get(c.IdentityProviderAPI.ReplaceIdentityProvider(ctx, id).IdentityProvider(body("Another " + kind)).Execute())
			get(c.IdentityProviderAPI.DeactivateIdentityProvider(ctx, id).Execute())
			get(c.IdentityProviderAPI.ActivateIdentityProvider(ctx, id).Execute())
			done(c.IdentityProviderAPI.DeleteIdentityProvider(ctx, id).Execute())
		}
	}
	credentials := `"credentials": {"client": {"client_id": "us", "client_secret": "a-secret-of-the-provider"}}`
	tell("okta_idp_oidc", provider("OIDC", `{"type": "OIDC", "issuer": {"url": "https://idp.example"}, "scopes": ["openid", "email"], `+credentials+"}"))
	tell("okta_idp_social", provider("GOOGLE", `{"type": "OIDC", "scopes": ["openid", "email"], `+credentials+"}"))
	tell("okta_network_zone", func() {
		body := func(value string) okta.ListNetworkZones200ResponseInner {
			return from[okta.ListNetworkZones200ResponseInner](`{"type": "IP", "name": "Office", "gateways": [{"type": "CIDR", "value": %q}]}`, value)
		}
		id := *get(c.NetworkZoneAPI.CreateNetworkZone(ctx).Zone(body("192.0.2.0/24")).Execute()).IPNetworkZone.Id
		get(c.NetworkZoneAPI.GetNetworkZone(ctx, id).Execute())
		get(c.NetworkZoneAPI.ReplaceNetworkZone(ctx, id).Zone(body("198.51.100.0/24")).Execute())
		done(c.NetworkZoneAPI.DeleteNetworkZone(ctx, id).Execute())
	})
	tell("okta_event_hook", func() {
		body := func(name string) okta.EventHook {
			return from[okta.EventHook](`{"name": %q, "events": {"type": "EVENT_TYPE", "items": ["user.lifecycle.create"]}, "channel": {"type": "HTTP", "version": "1.0.0", "config": {"uri": "https://hooks.example/events"}}}`, name)
		}
		id := *get(c.EventHookAPI.CreateEventHook(ctx).EventHook(body("One")).Execute()).Id
		get(c.EventHookAPI.GetEventHook(ctx, id).Execute())
		get(c.EventHookAPI.ReplaceEventHook(ctx, id).EventHook(body("Two")).Execute())
		get(c.EventHookAPI.DeactivateEventHook(ctx, id).Execute())
		get(c.EventHookAPI.ActivateEventHook(ctx, id).Execute())
		get(c.EventHookAPI.DeactivateEventHook(ctx, id).Execute())
		done(c.EventHookAPI.DeleteEventHook(ctx, id).Execute())
	})
	tell("okta_inline_hook", func() {
		body := func(name string) okta.InlineHook {
			return from[okta.InlineHook](`{"name": %q, "type": "com.okta.oauth2.tokens.transform", "version": "1.0.0", "channel": {"type": "HTTP", "version": "1.0.0", "config": {"uri": "https://hooks.example/tokens", "method": "POST"}}}`, name)
		}
		id := *get(c.InlineHookAPI.CreateInlineHook(ctx).InlineHook(body("One")).Execute()).Id
		get(c.InlineHookAPI.GetInlineHook(ctx, id).Execute())
		get(c.InlineHookAPI.ReplaceInlineHook(ctx, id).InlineHook(body("Two")).Execute())
		get(c.InlineHookAPI.DeactivateInlineHook(ctx, id).Execute())
		done(c.InlineHookAPI.DeleteInlineHook(ctx, id).Execute())
	})
	done(c.AuthorizationServerAPI.DeactivateAuthorizationServer(ctx, server).Execute())
	done(c.AuthorizationServerAPI.DeleteAuthorizationServer(ctx, server).Execute())

	answers, err := json.Marshal(map[string]int{
		"agentPools": status(c.AgentPoolsAPI.ListAgentPools(ctx).Execute()), "api-services": status(c.ApiServiceIntegrationsAPI.ListApiServiceIntegrationInstances(ctx).Execute()),
		"authenticators": status(c.AuthenticatorAPI.ListAuthenticators(ctx).Execute()), "behaviors": status(c.BehaviorAPI.ListBehaviorDetectionRules(ctx).Execute()),
		"brands": status(c.BrandsAPI.ListBrands(ctx).Execute()), "captchas": status(c.CAPTCHAAPI.ListCaptchaInstances(ctx).Execute()),
		"device-assurances": status(c.DeviceAssuranceAPI.ListDeviceAssurancePolicies(ctx).Execute()), "devices": status(c.DeviceAPI.ListDevices(ctx).Execute()),
		"domains": status(c.CustomDomainAPI.ListCustomDomains(ctx).Execute()), "email-domains": status(c.EmailDomainAPI.ListEmailDomains(ctx).Execute()),
		"email-servers": status(c.EmailServerAPI.ListEmailServers(ctx).Execute()), "features": status(c.FeatureAPI.ListFeatures(ctx).Execute()),
		"groups/rules": status(c.GroupAPI.ListGroupRules(ctx).Execute()), "hook-keys": status(c.HookKeyAPI.ListHookKeys(ctx).Execute()),
		"iam/resource-sets": status(c.ResourceSetAPI.ListResourceSets(ctx).Execute()), "iam/roles": status(c.RoleAPI.ListRoles(ctx).Execute()),
		"logStreams": status(c.LogStreamAPI.ListLogStreams(ctx).Execute()), "mappings": status(c.ProfileMappingAPI.ListProfileMappings(ctx).Execute()),
		"meta/schemas/group": status(c.SchemaAPI.GetGroupSchema(ctx).Execute()), "meta/schemas/user/linkedObjects": status(c.LinkedObjectAPI.ListLinkedObjectDefinitions(ctx).Execute()),
		"meta/types/user": status(c.UserTypeAPI.ListUserTypes(ctx).Execute()), "meta/uischemas": status(c.UISchemaAPI.ListUISchemas(ctx).Execute()),
		"policies": status(c.PolicyAPI.ListPolicies(ctx).Type_("PASSWORD").Execute()), "principal-rate-limits": status(c.PrincipalRateLimitAPI.ListPrincipalRateLimitEntities(ctx).Execute()),
		"push-providers": status(c.PushProviderAPI.ListPushProviders(ctx).Execute()), "rate-limit-settings": status(c.RateLimitSettingsAPI.GetRateLimitSettingsPerClient(ctx).Execute()),
		"realm-assignments": status(c.RealmAssignmentAPI.ListRealmAssignments(ctx).Execute()), "realms": status(c.RealmAPI.ListRealms(ctx).Execute()),
		"templates/sms": status(c.TemplateAPI.ListSmsTemplates(ctx).Execute()), "threats/configuration": status(c.ThreatInsightAPI.GetCurrentConfiguration(ctx).Execute()),
		"trustedOrigins": status(c.TrustedOriginAPI.ListTrustedOrigins(ctx).Execute()),
	})
	must(err)
	fmt.Println("ANSWERS " + string(answers))
}
