/**
 * Clients from npm, each as our how-tos or its own documentation begin. `npm test` tests more of `oidc-client-ts`, `oauth4webapi` and Okta's SDK
 * for Node.js.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { inBrowser } from '../support/browser.ts';
import { codeBlocks, program } from '../support/docs.ts';
import { listen } from '../support/listen.ts';
import { freePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { folderWith, mustRun, npmInstall, signInBy, startApplication, useProfileOpenid } from './foreign/setting.ts';

/** A web application of these packages, registered with this callback. @param main its program, for a port */
async function startNodeApplication(t: TestContext, packages: readonly string[], callback: string, main: (port: string) => string) {
  const port = await freePort();
  const cwd = folderWith(t, { 'main.mjs': main(port), 'package.json': '{"private":true,"type":"module"}' });
  const missing = await npmInstall(cwd, ...packages);
  if (missing !== undefined) return void t.skip(missing);
  const service = await startService(t);
  const origin = `http://localhost:${port}`;
  const { clientId, clientSecret = '' } = await service.createApp({
    redirect_uris: [origin + callback],
    post_logout_redirect_uris: [`${origin}/`],
    grant_types: ['authorization_code', 'refresh_token'],
  });
  const env = { PORT: port, ORIGIN: origin, ISSUER: service.issuer('default'), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret };
  const start = () => startApplication(t, cwd, env, process.execPath, 'main.mjs');
  const user = await service.createUser({ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' });
  return { service, origin, user, start, application: new UserAgent(origin) };
}

for (const { title, isOurs } of [
  { title: 'how to: Auth.js signs in', isOurs: true },
  { title: 'Auth.js signs in as its documentation has it, without state, with the profile openid', isOurs: false },
]) {
  test(title, async (t) => {
    const packages = ['@auth/express@0.12', 'express@4'];
    const started = await startNodeApplication(t, packages, '/auth/callback/gatehouse', (port) => {
      const ours = program('connect-authjs', 'js', port);
      return isOurs ? ours : ours.replace(/^ *checks: .*\n/m, '');
    });
    if (started === undefined) return;
    const { service, user, application } = started;
    if (!isOurs) await useProfileOpenid(service);
    const output = await started.start();
    const { csrfToken } = JSON.parse((await application.visit('/auth/csrf')).text);
    const body = new URLSearchParams({ csrfToken, callbackUrl: '/me' });
    const begun = await application.visit('/auth/signin/gatehouse', { method: 'POST', body });
    assert.equal(begun.url.searchParams.has('state'), isOurs);
    assert.match((await signInBy(service, application, begun, user)).text, /ada@example\.com/, output());
  });
}

test('how to: Express with openid-client signs in and out', async (t) => {
  const packages = ['express@5', 'express-session@1', 'openid-client@6'];
  const started = await startNodeApplication(t, packages, '/callback', (port) => program('connect-express', 'js', port));
  if (started === undefined) return;
  const { service, user, application } = started;
  await started.start();
  const page = await signInBy(service, application, '/', user);
  assert.equal(JSON.parse(page.text).email, 'ada@example.com', page.text);
  const left = await application.visit('/logout');
  assert.equal(left.url.pathname, '/oauth/v1/default/logout');
  assert.ok(left.url.searchParams.has('id_token_hint'));
  assert.notEqual((await application.visit('/')).url.origin, application.origin, 'signed out of the application');
});

test('openid-client signs in as its quick start has it, with the profile openid', async (t) => {
  const started = await startNodeApplication(
    t,
    ['openid-client@6'],
    '/callback',
    () => `import { createServer } from 'node:http';
import * as client from 'openid-client';
const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT, ORIGIN } = process.env;
const config = await client.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, { execute: [client.allowInsecureRequests] });
let code_verifier, state;
createServer(async (req, res) => {
  try {
    const url = new URL(req.url, ORIGIN);
    if (url.pathname === '/callback') {
      const tokens = await client.authorizationCodeGrant(config, url, { pkceCodeVerifier: code_verifier, expectedState: state });
      const { access_token } = tokens;
      const userInfo = await client.fetchUserInfo(config, access_token, tokens.claims().sub);
      return res.end(JSON.stringify(userInfo));
    }
    code_verifier = client.randomPKCECodeVerifier();
    const code_challenge = await client.calculatePKCECodeChallenge(code_verifier);
    const parameters = { redirect_uri: ORIGIN + '/callback', scope: 'openid email', code_challenge, code_challenge_method: 'S256' };
    if (!config.serverMetadata().supportsPKCE()) { state = client.randomState(); parameters.state = state; }
    res.writeHead(302, { location: client.buildAuthorizationUrl(config, parameters).href }).end();
  } catch (error) { res.writeHead(500).end(String(error.stack) + JSON.stringify(error)); }
}).listen(PORT, () => console.log('listening'));
`,
  );
  if (started === undefined) return;
  const { service, user, application } = started;
  await useProfileOpenid(service);
  await started.start();
  const page = await signInBy(service, application, '/', user);
  assert.equal(JSON.parse(page.text).email, 'ada@example.com', page.text);
});

test('passport-openidconnect signs in, each time', async (t) => {
  const started = await startNodeApplication(
    t,
    ['passport@0.7', 'passport-openidconnect@0.1', 'express@4', 'express-session@1'],
    '/callback',
    () => `import express from 'express';
import session from 'express-session';
import passport from 'passport';
import Strategy from 'passport-openidconnect';
const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT, ORIGIN } = process.env;
passport.use(new Strategy({
  issuer: ISSUER, authorizationURL: ISSUER + '/authorize', tokenURL: ISSUER + '/token', userInfoURL: ISSUER + '/userinfo',
  clientID: CLIENT_ID, clientSecret: CLIENT_SECRET, callbackURL: ORIGIN + '/callback', scope: ['email'],
}, (issuer, profile, done) => done(null, profile)));
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
const app = express();
app.use(session({ secret: 'x', resave: false, saveUninitialized: false }));
app.use(passport.initialize());
app.use(passport.session());
app.get('/login', passport.authenticate('openidconnect'));
app.get('/callback', passport.authenticate('openidconnect', { failureMessage: true }), (req, res) => res.json(req.user));
app.listen(PORT, () => console.log('listening'));
`,
  );
  if (started === undefined) return;
  const { service, user, origin } = started;
  await useProfileOpenid(service);
  await started.start();
  // Its state is random, and every other one has a character that profile "service" refuses.
  for (let turn = 0; turn < 8; turn += 1) {
    const page = await signInBy(service, new UserAgent(origin), '/login', user);
    assert.match(page.text, /ada@example\.com/);
  }
});

const MODULES = ['oidc-client-ts/dist/esm/oidc-client-ts.js', 'jwt-decode/build/esm/index.js'];

test(
  'how to: oidc-client-ts signs in and out in the browser',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const user = await service.createUser({ email: 'ada@example.com' });
    const files: Record<string, string> = Object.fromEntries(
      MODULES.map((file) => [`/${file.split('/')[0]}.js`, readFileSync(path.join('node_modules', file), 'utf8')]),
    );
    // An import map does what a bundler would.
    const imports = { 'oidc-client-ts': '/oidc-client-ts.js', 'jwt-decode': '/jwt-decode.js' };
    const page = `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script><body><script type="module" src="/app.js"></script></body></html>`;
    const origin = await listen(t, 'localhost', (req, res) => {
      const { pathname } = new URL(req.url ?? '/', 'http://localhost');
      res.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html');
      res.end(files[pathname] ?? page);
    });
    const { clientId } = await service.createApp(
      {
        ...{ application_type: 'browser', redirect_uris: [`${origin}/`], post_logout_redirect_uris: [`${origin}/`] },
        ...{ grant_types: ['authorization_code', 'refresh_token'], allowed_origins: [origin] },
      },
      { token_endpoint_auth_method: 'none' },
    );
    const [sample = ''] = codeBlocks('how-to/connect-single-page-apps', 'js');
    files['/app.js'] = sample.replace('http://localhost:3000/oauth/v1/default', service.issuer('default')).replace('my-app', clientId);

    const tab = await (await browser.newContext()).newPage();
    await tab.goto(`${origin}/`);
    await tab.click('text=Sign in');
    await tab.fill('[name=username]', user.login);
    await tab.fill('[name=password]', user.password);
    await tab.click('#sign-in');
    await tab.waitForSelector('text=Signed in as ada@example.com');
    await tab.click('text=Sign out');
    await tab.waitForSelector('button:has-text("Sign in")');
    assert.equal(new URL(tab.url()).origin, origin);
  }),
);

