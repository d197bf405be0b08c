/** Commands and programs of the documentation, carried out as the Markdown has them: only addresses and `npx gatehouse` are put in place. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { startDns } from '../support/dns.ts';
import { codeBlocks, samplesOf } from '../support/docs.ts';
import { startMailServer } from '../support/mail.ts';
import { dataDirectory, eventually, freePort, runService } from '../support/process.ts';
import { UserAgent } from '../support/user-agent.ts';
import { carriedOut, isUp, PASSWORD, type Place, place, shell, startProgram, withEnv } from './docs-place.ts';
import { signInBy } from './foreign/setting.ts';

test('tutorial: your first application, with openid-client and with curl', async (t) => {
  const at = await place(t);
  const [start = '', create = '', begin = '', exchange = ''] = codeBlocks('tutorials/first-application', 'sh');
  // `place` has started the service like this.
  carriedOut.push(start);
  assert.match(await shell(t, at, create), /"client_id":"my-app"/);

  const [application = ''] = codeBlocks('tutorials/first-application', 'js');
  const running = startProgram(t, at, 'my-app.mjs', application);
  await eventually(() => isUp(at.application), `the application: ${running.output()}`);
  const browser = new UserAgent(at.application);
  const arrived = await signInBy(at.service, browser, await browser.visit('/'), { login: 'ada', password: PASSWORD });
  assert.equal(JSON.parse(arrived.text).user.email, 'ada@example.com');

  const ada = new UserAgent(at.service.baseUrl);
  const printed = await shell(t, at, `${begin}${exchange}`, async (text) => {
    const [address = ''] = /http\S+/.exec(text) ?? [];
    const answer = await ada.signIn(await ada.visit(address), { login: 'ada', password: PASSWORD });
    return answer.url.searchParams.get('code') ?? '';
  });
  assert.match(printed, /"access_token":/);
});

test('tutorial: protect an API', async (t) => {
  const at = await place(t);
  for (const block of codeBlocks('tutorials/protect-an-api', 'sh')) await shell(t, at, block);
  const [machine = '', check = ''] = codeBlocks('tutorials/protect-an-api', 'js');
  const first = startProgram(t, at, 'machine.mjs', machine);
  await first.ended;
  const [, token = ''] = /access_token: '([^']+)'/.exec(first.output()) ?? [];
  const second = startProgram(t, at, 'check.mjs', `${check}\nconsole.log((await verify('${token}')).payload.aud);\n`);
  await second.ended;
  assert.equal(second.output(), 'api://default\n');
});

test('how to: move users in, and configuration as code', async (t) => {
  const at = await place(t);
  const [users = '', table = ''] = codeBlocks('how-to/move-users-in', 'sh');
  // One line of three is refused, as the page says.
  assert.match(await shell(t, at, `${users.trimEnd()} || true\n`), /1 /);
  assert.match(readFileSync(path.join(at.folder, 'refused.ndjson'), 'utf8'), /^\{"line":3,/);
  const grace = new UserAgent(at.service.baseUrl);
  assert.equal((await grace.signIn(await grace.visit('/account'), { login: 'grace', password: PASSWORD })).url.pathname, '/account');

  assert.match(await shell(t, at, table), /^1 imported, 0 refused/m);

  const [realm = ''] = codeBlocks('how-to/move-from-keycloak', 'sh');
  carriedOut.push(realm, users);
  assert.match(await shell(t, at, realm.replace('--refused refused', '--refused refused-realm')), /^1 imported, 0 refused/m);
  assert.equal((await at.service.api('GET', '/users/mary/groups')).body.length, 2);

  for (const page of ['move-from-auth0', 'move-from-okta', 'move-from-zitadel']) {
    const [block = ''] = codeBlocks(`how-to/${page}`, 'sh');
    assert.match(await shell(t, at, block), /^1 imported, 0 refused/m, page);
  }
  const [, , out = ''] = codeBlocks('how-to/move-users-in', 'sh');
  assert.match(await shell(t, at, out), /^0 users would be imported, 0 refused, \d+ existed already\./m);

  const [configuration = ''] = codeBlocks('how-to/configuration-as-code', 'sh');
  carriedOut.push(configuration);
  await shell(
    t,
    at,
    configuration.replaceAll(/gatehouse\.yaml$/gm, `$& --url ${at.service.baseUrl}`).replace('--yes', `--yes --url ${at.service.baseUrl}`),
  );
  assert.equal((await at.service.api('GET', '/authorizationServers/orders')).status, 200);
});

test('how to: recover an administrator, back up and restore', async (t) => {
  const at = await place(t);
  const [administrator = ''] = codeBlocks('how-to/recover-an-administrator', 'sh');
  assert.match(await shell(t, at, administrator), /\/choose-password\//);

  const [backup = '', restore = '', elsewhere = ''] = codeBlocks('how-to/back-up-and-restore', 'sh');
  await shell(t, at, backup);
  assert.equal(await at.service.stop(), 0);
  await shell(t, at, restore);
  assert.ok(existsSync(path.join(at.folder, 'data.before')));
  const restored = await runService(t, at.env);
  assert.equal((await restored.api('GET', '/users?q=ada')).body.length, 1);
  assert.equal(await restored.stop(), 0);

  // A new machine is another folder, where the program is built already.
  const folder = dataDirectory(t);
  cpSync(path.join(at.folder, 'backups'), path.join(folder, 'backups'), { recursive: true });
  const env = { ...at.env, DATA_DIR: path.join(folder, 'data') };
  await shell(t, { ...at, folder, env }, elsewhere.replace('npm ci && npm run build\n', ''));
  carriedOut.push(elsewhere);
  const moved = await runService(t, env);
  assert.equal((await moved.api('GET', '/users?q=ada')).body.length, 1);
  assert.equal(await moved.stop(), 0);
});

/** Carries out all commands of a page. @param which those of a page that has others, too */
async function page(t: TestContext, at: Place, name: string, which = (_text: string) => true): Promise<string> {
  const commands = codeBlocks(`how-to/${name}`, '(?:sh|shell)').filter(which);
  assert.ok(commands.length > 0, name);
  let output = '';
  for (const command of commands) output += await shell(t, at, command);
  return output;
}

