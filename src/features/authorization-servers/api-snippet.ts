/**
 * An API in Node.js that accepts access tokens of an authorization server, and requires a stronger or more recent sign-in for some requests
 * (RFC 9470). It runs unchanged; secrets come from the environment.
 */
import { TWO_FACTORS } from '../second-factors/second-factor.policy.ts';

export interface ApiFacts {
  readonly issuer: string;
  readonly audience: string;
  /** Opaque tokens are introspected, JWTs are verified with the server's keys. */
  readonly accessTokenFormat: 'opaque' | 'jwt';
  /** The `typ` of its JWTs. */
  readonly accessTokenType: string;
}

/** Maximum seconds since the sign-in, in the example. */
const FRESH = 300;

const literal = (text: string): string => JSON.stringify(text);

const byKeys = ({ issuer, audience, accessTokenType }: ApiFacts): string => `const issuer = ${literal(issuer)};
const audience = ${literal(audience)};
const keys = createRemoteJWKSet(new URL(\`\${issuer}/keys\`));

/** The claims of a valid token. Throws for any other. */
const verify = async (token) => (await jwtVerify(token, keys, { issuer, audience, typ: ${literal(accessTokenType)} })).payload;`;

const byIntrospection = ({ issuer }: ApiFacts): string => `const issuer = ${literal(issuer)};
const { CLIENT_ID, CLIENT_SECRET } = process.env;
const authorization = \`Basic \${Buffer.from(\`\${CLIENT_ID}:\${CLIENT_SECRET}\`).toString('base64')}\`;

/** The claims of a valid token. Throws for any other. */
async function verify(token) {
  const body = new URLSearchParams({ token });
  const response = await fetch(\`\${issuer}/introspect\`, { method: 'POST', headers: { authorization }, body });
  const claims = await response.json();
  if (!claims.active) throw new Error('the token is not active');
  return claims;
}`;

/** @returns the source of `api.mjs` */
export function apiSnippet(facts: ApiFacts): string {
  const isJwt = facts.accessTokenFormat === 'jwt';
  return `import { createServer } from 'node:http';
${isJwt ? "import { createRemoteJWKSet, jwtVerify } from 'jose';\n" : ''}
${isJwt ? byKeys(facts) : byIntrospection(facts)}

/** Required acr value and maximum age in seconds for each path. */
const NEEDS = {
  '/profile': {},
  '/payments': { acr: ${literal(TWO_FACTORS)}, maxAge: ${FRESH} },
};

const challenge = (response, fields) => {
  const words = Object.entries(fields).map(([name, value]) => \`\${name}="\${value}"\`);
  response.writeHead(401, { 'WWW-Authenticate': \`Bearer \${words.join(', ')}\` }).end();
};

const server = createServer(async (request, response) => {
  const needs = NEEDS[request.url];
  if (needs === undefined) return response.writeHead(404).end();
  const [, token] = /^Bearer (\\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  if (token === undefined) return response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
  const claims = await verify(token).catch(() => undefined);
  if (claims === undefined) return challenge(response, { error: 'invalid_token' });

  // RFC 9470: the application lets the user sign in again with these parameters, and returns with a new token
  const isTooOld = needs.maxAge !== undefined && !(claims.auth_time + needs.maxAge >= Date.now() / 1000);
  const isTooWeak = needs.acr !== undefined && claims.acr !== needs.acr;
  if (isTooOld || isTooWeak)
    return challenge(response, {
      error: 'insufficient_user_authentication',
      error_description: isTooWeak ? 'A second factor is required' : 'The sign-in is too long ago',
      ...(needs.acr && { acr_values: needs.acr }),
      ...(needs.maxAge && { max_age: needs.maxAge }),
    });

  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ sub: claims.sub }));
});
server.listen(process.env.PORT ?? 8080, () => console.log(\`http://localhost:\${server.address().port}\`));
`;
}
