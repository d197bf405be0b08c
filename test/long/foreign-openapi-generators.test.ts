/** Code generators and linters, with the API's own description. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { ENDPOINTS } from '../../src/api/index.ts';
import { describeApi } from '../../src/api/openapi.ts';
import { folderWith, install, mustRun, npmInstall, pipInstall, runProgram } from './foreign/setting.ts';

const GENERATOR = 'org/openapitools/openapi-generator-cli/7.25.0/openapi-generator-cli-7.25.0.jar';
const MAVEN = 'https://repo.maven.apache.org/maven2';
const TSC = [
  '--noEmit',
  '--strict',
  '--target',
  'es2022',
  '--module',
  'esnext',
  '--moduleResolution',
  'bundler',
  '--lib',
  'es2022,dom,dom.iterable',
];

/** A folder with the description in it. */
const described = (t: TestContext): string =>
  folderWith(t, { 'openapi.json': JSON.stringify(describeApi(ENDPOINTS)), 'package.json': '{"private":true,"type":"module"}' });

test('openapi-generator makes clients in Python, Go and TypeScript that compile', async (t) => {
  const cwd = described(t);
  const missing =
    (await install(cwd, 'java', '-version')) ??
    (await install(cwd, 'curl', '-sfLo', 'generator.jar', `${MAVEN}/${GENERATOR}`)) ??
    (await npmInstall(cwd, 'typescript'));
  if (missing !== undefined) return t.skip(missing);
  for (const language of ['python', 'go', 'typescript-fetch']) {
    await mustRun(cwd, {}, 'java', '-jar', 'generator.jar', 'generate', '-i', 'openapi.json', '-g', language, '-o', language);
  }
  await mustRun(cwd, {}, 'node_modules/.bin/tsc', ...TSC, 'typescript-fetch/index.ts');
  const { code, output } = await runProgram(path.join(cwd, 'go'), {}, 'go', 'build', './...');
  if (code === undefined) t.diagnostic('go is not on this machine: its client was not compiled');
  else assert.equal(code, 0, output);
  const { python, missing: noPython } = await pipInstall(cwd, './python');
  if (noPython !== undefined) t.diagnostic(noPython);
  else await mustRun(cwd, {}, python, '-c', 'import openapi_client, openapi_client.api, openapi_client.models');
});

test('openapi-typescript and hey-api make types that compile; spectral and redocly find no error', async (t) => {
  const cwd = described(t);
  const missing = await npmInstall(
    cwd,
    'typescript@5',
    'openapi-typescript@7',
    '@hey-api/openapi-ts@0.95',
    '@stoplight/spectral-cli@6',
    '@redocly/cli@2',
  );
  if (missing !== undefined) return t.skip(missing);
  const bin = (name: string) => `node_modules/.bin/${name}`;
  await mustRun(cwd, {}, bin('openapi-typescript'), 'openapi.json', '-o', 'types.ts');
  await mustRun(cwd, {}, bin('openapi-ts'), '-i', 'openapi.json', '-o', 'hey');
  await mustRun(cwd, {}, bin('tsc'), ...TSC, 'types.ts', 'hey/index.ts');
  writeFileSync(path.join(cwd, '.spectral.json'), '{"extends":["spectral:oas"]}');
  await mustRun(cwd, {}, bin('spectral'), 'lint', '--fail-severity', 'error', 'openapi.json');
  const redocly = await mustRun(cwd, { REDOCLY_TELEMETRY: 'off' }, bin('redocly'), 'lint', 'openapi.json');
  assert.doesNotMatch(redocly, /\d+ warning/, redocly);
});