test('how to: calls of the management API', async (t) => {
  const [mail, dns] = [await startMailServer(t), await startDns()];
  afterwards(t, () => dns.close());
  const at = await place(t, { ...mail.env, DNS_SERVERS: dns.server });
  const create = async (address: string, body: unknown) => (await at.service.api('POST', address, body)).body;

  for (const name of [
    'add-an-identity-provider',
    'add-attributes',
    'connect-spring',
    'manage-many-users',
    'sign-in-by-email',
    'sign-in-rules',
  ])
    await page(t, at, name, (text) => text.includes('curl'));
  await page(t, at, 'send-codes-as-second-factor');
  await page(t, withEnv(at, { SECRET: `whsec_${Buffer.alloc(24, 7).toString('base64')}` }), 'send-codes-to-phones');
  assert.match(await page(t, at, 'protect-an-mcp-server'), /"notes:read"/);

  const { id: SERVER } = await create('/authorizationServers', {
    id: 'payments',
    name: 'Payments',
    audiences: ['https://payments.example'],
  });
  await page(t, withEnv(at, { SERVER }), 'authorization-details');

  const { id: USER_ID } = await create('/users?activate=true', { profile: { login: 'member' } });
  const { id: GROUP_ID } = await create('/groups', { profile: { name: 'Editors' } });
  const CLIENT_ID = 'my-spring-app';
  await at.service.api('PUT', `/apps/${CLIENT_ID}/groups/${GROUP_ID}`, {});
  await at.service.api('PUT', `/apps/${CLIENT_ID}/users/${USER_ID}`, {});
  await page(t, withEnv(at, { CLIENT_ID, USER_ID, GROUP_ID }), 'use-application-roles');
  await page(t, withEnv(at, { APP: CLIENT_ID }), 'provision-applications');

  const { orgId: ORG_ID } = await create('/account/org', { orgName: 'Acme' });
  await at.service.api('PUT', `/account/org/${ORG_ID}/member/${USER_ID}`, {});
  await page(t, withEnv(at, { ORG_ID, USER_ID }), 'sell-to-companies');
  const own = withEnv(at, { ORG_ID, IDP_ID: 'idp_GoogleGoogleGoogle00' });
  const [setUp = '', claim = '', verify = '', connect = ''] = codeBlocks('how-to/customers-own-provider', 'sh');
  await shell(t, own, setUp);
  await shell(t, own, claim);
  const { body: domains } = await at.service.api('GET', `/account/org/${ORG_ID}/domain`);
  const [{ verification }] = domains;
  dns.records.set(verification.name, [verification.value]);
  await shell(t, own, verify);
  await shell(t, own, connect);

  assert.match(await page(t, at, 'invite-users'), /"PROVISIONED"/);
});

