/** Authorization server → MCP server: everything that an MCP server publishes and validates, for copying, and settings that exclude its clients. */
import { detailPage, type Fact, type Part } from '../../pages/console/detail-page.ts';
import { type ConsolePage, type ConsoleRequest, NOTHING_TYPED } from '../../pages/console/page.ts';
import { requireFound } from '../../platform/errors/errors.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { audiencesOf } from '../authorization-servers/audience.policy.ts';
import type { AuthorizationServer, AuthorizationServerParts } from '../authorization-servers/authorization-servers.resource.ts';
import { loadServer } from '../authorization-servers/authorization-servers.service.ts';
import { BUILT_IN, issuerOf } from '../authorization-servers/server-id.policy.ts';
import { crumbsBelow, mayChangeServers, serverStatus, serverSubject } from '../authorization-servers/server-page.console.ts';
import { PROTECT_MCP_SERVER } from './mcp-server-form.console.ts';
import {
  acceptsUnknownClients,
  admitsUnknownClients,
  documentAddress,
  mcpServerUrl,
  type ProtectedResource,
  protectedResourceDocument,
  unauthorizedResponse,
} from './protected-resource.policy.ts';
import { runSdkServer, sdkServer } from './sdk-snippet.policy.ts';

/** Audiences that can be the URL of an MCP server. */
const urlsOf = (server: AuthorizationServer): readonly string[] =>
  audiencesOf(server).filter((audience) => mcpServerUrl(audience) !== undefined);

/** @returns the server's resource; undefined: none of its audiences is a URL */
function resourceIn({ services, query }: ConsoleRequest, { server, scopes }: AuthorizationServerParts): ProtectedResource | undefined {
  const urls = urlsOf(server);
  const resource = urls.find((url) => url === query.get('resource')) ?? urls[0];
  if (resource === undefined) return undefined;
  const own = scopes.filter(({ system }) => !system).map(({ name }) => name);
  const name = (query.get('name') ?? '').slice(0, 255) || server.name;
  return { resource, issuer: issuerOf(services.config.baseUrl, server.id), name, scopes: own };
}

/** Warnings about settings that exclude clients. */
function warnings(parts: AuthorizationServerParts, { scopes }: ProtectedResource): readonly Part[] {
  const { server } = parts;
  const paragraphs = [
    ...(server.status === 'ACTIVE' ? [] : ['The authorization server is inactive: no client gets a token.']),
    ...(acceptsUnknownClients(server)
      ? []
      : ['The authorization server accepts no unknown client: only applications that administrators made can connect.']),
    ...(scopes.length > 0 ? [] : ['The authorization server has no scope of its own: add one for the tools of the MCP server.']),
    ...(admitsUnknownClients(parts, scopes, [])
      ? []
      : ['The access policies admit only the users that they name. Check that your users are among them.']),
  ];
  return paragraphs.length === 0 ? [] : [{ kind: 'words', tone: 'warning', paragraphs }];
}

function addresses(home: string, { server }: AuthorizationServerParts, { resource, issuer }: ProtectedResource): Part {
  const metadata = new URL(issuer);
  const facts: Fact[] = [
    { label: 'MCP server', value: resource, copy: true },
    { label: 'Protected-resource document', value: documentAddress(resource), copy: true },
    { label: 'Issuer', value: issuer, copy: true },
    {
      label: 'Discovery of the authorization server',
      value: `${metadata.origin}/.well-known/oauth-authorization-server${metadata.pathname}`,
      copy: true,
    },
    ...(server.registration.mode === 'OFF' ? [] : [{ label: 'Registration endpoint', value: `${issuer}/register`, copy: true }]),
    { label: 'Status', value: serverStatus(server.status) },
    {
      label: 'Client ID metadata documents',
      value: { text: phrase(server.clientIdMetadata.enabled ? 'Accepted' : 'Refused'), href: `${home}/edit` },
    },
    {
      label: 'Dynamic registration',
      value: { text: phrase(server.registration.mode === 'OFF' ? 'Off' : 'On'), href: `${home}/registration` },
    },
  ];
  return { kind: 'facts', title: 'Addresses', facts };
}

/** A field to select one of several MCP servers. */
function choice({ server }: AuthorizationServerParts, { resource }: ProtectedResource): readonly Part[] {
  const urls = urlsOf(server);
  if (urls.length < 2) return [];
  const options = urls.map((url) => ({ value: url, label: verbatim(url) }));
  const fields = [{ name: 'resource', label: 'MCP server', options, value: resource }];
  return [{ kind: 'query', fields, typed: NOTHING_TYPED, submit: 'Show' }];
}

function toPublish(shown: ProtectedResource): readonly Part[] {
  return [
    {
      kind: 'text',
      title: 'Protected-resource document',
      lead: phrase('The MCP server answers GET {address} with it, as application/json and without asking for a token.', {
        address: documentAddress(shown.resource),
      }),
      id: 'protected-resource',
      name: 'JSON of the document',
      text: JSON.stringify(protectedResourceDocument(shown), null, 2),
    },
    {
      kind: 'text',
      title: 'Response without a valid token',
      lead: 'A client that knows only the URL finds the document by this header.',
      id: 'unauthorized',
      name: 'HTTP response',
      text: unauthorizedResponse(shown.resource),
    },
  ];
}

/** Name of the file. */
const FILE = 'server.mjs';

function toCheck({ server }: AuthorizationServerParts, shown: ProtectedResource): readonly Part[] {
  const words: Part = {
    kind: 'words',
    title: 'Token check',
    paragraphs: [
      phrase('The MCP server accepts only tokens of this issuer whose audience (aud) is {resource}, and checks the scope in each tool.', {
        resource: shown.resource,
      }),
      ...(server.accessTokenFormat === 'jwt'
        ? []
        : ['The access tokens of this server are opaque: ask its introspection endpoint, as an application of the type service.']),
    ],
  };
  if (server.accessTokenFormat !== 'jwt') return [words];
  return [
    words,
    {
      kind: 'text',
      title: verbatim(FILE),
      lead: 'A whole MCP server with the official SDK: it publishes the document and checks the tokens.',
      id: 'sdk-server',
      name: phrase('Content of {file}', { file: FILE }),
      text: sdkServer(shown, server.accessTokenType),
    },
    { kind: 'text', title: 'Run it', id: 'sdk-run', name: 'how to run it', text: runSdkServer(FILE) },
  ];
}

export const mcpServerPage: ConsolePage = {
  path: '/api/servers/:serverId/mcp',
  access: 'service',
  async show(visit) {
    const subject = await serverSubject(visit);
    const { server, home } = subject;
    const parts = requireFound(await loadServer(visit.services.database, server.id), server.id, 'AuthorizationServer');
    const actions = mayChangeServers(visit)
      ? [{ label: 'Add an MCP server', href: `${PROTECT_MCP_SERVER}?server=${server.id}`, icon: 'add' as const }]
      : [];
    const page = { title: 'MCP server', crumbs: crumbsBelow(subject), actions };
    const resource = server.id === BUILT_IN ? undefined : resourceIn(visit, parts);
    if (resource === undefined) {
      const none = 'No audience of this authorization server is a URL, so no MCP server is protected by it.';
      return detailPage({ ...page, parts: [{ kind: 'words', paragraphs: [none] }] });
    }
    return detailPage({
      ...page,
      lead: 'Clients need only the URL of the MCP server. The MCP server publishes and checks what follows.',
      parts: [
        ...warnings(parts, resource),
        ...choice(parts, resource),
        addresses(home, parts, resource),
        ...toPublish(resource),
        ...toCheck(parts, resource),
      ],
    });
  },
};
