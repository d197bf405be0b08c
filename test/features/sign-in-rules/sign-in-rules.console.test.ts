/** Network zones and rules of the sign-in policy in the console: made, changed, moved and deleted. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, SUPER, wordsOf } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';

const POLICY = '/admin/security/sign-in-policy';
const ZONES = '/admin/security/zones';

test('zones and rules in the console', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service, SUPER);
  const rulesNow = async () => (await service.api('GET', '/settings/sign-in')).body.rules;

  const form = await agent.visit(`${ZONES}/new`);
  for (const networks of ['192.0.2.7/24', 'office', '']) {
    const refused = await agent.submit(form, 'console-form', { name: 'Office', networks });
    assert.equal(refused.status, 400, networks);
    assert.match(refused.text, /id="networks-problem"/);
  }
  const made = await agent.submit(form, 'console-form', { name: 'Office', networks: '192.0.2.0/24\r\n2001:db8::/32' });
  assert.match(wordsOf(made), /The network zone is created.*Office.*192\.0\.2\.0\/24/);
  for (const [q, isFound] of Object.entries({
    office: true,
    '192.0.2': true,
    '192.0.2.77': true,
    '2001:db8:1::7': true,
    '192.0.3.7': false,
    '::1': false,
    '::ffff:192.0.2.77': true,
    '2001:db8:1::7%eth0': true,
    'fe80::1%eth0': false,
    '192.0.2.77/0': false,
    '%': false,
  }))
    assert.equal(/>Office</.test((await agent.visit(`${ZONES}?${new URLSearchParams({ q })}`)).text), isFound, q);
  const taken = await agent.submit(form, 'console-form', { name: 'Office', networks: '192.0.2.0/24' });
  assert.match(taken.text, /id="name-problem"/);

  const rule = await agent.visit(`${POLICY}/rules/new`);
  const stored = await agent.submit(rule, 'console-form', {
    ...{ name: 'Outside', exclude: ['Office'], browser: 'new', daysSinceLastSignIn: '30', action: 'SECOND_FACTOR', place: '0' },
  });
  assert.match(wordsOf(stored), /Outside.*not from Office.*in a new browser.*last sign-in 30 days ago or longer.*Ask for a second factor/);
  assert.deepEqual(await rulesNow(), [
    { name: 'Outside', conditions: { zones: { exclude: ['Office'] }, newBrowser: true, daysSinceLastSignIn: 30 }, action: 'SECOND_FACTOR' },
  ]);
  assert.match((await agent.submit(rule, 'console-form', { name: 'Outside', action: 'DENY' })).text, /id="name-problem"/);
  await agent.submit(await agent.visit(`${POLICY}/rules/new`), 'console-form', { name: 'First / 50 %', action: 'ALLOW', place: '0' });
  assert.deepEqual(
    (await rulesNow()).map(({ name }: { name: string }) => name),
    ['First / 50 %', 'Outside'],
  );

  const edit = await agent.visit(`${POLICY}/rules/${encodeURIComponent('First / 50 %')}`);
  await agent.submit(edit, 'console-form', { name: 'Last', action: 'ALLOW', browser: 'known', place: '1' });
  assert.deepEqual((await rulesNow())[1], { name: 'Last', conditions: { newBrowser: false }, action: 'ALLOW' });
  const kept = await agent.submit(await agent.visit(`${POLICY}/edit`), 'console-form', { rememberBrowserDays: '7' });
  assert.equal(kept.status, 200);
  assert.equal((await rulesNow()).length, 2, 'other forms of the policy leave the rules');

  const { body: zones } = await service.api('GET', '/zones');
  const named = await agent.submit(await agent.visit(`${ZONES}/${zones[0].id}/delete`), 'console-form');
  assert.equal((await service.api('GET', '/zones')).body.length, 1, named.text.slice(0, 500));
  await agent.submit(await agent.visit(`${POLICY}/rules/Outside/delete`), 'console-form');
  assert.deepEqual(
    (await rulesNow()).map(({ name }: { name: string }) => name),
    ['Last'],
  );
  await agent.submit(await agent.visit(`${ZONES}/${zones[0].id}/delete`), 'console-form');
  assert.deepEqual((await service.api('GET', '/zones')).body, []);
});