test('how to: sign-ups that wait', async (t) => {
  const mail = await startMailServer(t);
  const at = await place(t, mail.env);
  const [settings = '', waiting = ''] = codeBlocks('how-to/let-users-sign-up', '(?:sh|shell)');
  await shell(t, at, settings);
  await at.service.api('PUT', '/settings/registration', { enabled: true, approval: 'ADMIN' });
  const signUp = async (email: string): Promise<string> => {
    const agent = new UserAgent(at.service.baseUrl);
    const form = await agent.submit(await agent.visit('/signup'), 'sign-up-form', { email, password: PASSWORD });
    const code = /Your code is (\d{8})/.exec((await mail.mail(email, 1, 'Your code is')).text)?.[1] ?? '';
    await agent.submit(form, 'code-form', { code });
    return (await at.service.api('GET', `/users/${email}`)).body.id;
  };
  // The page shows both answers, of which a user gets one.
  const [list = '', activate = '', refuse = ''] = waiting.trimEnd().split('\n');
  const [good, bad] = [await signUp('good@example.com'), await signUp('bad@example.com')];
  assert.match(await shell(t, at, list), /good@example\.com/);
  await shell(t, withEnv(at, { ID: good }), activate);
  await shell(t, withEnv(at, { ID: bad }), refuse);
  assert.equal((await at.service.api('GET', `/users/${good}`)).body.status, 'ACTIVE');
  carriedOut.push(waiting);
});

