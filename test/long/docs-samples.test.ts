/** Commands and programs of the documentation, carried out as the Markdown has them: only addresses and `npx gatehouse` are put in place. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { afterwards } from '../support/afterwards.ts';
import { codeBlocks } from '../support/docs.ts';
import { dataDirectory, eventually, freePort, type RunningService, runService } from '../support/process.ts';
import { API_TOKEN } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { signInBy } from './foreign/setting.ts';

const MAIN = path.resolve('dist/src/main.js');
const PASSWORD = 'correct horse battery';

interface Place {
  /** Where somebody who reads the page stands: data/ is below. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly service: RunningService;
  readonly application: string;
  /** Puts the addresses of this run in place. */
  fit(text: string): string;
}

async function place(t: TestContext): Promise<Place> {
  const folder = dataDirectory(t);
  mkdirSync(path.join(folder, 'data'), { mode: 0o777 });
  symlinkSync(path.resolve('node_modules'), path.join(folder, 'node_modules'));
  const env = { DATA_DIR: path.join(folder, 'data'), PORT: await freePort() };
  const service = await runService(t, env);
  const application = `http://localhost:${await freePort()}`;
  const fit = (text: string) =>
    text
      .replaceAll('http://localhost:3000', service.baseUrl)
      .replaceAll('http://localhost:8080', application)
      .replaceAll('.listen(8080)', `.listen(${new URL(application).port})`)
      .replaceAll('my-first-api-token-0123456789-abcdef', API_TOKEN)
      .replaceAll('npx gatehouse', `${process.execPath} ${MAIN}`)
      .replaceAll(/^npm start$/gm, '');
  return { folder, env, service, application, fit };
}

/** Carries out a block. @param input its standard input, once it has printed something @returns what it printed */
async function shell(t: TestContext, at: Place, text: string, input?: (printed: string) => Promise<string>): Promise<string> {
  const child = spawn('bash', ['--norc', '-euc', at.fit(text)], {
    cwd: at.folder,
    env: { PATH: process.env.PATH ?? '', TOKEN: API_TOKEN, ...at.env, GATEHOUSE_URL: at.service.baseUrl },
  });
  afterwards(t, () => void child.kill());
  let output = '';
  let given = false;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', async (part: string) => {
      output += part;
      if (input === undefined || given || !/^http\S+\n/m.test(output)) return;
      given = true;
      child.stdin.end(`${await input(output)}\n`);
    });
  }
  if (input === undefined) child.stdin.end();
  const [code] = await once(child, 'close');
  assert.equal(code, 0, `${text}\n${output}`);
  return output;
}

/** Starts a program of a page. */
function program(
  t: TestContext,
  at: Place,
  name: string,
  text: string,
): { readonly output: () => string; readonly ended: Promise<unknown> } {
  writeFileSync(path.join(at.folder, name), at.fit(text));
  const child = spawn(process.execPath, [name], { cwd: at.folder });
  afterwards(t, () => void child.kill());
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => (output += part));
  return { output: () => output, ended: once(child, 'close') };
}

const isUp = async (origin: string): Promise<boolean> =>
  fetch(origin, { redirect: 'manual' }).then(
    () => true,
    () => false,
  );

test('tutorial: your first application, with openid-client and with curl', async (t) => {
  const at = await place(t);
  const [, create = '', begin = '', exchange = ''] = codeBlocks('tutorials/first-application', 'sh');
  assert.match(await shell(t, at, create), /"client_id":"my-app"/);

  const [application = ''] = codeBlocks('tutorials/first-application', 'js');
  const running = program(t, at, 'my-app.mjs', application);
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
  const first = program(t, at, 'machine.mjs', machine);
  await first.ended;
  const [, token = ''] = /access_token: '([^']+)'/.exec(first.output()) ?? [];
  const second = program(t, at, 'check.mjs', `${check}\nconsole.log((await verify('${token}')).payload.aud);\n`);
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
  assert.match(await shell(t, at, realm.replace('--refused refused', '--refused refused-realm')), /^1 imported, 0 refused/m);
  assert.equal((await at.service.api('GET', '/users/mary/groups')).body.length, 2);

  for (const page of ['move-from-auth0', 'move-from-okta', 'move-from-zitadel']) {
    const [block = ''] = codeBlocks(`how-to/${page}`, 'sh');
    assert.match(await shell(t, at, block), /^1 imported, 0 refused/m, page);
  }
  const [, , out = ''] = codeBlocks('how-to/move-users-in', 'sh');
  assert.match(await shell(t, at, out), /^0 users would be imported, 0 refused, \d+ there already\./m);

  const [configuration = ''] = codeBlocks('how-to/configuration-as-code', 'sh');
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

  const [backup = '', restore = ''] = codeBlocks('how-to/back-up-and-restore', 'sh');
  await shell(t, at, backup);
  assert.equal(await at.service.stop(), 0);
  await shell(t, at, restore);
  assert.ok(existsSync(path.join(at.folder, 'data.before')));
  const restored = await runService(t, at.env);
  assert.equal((await restored.api('GET', '/users?q=ada')).body.length, 1);
  assert.equal(await restored.stop(), 0);
});
