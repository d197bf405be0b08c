/** Node.js with openid-client: a server that signs users in with code, PKCE, state and nonce, or a machine-to-machine client. */
import { type Facts, isInsecure, isMachine, listensOnWeb, type Snippet, signsIn, stringLiteral, usesSecret } from './snippet.ts';

const fromEnvironment = (method: string): string => `oidc.${method}(process.env.CLIENT_SECRET)`;

const AUTHENTICATION: Readonly<Record<Facts['authentication'], string>> = {
  client_secret_basic: fromEnvironment('ClientSecretBasic'),
  client_secret_post: fromEnvironment('ClientSecretPost'),
  client_secret_jwt: fromEnvironment('ClientSecretJwt'),
  private_key_jwt: 'oidc.PrivateKeyJwt({ key: await importJWK(jwk), kid: jwk.kid })',
  // Needs a custom `fetch` that presents the certificate (undici's Agent with `connect: { cert, key }`).
  tls_client_auth: 'oidc.TlsClientAuth()',
  self_signed_tls_client_auth: 'oidc.TlsClientAuth()',
  none: 'oidc.None()',
};

/** Does it authenticate by a private key? */
export const hasKey = ({ authentication }: Facts): boolean => authentication === 'private_key_jwt';

/** The beginning of each file: imports and discovery of the authorization server. */
export const opening = (facts: Facts, imports: readonly string[]): string => `${[
  ...(hasKey(facts) ? [`import { readFile } from 'node:fs/promises';`] : []),
  ...imports,
  ...(hasKey(facts) ? [`import { importJWK } from 'jose';`] : []),
  `import * as oidc from 'openid-client';`,
].join('\n')}

${
  hasKey(facts)
    ? `// The private half, with "alg" and "kid", of a key that the application has registered
const jwk = JSON.parse(await readFile('private-key.json', 'utf8'));
`
    : ''
}const provider = await oidc.discovery(
  new URL(${stringLiteral(facts.issuer)}),
  ${stringLiteral(facts.clientId)},
  undefined,
  ${AUTHENTICATION[facts.authentication]},${
    isInsecure(facts)
      ? `
  // Only for a provider on this machine
  { execute: [oidc.allowInsecureRequests] },`
      : ''
  }
);
`;

const signIn = (
  facts: Facts & { readonly redirectUri: string },
): string => `${opening(facts, [`import { createServer } from 'node:http';`])}
const redirectUri = new URL(${stringLiteral(facts.redirectUri)});

// The state of this browser's sign-in is kept in a cookie until the redirect
const COOKIE = 'sign-in';
const attributes = 'Path=/; HttpOnly; SameSite=Lax${facts.redirectUri.startsWith('https:') ? '; Secure' : ''}';

async function begin(response) {
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const verifier = oidc.randomPKCECodeVerifier();
  const address = oidc.buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri.href,
    scope: ${stringLiteral(facts.scope)},
    state,
    nonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const kept = [state, nonce, verifier].join('.');
  response.writeHead(302, {
    location: address.href,
    'set-cookie': \`\${COOKIE}=\${kept}; \${attributes}\`,
  });
  response.end();
}

async function finish(request, response) {
  const [, kept = ''] = new RegExp(\`\${COOKIE}=([^;]*)\`).exec(request.headers.cookie ?? '') ?? [];
  const [expectedState, expectedNonce, pkceCodeVerifier] = kept.split('.');
  const tokens = await oidc.authorizationCodeGrant(provider, new URL(request.url, redirectUri), {
    expectedState,
    expectedNonce,
    pkceCodeVerifier,
    idTokenExpected: true,
  });
  // Start your own session here. The tokens stay on the server; claims() identifies the user
  response.writeHead(200, {
    'content-type': 'application/json',
    'set-cookie': \`\${COOKIE}=; \${attributes}; Max-Age=0\`,
  });
  response.end(JSON.stringify(tokens.claims(), null, 2));
}

async function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, redirectUri);
  if (pathname === '/favicon.ico') return response.writeHead(404).end();
  const isAnswer = searchParams.has('code') || searchParams.has('error');
  return pathname === redirectUri.pathname && isAnswer ? finish(request, response) : begin(response);
}

createServer((request, response) => {
  answer(request, response).catch((error) => {
    response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(error.error_description ?? error.message);
  });
}).listen(redirectUri.port || 3000, () => console.log(\`Open \${redirectUri.origin}\`));
`;

const machine = (facts: Facts): string => `${opening(facts, [])}
// An access token for the application itself; send it to your API as "Authorization: Bearer …"
const tokens = await oidc.clientCredentialsGrant(provider${facts.machineScope === '' ? '' : `, { scope: ${stringLiteral(facts.machineScope)} }`});
console.log(tokens.access_token, tokens.expires_in);
`;

/** Is the redirect URI a web address that Node.js can listen on? The operating system opens other schemes. */
const servesSignIn = (facts: Facts): facts is Facts & { readonly redirectUri: string } => signsIn(facts) && listensOnWeb(facts);

export const openidClientSnippet: Snippet = {
  id: 'openid-client',
  label: 'openid-client (Node.js)',
  about: 'A certified library for Node.js 20.19 or newer. The whole file runs as it is.',
  firstFor: ['web', 'native', 'service'],
  matches: (facts) => facts.kind !== 'browser' && (servesSignIn(facts) || isMachine(facts)),
  files: (facts) => [{ name: 'app.mjs', text: servesSignIn(facts) ? signIn(facts) : machine(facts) }],
  run: (facts) =>
    [`npm install openid-client@6${hasKey(facts) ? ' jose@6' : ''}`, `${usesSecret(facts) ? 'CLIENT_SECRET=… ' : ''}node app.mjs`].join(
      '\n',
    ),
};
