/** Python with Authlib: a Flask application that signs users in, or a machine-to-machine client. */
import { type Facts, isInsecure, isMachine, listensOnWeb, type Snippet, sendsSecret, signsIn, stringLiteral } from './snippet.ts';

const port = (uri: string): string => new URL(uri).port || '3000';

const signIn = (facts: Facts & { readonly redirectUri: string }): string => `import os

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, redirect, session

app = Flask(__name__)
# Signs the cookie of a pending sign-in. Keep the key, so that a restart interrupts no sign-in
app.secret_key = os.environ.get("SESSION_KEY") or os.urandom(32)
app.config.update(SESSION_COOKIE_HTTPONLY=True, SESSION_COOKIE_SAMESITE="Lax"${facts.redirectUri.startsWith('https:') ? ', SESSION_COOKIE_SECURE=True' : ''})

REDIRECT_URI = ${stringLiteral(facts.redirectUri)}
provider = OAuth(app).register(
    "provider",
    server_metadata_url=${stringLiteral(`${facts.issuer}/.well-known/openid-configuration`)},
    client_id=${stringLiteral(facts.clientId)},
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={
        "scope": ${stringLiteral(facts.scope)},
        "code_challenge_method": "S256",
        "token_endpoint_auth_method": ${stringLiteral(facts.authentication)},
    },
)


@app.get("/sign-in")
def sign_in():
    return provider.authorize_redirect(REDIRECT_URI)


@app.get(${stringLiteral(new URL(facts.redirectUri).pathname)})
def finish():
    # Checks state, nonce, the code and the ID token's signature
    tokens = provider.authorize_access_token()
    session["user"] = tokens["userinfo"]
    return redirect("/me")


@app.get("/me")
def me():
    return jsonify(session["user"]) if "user" in session else redirect("/sign-in")


if __name__ == "__main__":
    app.run(host="localhost", port=${port(facts.redirectUri)})
`;

const machine = (facts: Facts): string => `import os

from authlib.integrations.requests_client import OAuth2Session

# An access token for the application itself; session.get(…) sends it to your API
session = OAuth2Session(${stringLiteral(facts.clientId)}, os.environ["CLIENT_SECRET"], token_endpoint_auth_method=${stringLiteral(facts.authentication)}${
  facts.machineScope === '' ? '' : `, scope=${stringLiteral(facts.machineScope)}`
})
token = session.fetch_token(${stringLiteral(`${facts.issuer}/token`)}, grant_type="client_credentials")
print(token["access_token"], token["expires_in"])
`;

/** The sample's own paths, which cannot be the redirect URI's path. */
const OWN = new Set(['/sign-in', '/me']);

const servesSignIn = (facts: Facts): facts is Facts & { readonly redirectUri: string } =>
  facts.kind === 'web' && signsIn(facts) && listensOnWeb(facts) && !OWN.has(new URL(facts.redirectUri).pathname);

export const authlibSnippet: Snippet = {
  id: 'authlib',
  label: 'Authlib (Python)',
  about: 'A library for Flask, Django, Starlette and plain Python. The whole file runs as it is; the sign-in begins at /sign-in.',
  firstFor: ['web', 'service'],
  matches: (facts) => sendsSecret(facts) && (servesSignIn(facts) || (facts.kind === 'service' && isMachine(facts))),
  files: (facts) => [{ name: 'app.py', text: servesSignIn(facts) ? signIn(facts) : machine(facts) }],
  run: (facts) =>
    [
      `pip install authlib ${servesSignIn(facts) ? 'flask ' : ''}requests`,
      `${isInsecure(facts) ? 'AUTHLIB_INSECURE_TRANSPORT=1 ' : ''}CLIENT_SECRET=… python app.py`,
    ].join('\n'),
};