test('how to: mail server, signals, inline hook and Okta’s SDK', async (t) => {
  const at = await place(t, { ALLOW_PRIVATE_NETWORK: 'true' });
  // The mail server of the page does not exist, so its test message is refused.
  assert.match(await page(t, withEnv(at, { ALLOW_REFUSALS: 'true' }), 'mail-and-page-texts'), /Good to see you[\s\S]*Lost your password\?/);

  const client = { client_id: 'receiver', client_secret: 'receiver-secret-0123456789-abcdefgh' };
  await at.service.api('POST', '/apps', {
    name: 'oidc_client',
    label: 'Receiver',
    signOnMode: 'OPENID_CONNECT',
    credentials: { oauthClient: client },
    settings: { oauthClient: { application_type: 'service', grant_types: ['client_credentials'], manage_signal_streams: true } },
  });
  const authorization = `Basic ${Buffer.from(Object.values(client).join(':')).toString('base64')}`;
  const token = await fetch(`${at.service.baseUrl}/oauth/v1/token`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'ssf.manage' }),
  });
  const { access_token: ACCESS_TOKEN } = (await token.json()) as { access_token: string };
  const [createStream = '', poll = ''] = codeBlocks('how-to/send-signals', 'sh');
  const signals = withEnv(at, { APP: client.client_id, ACCESS_TOKEN });
  const pushed = JSON.parse((await shell(t, signals, createStream)).split('\n').find((line) => line.startsWith('{')) ?? '{}');
  assert.equal(pushed.delivery?.method, 'PUSH');
  await at.service.api('DELETE', `/ssf/streams/${pushed.id}`);
  const { body: polled } = await at.service.api('POST', '/ssf/streams', {
    ...pushed,
    id: undefined,
    applicationId: client.client_id,
    delivery: { method: 'POLL' },
  });
  assert.match(await shell(t, withEnv(signals, { STREAM: polled.id }), poll), /"sets"/);

  const [hook = ''] = codeBlocks('how-to/use-inline-hooks', 'js');
  const port = await freePort();
  const [createHook = ''] = codeBlocks('how-to/use-inline-hooks', 'sh');
  carriedOut.push(hook, createHook);
  const made = JSON.parse((await shell(t, at, createHook.replace('localhost:9000', `localhost:${port}`))).trim());
  const endpoint = startProgram(t, at, 'hook.mjs', hook.replace('9000', port), { HOOK_SECRET: made.signingSecret });
  await eventually(() => isUp(`http://localhost:${port}`), `the endpoint: ${endpoint.output()}`);
  const tried = await at.service.api('POST', `/inlineHooks/${made.id}/execute`, {});
  assert.equal(tried.status, 200, JSON.stringify(tried.body));

  const [sdk = ''] = codeBlocks('how-to/use-okta-sdks', 'js');
  const users = startProgram(t, at, 'sdk.mjs', sdk);
  await users.ended;
  assert.match(users.output(), /^admin$/m);
});

test('how to: check an installation, and rotate its SECRET_KEY', async (t) => {
  const at = await place(t);
  const [check = ''] = codeBlocks('how-to/check-an-installation', 'sh');
  carriedOut.push(check);
  assert.match(await shell(t, at, `${check.replace(/<API token[^>]*>/, '$TOKEN').trimEnd()} || true`), /ok/);
  const [make = '', both = '', last = ''] = codeBlocks('how-to/rotate-the-secret-key', 'sh');
  await shell(t, at, make);
  assert.equal(await at.service.stop(), 0);
  await shell(t, at, both);
  const again = await runService(t, at.env);
  await shell(t, at, 'npx gatehouse reseal');
  assert.equal(await again.stop(), 0);
  await shell(t, at, last);
  const rotated = await runService(t, at.env);
  assert.equal((await rotated.api('GET', '/users')).status, 200);
  assert.equal(await rotated.stop(), 0);
});

test('every command and program was carried out here, is the subject of another long test, or says that it was not run here', () => {
  const elsewhere = readdirSync('test/long')
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(`test/long/${file}`, 'utf8'))
    .join('\n');
  const isSubject = ({ page: name, language, text }: { page: string; language: string; text: string }): boolean => {
    const reads = (words: string) =>
      new RegExp(`(?:program|codeBlocks)\\('(?:how-to/)?${name.replace('how-to/', '')}', '${words}'`).test(elsewhere);
    if (!['sh', 'shell'].includes(language)) return reads(language);
    // The test of the program installs these packages, and starts it with these variables.
    const packages = /^(?:npm|pip) install (.*)$|^go get (.*)$/m.exec(text)?.slice(1).join(' ').trim().split(/\s+/) ?? [];
    const isStep = packages.length > 0 || /^(?:mvn package\n)?ISSUER=/.test(text);
    return isStep && reads('(?:js|python|go|java)') && packages.every((one) => elsewhere.includes(one));
  };
  const missing = samplesOf('tutorials', 'how-to').filter(
    (sample) =>
      !/not run here|in `npm run test:long`/i.test(sample.says) &&
      !carriedOut.some((text) => text.includes(sample.text.trimEnd())) &&
      !isSubject(sample),
  );
  assert.deepEqual(
    missing.map(({ page: name, text }) => `${name}: ${text.split('\n')[0]}`),
    [],
  );
});
