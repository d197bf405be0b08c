/**
 * A snippet is a pure function from an application and an authorization server to files that run unchanged. Each was run against this service.
 * Snippets contain no secrets; those come from the environment.
 */
import { clientCredentialsScopes, type OfferedScope } from '../../scopes/granted-scopes.policy.ts';
import type { ApplicationSettings, ApplicationType, GrantType, TokenEndpointAuthMethod } from '../application-settings.policy.ts';

/** The facts about the application and its authorization server. */
export interface Facts {
  readonly kind: ApplicationType;
  readonly clientId: string;
  readonly authentication: TokenEndpointAuthMethod;
  readonly grants: readonly GrantType[];
  readonly responseTypes: readonly string[];
  /** The first redirect URI that libraries send unchanged; absent: there is none. */
  readonly redirectUri: string | undefined;
  readonly postLogoutRedirectUri: string | undefined;
  readonly issuer: string;
  /** Scopes of a sign-in. */
  readonly scope: string;
  /** Scopes of a client credentials request; empty: the server's default. */
  readonly machineScope: string;
}

export interface SnippetFile {
  readonly name: string;
  readonly text: string;
}

export interface Snippet {
  /** For URLs. */
  readonly id: string;
  readonly label: string;
  /** One-sentence description. */
  readonly about: string;
  /** The kinds of application for which it is listed first. */
  readonly firstFor: readonly ApplicationType[];
  matches(facts: Facts): boolean;
  files(facts: Facts): readonly SnippetFile[];
  /** Command that runs the files. */
  run(facts: Facts): string;
}

/** Libraries normalize a URL and drop its query: a URI that differs from its normal form would not match. */
const isPlain = (uri: string): boolean => new URL(uri).href === uri && !uri.includes('?');

type Registered = { readonly id: string; readonly settings: ApplicationSettings };

/** @param server with its scopes; `system` are those of OpenID Connect */
export function snippetFacts(
  { id, settings }: Registered,
  server: { readonly issuer: string; readonly scopes: readonly (OfferedScope & { readonly system: boolean })[] },
): Facts {
  const offered = new Set(server.scopes.map(({ name }) => name));
  const custom = server.scopes.filter(({ system }) => !system);
  const wanted = ['openid', 'profile', 'email', ...(settings.grant_types.includes('refresh_token') ? ['offline_access'] : [])];
  return {
    kind: settings.application_type,
    clientId: id,
    authentication: settings.token_endpoint_auth_method,
    grants: settings.grant_types,
    responseTypes: settings.response_types,
    redirectUri: settings.redirect_uris.find(isPlain),
    postLogoutRedirectUri: settings.post_logout_redirect_uris[0],
    issuer: server.issuer,
    scope: wanted.filter((name) => offered.has(name)).join(' '),
    machineScope:
      clientCredentialsScopes(
        custom.map(({ name }) => name),
        custom,
      ).granted[0] ?? '',
  };
}

/** Does it sign users in by the authorization code flow? */
export const signsIn = (facts: Facts): facts is Facts & { readonly redirectUri: string } =>
  facts.redirectUri !== undefined && facts.grants.includes('authorization_code') && facts.responseTypes.includes('code');

/** Does it use the client credentials grant? */
export const isMachine = ({ grants }: Facts): boolean => grants.includes('client_credentials');

/** Does it have a web address as redirect URI, where a server can wait for the browser? */
export const listensOnWeb = ({ redirectUri = '' }: Facts): boolean => /^https?:/.test(redirectUri);

/** Does it send its secret (not only a signature)? */
export const sendsSecret = ({ authentication }: Facts): boolean =>
  authentication === 'client_secret_basic' || authentication === 'client_secret_post';

/** Does it authenticate by a secret? */
export const usesSecret = ({ authentication }: Facts): boolean => authentication.startsWith('client_secret_');

/** Can the authorization server be called by http? Only on a developer's machine. */
export const isInsecure = ({ issuer }: Facts): boolean => issuer.startsWith('http:');

/** A string literal that is valid in JavaScript, JSON, YAML and Python: URLs are ASCII. */
export const stringLiteral = (text: string): string => JSON.stringify(text);
