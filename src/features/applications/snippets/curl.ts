/**
 * curl in a POSIX shell: the steps of the authorization code flow with PKCE (RFC 7636), or of the client credentials grant (RFC 6749 section 4.4).
 */
import { type Facts, isMachine, type Snippet, type SnippetFile, sendsSecret, signsIn } from './snippet.ts';

/** A quoted word of the shell. */
const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const BASE64URL = `openssl base64 -A | tr '+/' '-_' | tr -d '='`;

/** Client authentication of a token request with curl. */
function authentication({ authentication: method, clientId }: Facts): readonly string[] {
  if (method === 'client_secret_basic') return [`--user "${clientId}:$CLIENT_SECRET"`];
  const id = `--data-urlencode ${word(`client_id=${clientId}`)}`;
  return method === 'client_secret_post' ? [id, '--data-urlencode "client_secret=$CLIENT_SECRET"'] : [id];
}

/** One call, with one argument per line. */
const curl = (address: string, parts: readonly string[]): string => ['curl --silent --show-error', ...parts, word(address)].join(' \\\n  ');

function signIn(facts: Facts & { readonly redirectUri: string }): SnippetFile {
  const { issuer, clientId, redirectUri, scope } = facts;
  const request = new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope });
  const exchange = [
    ...authentication(facts),
    '--data grant_type=authorization_code',
    '--data-urlencode "code=$code"',
    '--data-urlencode "code_verifier=$verifier"',
    `--data-urlencode ${word(`redirect_uri=${redirectUri}`)}`,
  ];
  const text = `set -eu

# 1. Create the secrets of this sign-in: PKCE and state
verifier=$(openssl rand 32 | ${BASE64URL})
challenge=$(printf %s "$verifier" | openssl dgst -sha256 -binary | ${BASE64URL})
state=$(openssl rand -hex 16)

# 2. Open this address in a browser and sign in
echo "${issuer}/authorize?${request}&state=$state&code_challenge=$challenge&code_challenge_method=S256"

# 3. The browser ends at the redirect URI. Nothing needs to listen there: paste the whole address from its address bar
printf 'Address: '
read -r answer
[ "$(printf %s "$answer" | sed -n 's/.*[?&]state=\\([^&#]*\\).*/\\1/p')" = "$state" ] || { echo 'Another sign-in came back'; exit 1; }
code=$(printf %s "$answer" | sed -n 's/.*[?&]code=\\([^&#]*\\).*/\\1/p')

# 4. Exchange the code for tokens
tokens=$(${curl(`${issuer}/token`, exchange)})
printf '%s\\n' "$tokens"

# 5. Call an API with the access token, e.g. userinfo
access_token=$(printf %s "$tokens" | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')
${curl(`${issuer}/userinfo`, ['--header "Authorization: Bearer $access_token"'])}
`;
  return { name: 'sign-in.sh', text };
}

function machine(facts: Facts): SnippetFile {
  const { issuer, machineScope } = facts;
  const parts = [...authentication(facts), '--data grant_type=client_credentials'];
  if (machineScope !== '') parts.push(`--data-urlencode ${word(`scope=${machineScope}`)}`);
  const text = `set -eu

# An access token for the application itself; send it to your API as "Authorization: Bearer …"
${curl(`${issuer}/token`, parts)}
`;
  return { name: 'machine.sh', text };
}

const hasKnownAuthentication = (facts: Facts): boolean => sendsSecret(facts) || facts.authentication === 'none';

export const curlSnippet: Snippet = {
  id: 'curl',
  label: 'curl',
  about: 'Each step by hand in a shell, to see the requests or to test the settings.',
  firstFor: [],
  matches: (facts) => hasKnownAuthentication(facts) && (signsIn(facts) || isMachine(facts)),
  files: (facts) => [...(signsIn(facts) ? [signIn(facts)] : []), ...(isMachine(facts) ? [machine(facts)] : [])],
  run: (facts) =>
    curlSnippet
      .files(facts)
      .map(({ name }) => `${sendsSecret(facts) ? 'CLIENT_SECRET=… ' : ''}sh ${name}`)
      .join('\n'),
};
