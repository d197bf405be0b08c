/** `gatehouse doctor` ended midway, hindered from tidying up, or called in a wrong way. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callCommand } from '../support/process.ts';
import { doctor, everything, mustLeaveNothing, outcomes, startAltered } from './altered-service.ts';

for (const [how, signal, args] of [
  ['Ctrl-C', 'SIGINT', []],
  ['SIGTERM', 'SIGTERM', []],
  ['the end of its time', undefined, ['--seconds', '2']],
] as const) {
  test(`${how} midway ends it with 1`, async (t) => {
    const service = await startAltered(t);
    const before = await everything(service);
    const command = doctor(t, service, ...args);
    if (signal !== undefined) {
      await command.printed('ok    introspection-result.active');
      command.child.kill(signal);
    }
    assert.equal(await command.ended, 1, command.output.stdout);
    assert.match(command.output.stdout, /\d+ could not be checked\.\n$/);
    assert.deepEqual(outcomes(command.output.stdout).FAIL, []);
    await mustLeaveNothing(t, service, before);
  });
}

test('what cannot be removed is told, and is not all right', async (t) => {
  const service = await startAltered(t);
  service.alter(({ method, url }, answered) => {
    if (method === 'DELETE' && url.pathname.startsWith('/api/v1/apps/')) answered.status = 500;
  });
  const command = doctor(t, service);
  await command.printed('ok    service.single-sign-on');
  command.child.kill('SIGINT');
  assert.equal(await command.ended, 1);
  assert.match(
    command.output.stdout,
    /^FAIL {2}doctor\.left: the application doctor-\S+-everything could not be removed\. Delete it in the console$/m,
  );
});

test('without an API token, or with a wrong one, it is not all right, and says what to do', async (t) => {
  const service = await startAltered(t);
  const without = await callCommand({}, 'doctor', '--url', service.baseUrl);
  assert.equal(without.code, 1);
  assert.match(without.stdout, /Set GATEHOUSE_TOKEN/);
  const wrong = await callCommand({}, 'doctor', '--url', service.baseUrl, '--token', 'a-token-that-nobody-has-made');
  assert.equal(wrong.code, 1);
  assert.ok(outcomes(wrong.stdout).FAIL.includes('configuration.token'));
  assert.ok(!wrong.stdout.includes('a-token-that-nobody-has-made'));
  const usage = await callCommand({}, 'doctor', '--nonsense');
  assert.equal(usage.code, 2);
  assert.match(usage.stderr, /^error: unknown option '--nonsense'\n[\s\S]*Usage: gatehouse doctor/);
});
