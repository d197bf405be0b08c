/**
 * An MCP server in JavaScript with the official SDK that runs unchanged: it publishes the metadata document and verifies the token of each request.
 */
import type { ProtectedResource } from './protected-resource.policy.ts';

/** Version of the SDK with which the snippet was tested. */
const SDK = '1.32.2';

/** Command that runs the file. */
export const runSdkServer = (file: string): string => `npm install @modelcontextprotocol/sdk@${SDK} jose\nnode ${file}`;

const literal = (value: unknown): string => JSON.stringify(value);

/** @param accessTokenType the `typ` of the access tokens */
export function sdkServer({ resource, issuer, name, scopes }: ProtectedResource, accessTokenType: string): string {
  const [scope = ''] = scopes;
  return `import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const issuer = ${literal(issuer)};
const audience = ${literal(resource)};
const url = new URL(audience);

const discovery = await fetch(\`\${issuer}/.well-known/openid-configuration\`);
const oauthMetadata = await discovery.json();
const keys = createRemoteJWKSet(new URL(oauthMetadata.jwks_uri));

const verifier = {
  async verifyAccessToken(token) {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, typ: ${literal(accessTokenType)} }).catch(() => {
      throw new InvalidTokenError('The access token is not valid here');
    });
    const { client_id: clientId, scope = '', exp: expiresAt, sub } = payload;
    return { token, clientId, scopes: scope.split(' '), expiresAt, extra: { sub } };
  },
};

function newServer() {
  const server = new McpServer({ name: ${literal(name)}, version: '1.0.0' });
  server.registerTool('whoami', { description: 'Tells which user you act for' }, ({ authInfo }) => {
    if (!authInfo.scopes.includes(${literal(scope)})) throw new Error(${literal(`The scope ${scope} is missing`)});
    return { content: [{ type: 'text', text: authInfo.extra.sub }] };
  });
  return server;
}

const app = createMcpExpressApp({ allowedHosts: [url.hostname] });
const scopesSupported = [${scopes.map(literal).join(', ')}];
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: url, scopesSupported, resourceName: ${literal(name)} }));

const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
app.all(url.pathname, requireBearerAuth({ verifier, resourceMetadataUrl }), async (request, response) => {
  if (request.method !== 'POST') return response.status(405).end();
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => transport.close());
  await newServer().connect(transport);
  await transport.handleRequest(request, response, request.body);
});

const port = process.env.PORT ?? ${literal(Number(new URL(resource).port || 3000))};
app.listen(port, () => console.log(\`Listening at port \${port}\`));
`;
}
