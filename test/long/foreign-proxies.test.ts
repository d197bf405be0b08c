/** Proxies that sign users in before an application: oauth2-proxy from the Go module proxy, and Apache's mod_auth_openidc from Debian. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { eventually, freePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { folderWith, install, mustRun, runProgram, signInBy, startApplication } from './foreign/setting.ts';

test('oauth2-proxy signs in by its documented flags, tells who it is, and signs out', async (t) => {
  const cwd = folderWith(t, {});
  // Not `go install`: it asks for the list of versions, which not every module proxy tells.
  const { code, output } = await runProgram(cwd, {}, 'go', 'mod', 'download', '-json', 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.6.0');
  if (code !== 0) return t.skip(code === undefined ? 'go is not on this machine' : output.slice(-300));
  await mustRun(JSON.parse(output).Dir, {}, 'go', 'build', '-o', path.join(cwd, 'oauth2-proxy'), '.');
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com', emailVerified: true });
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  // Its state has a colon and a slash.
  const { clientId, clientSecret = '' } = await service.createApp({
    redirect_uris: [`${origin}/oauth2/callback`],
    post_logout_redirect_uris: [`${origin}/`],
    profile: 'openid',
  });
  await startApplication(
    t,
    cwd,
    {},
    './oauth2-proxy',
    '--provider=oidc',
    `--oidc-issuer-url=${service.issuer('default')}`,
    `--client-id=${clientId}`,
    `--client-secret=${clientSecret}`,
    `--redirect-url=${origin}/oauth2/callback`,
    `--http-address=127.0.0.1:${port}`,
    `--cookie-secret=${'c'.repeat(32)}`,
    '--cookie-secure=false',
    '--email-domain=*',
    '--upstream=static://202',
    '--code-challenge-method=S256',
    `--whitelist-domain=${new URL(service.baseUrl).host}`,
  );
  const application = new UserAgent(origin);
  // It tells that it is configured, not that it listens.
  await eventually(() => application.visit('/').catch(() => undefined), 'oauth2-proxy answers');
  assert.equal((await application.visit('/')).status, 403, 'its own sign-in page');
  const browser = new UserAgent(service.baseUrl);
  const back = await browser.signIn(await browser.visit((await application.visit('/oauth2/start')).url), user);
  await application.visit(back.url);
  assert.equal((await application.visit('/')).status, 202);
  const { email, user: subject } = JSON.parse((await application.visit('/oauth2/userinfo')).text);
  assert.deepEqual([subject, email], [user.id, 'ada@example.com']);
  const logout = `${service.issuer('default')}/logout?${new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: `${origin}/` })}`;
  const left = await application.visit(`/oauth2/sign_out?${new URLSearchParams({ rd: logout })}`);
  assert.equal(left.url.href, logout);
  assert.equal((await application.visit('/')).status, 403);
  const out = await browser.submit(await browser.visit(left.url), 'logout-form');
  assert.equal(out.url.href, `${origin}/`);
  assert.equal((await browser.visit('/account')).url.pathname, '/signin', 'the session has ended');
});

/** With what a Debian without Apache lacks. */
const PACKAGES = [
  ...['apache2-bin', 'libapache2-mod-auth-openidc', 'libapr1', 'libaprutil1'],
  ...['libcjose0', 'libhiredis0.14', 'liblua5.3-0'],
];
const SERVER = 'usr/sbin/apache2';
const MODULE = 'usr/lib/apache2/modules/mod_auth_openidc.so';

/** Apache with the module: that of this machine, else Debian's packages, unpacked into a folder. @returns where it is, and why it is not */
async function apacheWithModule(t: TestContext): Promise<{ root: string; libraries: string; missing?: string }> {
  if (existsSync(`/${SERVER}`) && existsSync(`/${MODULE}`)) return { root: '/', libraries: '' };
  const root = folderWith(t, {});
  const missing = await install(root, 'apt-get', 'download', '-q', ...PACKAGES);
  if (missing !== undefined) return { root, libraries: '', missing };
  for (const file of readdirSync(root)) await mustRun(root, {}, 'dpkg', '-x', file, '.');
  const [triplet = ''] = readdirSync(path.join(root, 'usr/lib')).filter((name) => name.endsWith('-linux-gnu'));
  const libraries = path.join(root, 'usr/lib', triplet);
  const needed = await mustRun(root, { LD_LIBRARY_PATH: libraries }, 'ldd', SERVER, MODULE);
  const lacking = needed.match(/\S+(?= => not found)/g);
  return { root, libraries, ...(lacking !== null && { missing: `not on this machine: ${lacking.join(' ')}` }) };
}

test('mod_auth_openidc signs in and out', async (t) => {
  const { root, libraries, missing } = await apacheWithModule(t);
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const user = await service.createUser({ email: 'ada@example.com' });
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  const { clientId, clientSecret = '' } = await service.createApp({
    redirect_uris: [`${origin}/secure/redirect_uri`],
    post_logout_redirect_uris: [`${origin}/`],
  });
  const modules = ['mpm_event', 'authz_core', 'authz_user', 'authn_core', 'alias', 'headers', 'auth_openidc', 'dir', 'rewrite'];
  const cwd = folderWith(t, { 'index.html': 'public', who: 'who' });
  // Started as root, it reads its files as nobody.
  chmodSync(cwd, 0o755);
  const config = folderWith(t, {
    'apache.conf': `
ServerRoot ${cwd}
ServerName localhost
User nobody
Group nogroup
PidFile ${cwd}/apache.pid
Listen 127.0.0.1:${port}
${modules.map((name) => `LoadModule ${name}_module ${path.join(root, path.dirname(MODULE))}/mod_${name}.so`).join('\n')}
ErrorLog "|/bin/cat"
LogLevel notice
DocumentRoot ${cwd}
<Directory ${cwd}>
  Require all granted
</Directory>
OIDCProviderMetadataURL ${service.issuer('default')}/.well-known/openid-configuration
OIDCClientID ${clientId}
OIDCClientSecret ${clientSecret}
OIDCRedirectURI ${origin}/secure/redirect_uri
OIDCCryptoPassphrase a-passphrase-of-the-test
OIDCScope "openid email"
Alias /secure ${cwd}/who
<Location /secure>
  AuthType openid-connect
  Require valid-user
  # Also where the Fetch metadata of the request says that no page is asked for, as those of this test do.
  OIDCUnAuthAction auth true
  Header always set X-User "expr=%{REMOTE_USER}"
  Header always set X-Email "expr=%{reqenv:OIDC_CLAIM_email}"
</Location>
`,
  });
  await startApplication(
    t,
    cwd,
    { LD_LIBRARY_PATH: libraries },
    path.join(root, SERVER),
    '-DFOREGROUND',
    '-f',
    path.join(config, 'apache.conf'),
  );
  const application = new UserAgent(origin);
  await signInBy(service, application, '/secure', user);
  const page = await application.visit('/secure');
  assert.match(page.headers.get('x-user') ?? '', new RegExp(`^${user.id}`));
  assert.equal(page.headers.get('x-email'), 'ada@example.com');
  const left = await application.visit(`/secure/redirect_uri?logout=${encodeURIComponent(`${origin}/`)}`);
  assert.equal(left.url.pathname, '/oauth/v1/default/logout');
  assert.notEqual((await application.visit('/secure')).url.origin, origin, 'signed out');
});
