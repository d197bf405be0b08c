/** A single-page application with oidc-client-ts: code with PKCE in the browser, and sign-out. */
import { type Facts, listensOnWeb, type Snippet, signsIn, stringLiteral } from './snippet.ts';

function app({ issuer, clientId, redirectUri, postLogoutRedirectUri, scope }: Facts & { readonly redirectUri: string }): string {
  return `import { UserManager } from 'oidc-client-ts';

const redirectUri = ${stringLiteral(redirectUri)};
const oidc = new UserManager({
  authority: ${stringLiteral(issuer)},
  client_id: ${stringLiteral(clientId)},
  redirect_uri: redirectUri,${
    postLogoutRedirectUri === undefined
      ? ''
      : `
  post_logout_redirect_uri: ${stringLiteral(postLogoutRedirectUri)},`
  }
  scope: ${stringLiteral(scope)},
});

// After the redirect: exchange the code for tokens, and remove it from the address
const query = new URLSearchParams(location.search);
if (location.pathname === new URL(redirectUri).pathname && query.has('state')) {
  await oidc.signinRedirectCallback();
  history.replaceState({}, '', '/');
}

const user = await oidc.getUser();
const place = document.querySelector('#app') ?? document.body;
const button = document.createElement('button');
if (user === null || user.expired) {
  button.textContent = 'Sign in';
  button.addEventListener('click', () => oidc.signinRedirect());
} else {
  // For your API: fetch(address, { headers: { authorization: \`Bearer \${user.access_token}\` } })
  place.append(\`Signed in: \${user.profile.name ?? user.profile.sub} \`);
  button.textContent = 'Sign out';
  button.addEventListener('click', () => oidc.${postLogoutRedirectUri === undefined ? 'removeUser().then(() => location.reload())' : 'signoutRedirect()'});
}
place.append(button);
`;
}

export const oidcClientTsSnippet: Snippet = {
  id: 'oidc-client-ts',
  label: 'oidc-client-ts',
  about:
    'A library for browsers, with any framework or none. Its file is a module for your bundler; the page needs an element with the id app, or none.',
  firstFor: ['browser'],
  matches: (facts) => facts.kind === 'browser' && facts.authentication === 'none' && signsIn(facts) && listensOnWeb(facts),
  files: (facts) => (signsIn(facts) ? [{ name: 'app.js', text: app(facts) }] : []),
  run: () => 'npm install oidc-client-ts@3',
};
