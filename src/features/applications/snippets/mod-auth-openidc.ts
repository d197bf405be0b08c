/** Apache with mod_auth_openidc: every page of the web server requires a sign-in and gets the user. */
import { type Facts, listensOnWeb, type Snippet, sendsSecret, signsIn } from './snippet.ts';

const site = ({
  issuer,
  clientId,
  redirectUri,
  scope,
  authentication,
}: Facts & {
  readonly redirectUri: string;
}): string => `# The secrets come from the environment of Apache: on Debian from /etc/apache2/envvars
OIDCProviderMetadataURL "${issuer}/.well-known/openid-configuration"
OIDCClientID "${clientId}"
OIDCClientSecret "\${CLIENT_SECRET}"
OIDCProviderTokenEndpointAuth ${authentication}
OIDCScope "${scope}"
OIDCPKCEMethod S256
# A URL of this web server that is used for nothing else
OIDCRedirectURI "${redirectUri}"
# Encrypts the cookies and the sessions
OIDCCryptoPassphrase "\${OIDC_PASSPHRASE}"
OIDCRemoteUserClaim sub

<Location "/">
  AuthType openid-connect
  Require valid-user
</Location>
`;

export const modAuthOpenidcSnippet: Snippet = {
  id: 'mod-auth-openidc',
  label: 'mod_auth_openidc (Apache)',
  about:
    'Protects anything that Apache serves, e.g. PHP or a proxied application. The application gets the claims in headers such as OIDC_CLAIM_email, and the user in REMOTE_USER.',
  firstFor: ['web'],
  matches: (facts) => facts.kind === 'web' && sendsSecret(facts) && signsIn(facts) && listensOnWeb(facts),
  files: (facts) => (signsIn(facts) ? [{ name: 'gatehouse.conf', text: site(facts) }] : []),
  run: () =>
    [
      'apt-get install libapache2-mod-auth-openidc',
      "echo 'export CLIENT_SECRET=…' >> /etc/apache2/envvars",
      'echo "export OIDC_PASSPHRASE=$(openssl rand -hex 32)" >> /etc/apache2/envvars',
      'cp gatehouse.conf /etc/apache2/conf-available/ && a2enmod auth_openidc && a2enconf gatehouse',
      'systemctl restart apache2',
    ].join('\n'),
};
