/** What is delivered (docs/how-to/deploy.md): the image's description, the systemd unit, licences, release notes; and nothing of it that is needed for tests alone. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { deliveredPackages } from '../../src/cli/licences.ts';
import { freePort } from '../support/process.ts';
import { startService } from '../support/service.ts';
import { START_OPTIONS } from '../support/start-options.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const manifest = JSON.parse(read('package.json'));

test('every licence that is delivered is one that may be; others, and unknown ones, are noticed', () => {
  const delivered = deliveredPackages(read('package-lock.json'));
  assert.ok(delivered.length > 200);
  assert.deepEqual(
    delivered.filter(({ isAllowed }) => !isAllowed),
    [],
  );
  const judged = (license?: string): boolean | undefined =>
    deliveredPackages(JSON.stringify({ packages: { '': {}, 'node_modules/x': { version: '1.0.0', ...(license && { license }) } } }))[0]
      ?.isAllowed;
  for (const licence of [
    'GPL-3.0-only',
    'AGPL-3.0',
    'LGPL-2.1',
    'SSPL-1.0',
    'BUSL-1.1',
    'UNLICENSED',
    'SEE LICENSE IN x',
    'MIT AND GPL-2.0',
    undefined,
  ]) {
    assert.equal(judged(licence), false, licence);
  }
  for (const licence of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC']) assert.equal(judged(licence), true, licence);
  const packages = { 'node_modules/x': { dev: true, license: 'GPL-3.0' }, 'node_modules/a/node_modules/@b/c': { license: 'MIT' } };
  assert.deepEqual(
    deliveredPackages(JSON.stringify({ packages })).map(({ name }) => name),
    ['@b/c'],
    'what is for tests is not delivered',
  );
});

test('what runs in production imports nothing that is there for building and testing alone', () => {
  for (const folder of ['src', 'config', 'migrations']) {
    for (const file of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
      // A snippet imports, too, but is a text.
      const code = read(path.join(folder, file)).replace(/`(?:[^`\\]|\\.)*`/gs, '``');
      for (const [statement, name = ''] of code.matchAll(/^(?:import|export)(?! type\b)[^;]*?\bfrom '([^.'][^']*)';/gm)) {
        const [scope = '', rest = ''] = name.split('/');
        const bare = scope.startsWith('@') ? `${scope}/${rest}` : scope;
        if (isBuiltin(name) || /^import \{ (type [^,}]+,? ?)+\} /.test(statement)) continue;
        assert.ok(bare in manifest.dependencies, `${folder}/${file} imports ${bare}`);
      }
    }
  }
});

test('the release notes tell of this version, and each command of the package is there', () => {
  assert.match(read('CHANGELOG.md'), new RegExp(`^## ${manifest.version.replaceAll('.', '\\.')} `, 'm'));
  for (const [name, script] of Object.entries<string>(manifest.scripts)) {
    const file = /node (?:--\S+ )*(dist\/\S+\.js)/.exec(script)?.[1];
    if (file !== undefined) assert.ok(existsSync(path.join(root, file)), `npm run ${name}`);
  }
  // The documentation is not needed for the tests: it is built before the package is packed.
  assert.match(manifest.scripts.prepack, /npm run docs/);
  for (const entry of manifest.files) assert.ok(entry === 'dist/docs' || existsSync(path.join(root, entry)), entry);
});

test('the command of a clone says what to do before it is compiled, and works from then on', async (t) => {
  const clone = mkdtempSync(path.join(tmpdir(), 'gatehouse-clone-'));
  t.after(() => rmSync(clone, { recursive: true }));
  const bin = manifest.bin.gatehouse;
  cpSync(path.join(root, bin), path.join(clone, bin));
  writeFileSync(path.join(clone, 'package.json'), '{"type":"module"}');
  await assert.rejects(promisify(execFile)(path.join(clone, bin), ['--help']), { code: 1, stderr: /npm ci && npm run build/ });
  const { stdout } = await promisify(execFile)(path.join(root, bin), ['--help']);
  assert.match(stdout, /^ {2}doctor /m);
});

test('the image is built from files that are there, runs as nobody special, and its health check tells', async (t) => {
  const dockerfile = read('Dockerfile');
  const stages = dockerfile.split(/^FROM .*$/m);
  const last = stages.at(-1) ?? '';
  assert.equal(stages.length, 3, 'a stage that builds, and one that runs');
  assert.match(last, /^USER node$/m);
  assert.doesNotMatch(last, /^RUN .*npm/m);
  const passed = read('.dockerignore')
    .split('\n')
    .flatMap((line) => /^!(.+)$/.exec(line)?.[1] ?? []);
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)) {
    for (const source of sources.split(' ')) {
      assert.ok(existsSync(path.join(root, source)), source);
      assert.ok(passed.includes(source.replace('./', '')), `${source} is in .dockerignore`);
    }
  }
  assert.deepEqual(JSON.parse(/^CMD (.+)$/m.exec(last)?.[1] ?? '[]'), ['node', ...START_OPTIONS, 'dist/src/main.js']);
  const command: string[] = JSON.parse(/^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(last)?.[1] ?? '[]');
  assert.equal(command[0], 'node');
  const check = (port: string) => promisify(execFile)(process.execPath, command.slice(1), { env: { PORT: port } });
  const service = await startService(t);
  await check(new URL(service.listensAt).port);
  await assert.rejects(check(await freePort()), { code: 1 });
});

test('the systemd unit starts what is there, unprivileged and confined', () => {
  const unit = read('config/gatehouse.service');
  const [, start = ''] = /^ExecStart=\/usr\/bin\/node (.+)$/m.exec(unit) ?? [];
  assert.deepEqual(start.split(' '), [...START_OPTIONS, 'dist/src/main.js']);
  for (const line of [
    'User=gatehouse',
    'NoNewPrivileges=yes',
    'ProtectSystem=strict',
    'ProtectHome=yes',
    'CapabilityBoundingSet=',
    'KillMode=mixed',
  ]) {
    assert.ok(unit.split('\n').includes(line), line);
  }
  // Longer than the service gives itself.
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) > 25);
});
