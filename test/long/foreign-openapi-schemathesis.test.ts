/** Schemathesis, with the API's own description: calls of the management API that nobody has thought of. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { ENDPOINTS } from '../../src/api/index.ts';
import { describeApi } from '../../src/api/openapi.ts';
import { API_TOKEN, startService } from '../support/service.ts';
import { folderWith, pipInstall, runProgram } from './foreign/setting.ts';

/** Seconds. */
const LONGEST = '240';
const SEED = '20261123';
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';

/** With them the caller ends the account or the token by which it calls: all that follows would be a 401. */
const ENDING = [
  ...['updateUser', 'putUser', 'deleteUser', 'deactivateUser', 'suspendUser', 'expireUserPassword', 'resetUserPassword'],
  ...['deleteUserRole', 'deleteApiToken'],
];

/** The description without Idempotency-Key: a key that is used again gets the former response, and hides the call behind it. */
const description = (): string =>
  JSON.stringify(describeApi(ENDPOINTS), (name, value) =>
    name === 'parameters' && Array.isArray(value) ? value.filter(({ $ref = '' }) => !$ref.endsWith('/IdempotencyKey')) : value,
  );

test('schemathesis finds no server error, no undocumented status and no response that breaks its schema', async (t) => {
  const cwd = folderWith(t, { 'openapi.json': description() });
  const { python, missing } = await pipInstall(cwd, 'schemathesis==4.32.5');
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const isAlive = async () => (await service.api('GET', '/api-tokens')).status;
  const { code, output } = await runProgram(
    cwd,
    {},
    path.join(path.dirname(python), 'st'),
    ...['run', 'openapi.json', '--url', `${service.baseUrl}/api/v1`, '--header', `Authorization: SSWS ${API_TOKEN}`],
    ...['--checks', CHECKS, '--max-time', LONGEST, '--seed', SEED, '--no-color'],
    ...ENDING.flatMap((id) => ['--exclude-operation-id', id]),
  );
  t.diagnostic(output.trim().split('\n').slice(-20).join('\n'));
  assert.equal(code, 0, output.slice(-12_000));
  assert.equal(await isAlive(), 200, 'the caller’s token still answers, so the calls were more than refusals');
});
