/** kill -9 of a process that tells event hooks: what it leaves, another tells. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hurry } from '../protocol/logout/logout-receiver.ts';
import { afterwards } from '../support/afterwards.ts';
import { startedDatabase } from '../support/database.ts';
import { createHook, hookReceiver, nothingWaits, signatureOf, waitingNews } from '../support/event-hooks.ts';
import { eventually, runService } from '../support/process.ts';
import { STARTED } from '../support/service.ts';

for (const [moment, isReached] of [
  ['right after the change', async () => {}],
  ['in the middle of a delivery', (came: () => Promise<unknown>) => came()],
] as const) {
  test(`kill -9 ${moment} loses nothing: another process tells it, in order`, async (t) => {
    const database = await startedDatabase();
    afterwards(t, () => database.drop());
    const env = { ...STARTED, ALLOW_PRIVATE_NETWORK: 'true', DATABASE_URL: database.url };
    const doomed = await runService(t, env);
    // As long as the first process lives, nobody gets an answer.
    let answers = false;
    const receiver = await hookReceiver(t, (res) => answers && res.end());
    const { secret } = await createHook(doomed, receiver.uri, ['user.lifecycle.create', 'user.lifecycle.suspend']);
    const { body: user } = await doomed.api('POST', '/users', { profile: { login: 'survivor' } });
    await doomed.api('POST', `/users/${user.id}/lifecycle/suspend`);
    await isReached(() => receiver.received(1));
    doomed.child.kill('SIGKILL');
    assert.equal(await doomed.ended, 'SIGKILL');
    assert.equal((await waitingNews(database)).length, 2);

    answers = true;
    const heir = await runService(t, { ...env, PORT: new URL(doomed.baseUrl).port });
    // What the first one took is another's after fifteen seconds.
    await hurry(database);
    await eventually(() => receiver.accepted.length >= 2, 'both are told');
    assert.deepEqual(receiver.accepted, ['user.lifecycle.create survivor', 'user.lifecycle.suspend survivor']);
    for (const message of receiver.messages) assert.equal(message.headers['webhook-signature'], signatureOf(secret, message));
    await nothingWaits(database);
    assert.equal(await heir.stop(), 0);
  });
}