test(
  'okta-auth-js signs in, renews and signs out with its issuer alone',
  inBrowser(async (browser, t) => {
    const cwd = folderWith(t, { 'package.json': '{"private":true}' });
    const missing = await npmInstall(cwd, '@okta/okta-auth-js@8');
    if (missing !== undefined) return t.skip(missing);
    const library = readFileSync(path.join(cwd, 'node_modules/@okta/okta-auth-js/dist/okta-auth-js.min.js'));
    const service = await startService(t);
    for (const serverId of ['default', 'built-in']) {
      const files: Record<string, string | Buffer> = { '/okta.js': library };
      const page =
        '<!doctype html><title>App</title><link rel="icon" href="data:,"><script src="/okta.js"></script><script src="/app.js"></script>';
      const origin = await listen(t, 'localhost', (req, res) => {
        const { pathname } = new URL(req.url ?? '/', 'http://localhost');
        res.setHeader('content-type', pathname.endsWith('.js') ? 'text/javascript' : 'text/html');
        res.end(files[pathname] ?? page);
      });
      const { clientId } = await service.createApp(
        {
          ...{ application_type: 'browser', redirect_uris: [`${origin}/callback`], post_logout_redirect_uris: [`${origin}/out`] },
          ...{ grant_types: ['authorization_code', 'refresh_token'], allowed_origins: [origin] },
        },
        { token_endpoint_auth_method: 'none' },
      );
      const scopes = ['openid', 'email', 'offline_access'];
      const settings = {
        issuer: service.issuer(serverId),
        clientId,
        redirectUri: `${origin}/callback`,
        postLogoutRedirectUri: `${origin}/out`,
        scopes,
      };
      files['/app.js'] = `const auth = new OktaAuth(${JSON.stringify(settings)});`;
      const user = await service.createUser({ email: `${serverId}@example.com` });
      const tab = await (await browser.newContext()).newPage();
      await tab.goto(`${origin}/`);
      await tab.evaluate('void auth.token.getWithRedirect()');
      await tab.waitForSelector('#sign-in-form');
      await tab.fill('[name=username]', user.login);
      await tab.fill('[name=password]', user.password);
      await tab.click('#sign-in');
      await tab.waitForURL((url) => url.pathname === '/callback');
      await tab.evaluate('auth.token.parseFromUrl().then(({ tokens }) => auth.tokenManager.setTokens(tokens))');
      const told = (await tab.evaluate('auth.getUser()')) as { email: string };
      assert.equal(told.email, `${serverId}@example.com`);
      const first = await tab.evaluate('auth.getAccessToken()');
      await tab.evaluate("auth.tokenManager.renew('accessToken')");
      const second = String(await tab.evaluate('auth.getAccessToken()'));
      assert.notEqual(second, first);
      await tab.evaluate('void auth.signOut()');
      await tab.waitForURL((url) => url.pathname === '/out');
      const any = await createClient(service);
      assert.equal((await post(service, serverId, 'introspect', any, { token: second })).body.active, false, 'the token is revoked');
      const again = await tab.goto(`${service.baseUrl}/account`);
      assert.match(again?.url() ?? '', /signin/, 'the session has ended');
    }
  }),
);

test('@okta/jwt-verifier verifies an access token with its issuer alone', async (t) => {
  const cwd = folderWith(t, {
    'package.json': '{"private":true}',
    'main.cjs': `const Verifier = require('@okta/jwt-verifier');
const { ISSUER, CLIENT_ID, TOKEN } = process.env;
const verifier = new Verifier({ issuer: ISSUER, clientId: CLIENT_ID, testing: { disableHttpsCheck: true } });
verifier.verifyAccessToken(TOKEN, 'api://default').then(({ claims }) => console.log('verified', claims.sub));
`,
  });
  const missing = await npmInstall(cwd, '@okta/jwt-verifier@4');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const client = await createClient(service, { application_type: 'service', grant_types: ['client_credentials'], response_types: [] });
  const { body } = await post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
  const env = { ISSUER: service.issuer('default'), CLIENT_ID: client.clientId, TOKEN: body.access_token };
  assert.match(await mustRun(cwd, env, process.execPath, 'main.cjs'), new RegExp(`verified ${client.clientId}`));
});
