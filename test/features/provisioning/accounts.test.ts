/** Whose account is whose at the target, and what a target may answer. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { moveClock, stopClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { provisioningService, smallTarget } from '../../support/small-target.ts';

const withoutExternalId = ({ externalId: _, ...user }: Record<string, unknown>) => user;

test('at a target that keeps no externalId nobody gets the account of a former user, or of one who was renamed', async (t) => {
  const target = await smallTarget(t);
  target.keep = withoutExternalId;
  const { ok, assign, set, failed } = await provisioningService(t);
  const [former, renamed] = [await assign('bob@kept.example'), await assign('eve@kept.example')];
  await set(target);
  await eventually(() => target.users.length === 2, 'both are there');
  const accounts = target.users.map(({ id, userName }) => [id, userName]);
  for (const _ of [1, 2]) await ok('DELETE', `/users/${former}`);
  await eventually(() => target.named('bob@kept.example')?.active === false, 'the former user is inactive');
  // The target does not take the new name: the account keeps the one before.
  target.instead = ({ method, body }) => (method === 'PUT' && body.userName === 'eva@kept.example' ? { status: 400 } : undefined);
  await ok('POST', `/users/${renamed}`, { profile: { login: 'eva@kept.example', email: 'eva@kept.example' } });
  await eventually(async () => (await failed()).length === 1, 'the new name is refused');
  const [bob, eve] = [await assign('bob@kept.example'), await assign('eve@kept.example')];
  await eventually(async () => (await failed()).length === 3, 'the new users are refused');
  for (const one of (await failed()).filter(({ id }: { id: string }) => [bob, eve].includes(id)))
    assert.match(one.error, /is another user of this service/);
  assert.deepEqual(
    target.users.map(({ id, userName }) => [id, userName]),
    accounts,
  );
  assert.equal(target.named('bob@kept.example')?.active, false);
});

test('of a user who leaves only active is changed, whatever else the target refuses', async (t) => {
  const target = await smallTarget(t);
  const { ok, assign, set, failed } = await provisioningService(t);
  const ada = await assign('ada@leaves.example', { nickName: 'Ada' });
  await set(target);
  await eventually(() => target.users.length === 1, 'she is there');
  target.instead = ({ method, body }) => (method === 'PUT' && body.nickName !== 'Ada' ? { status: 400 } : undefined);
  await ok('POST', `/users/${ada}`, { profile: { nickName: 'Countess' } });
  await eventually(async () => (await failed()).length === 1, 'the change is refused');
  await ok('POST', `/users/${ada}/lifecycle/suspend`);
  await eventually(() => target.users[0]?.active === false, 'she is inactive');
  assert.equal(target.users[0]?.nickName, 'Ada');
});

test('an account that no filter found is not deleted with its user: it was there before', async (t) => {
  const target = await smallTarget(t, [{ id: '1', userName: 'ada@hidden.example', externalId: 'theirs', active: false }]);
  let isHidden = true;
  target.instead = ({ method }) => {
    if (method === 'POST') {
      isHidden = false;
      return { status: 409 };
    }
    return isHidden && method === 'GET' ? { status: 200, body: { Resources: [] } } : undefined;
  };
  const { ok, app, assign, set } = await provisioningService(t);
  const ada = await assign('ada@hidden.example');
  await set(target, { leavers: 'DELETE' });
  await eventually(() => target.users[0]?.externalId === ada, 'she is linked');
  await ok('DELETE', `/apps/${app}/users/${ada}`);
  await eventually(() => target.users[0]?.active === false, 'she is inactive');
  assert.equal(target.users.length, 1);
});

test('IDs of a target that would name something else are refused, and none in a resource is followed', async (t) => {
  const target = await smallTarget(t);
  const { ok, assign, set, failed } = await provisioningService(t);
  const ids = ['..', '.', '', 'a\u0000b', 'x'.repeat(1001), { $ne: 1 }, null, undefined];
  const made = new Map<string, unknown>();
  for (const [index, id] of ids.entries()) made.set(`user${index}@ids.example`, id);
  target.instead = ({ method, body }) =>
    method === 'POST' && made.has(body.userName) ? { status: 201, body: { id: made.get(body.userName) } } : undefined;
  for (const login of made.keys()) await assign(login);
  const odd = await assign('odd@ids.example');
  await set(target);
  await eventually(async () => (await failed()).length === ids.length && target.users.length === 1, 'all but one are refused');
  assert.ok(
    target.requests.every(({ path }) => /^\/Users(\/\w+)?$/.test(path)),
    JSON.stringify(target.requests.map(({ path }) => path)),
  );
  // It says of one that it is another.
  const { id } = target.users[0] ?? {};
  target.requests.length = 0;
  target.instead = ({ method, path }) =>
    method === 'GET' && path === `/Users/${id}` ? { status: 200, body: { ...target.users[0], id: 'another' } } : undefined;
  await ok('POST', `/users/${odd}`, { profile: { nickName: 'Odd' } });
  await eventually(() => target.changes().length > 0, 'the change is pushed');
  assert.deepEqual(target.changes(), [`PUT /Users/${id}`]);
});

test('answers that are too deep, too large or no SCIM are of one user; a change needs no answer', async (t) => {
  const target = await smallTarget(t);
  const { ok, assign, set, failed, state } = await provisioningService(t);
  const deep = (levels: number): unknown => (levels === 0 ? 'x' : { deeper: deep(levels - 1) });
  const answers: Record<string, unknown> = {
    'deep@answers.example': { Resources: [{ id: '7', userName: 'deep@answers.example', name: deep(40) }] },
    'list@answers.example': ['no', 'list'],
    'large@answers.example': { Resources: [], padding: 'x'.repeat(300 * 1024) },
    'proto@answers.example': { Resources: [JSON.parse('{"id": "7", "userName": "proto@answers.example", "__proto__": {"admin": true}}')] },
  };
  target.instead = ({ method, filter }) => {
    const named = Object.keys(answers).find((login) => filter === `userName eq "${login}"`);
    return method === 'GET' && named !== undefined ? { status: 200, body: answers[named] } : undefined;
  };
  for (const login of Object.keys(answers)) await assign(login);
  const ada = await assign('ada@answers.example');
  await set(target);
  await eventually(async () => (await failed()).length === 4 && target.users.length === 1, 'four are refused');
  assert.match(JSON.stringify(await failed()), /the answer is too large/);
  target.instead = ({ method, path, body }) => {
    if (method !== 'PUT') return undefined;
    target.users[0] = body;
    return { status: 200, body: { id: path, padding: 'x'.repeat(300 * 1024) } };
  };
  await ok('POST', `/users/${ada}`, { profile: { nickName: 'Countess' } });
  await eventually(() => target.users[0]?.nickName === 'Countess', 'she is changed');
  await eventually(async () => (await state()).counts.waiting === 0, 'nothing waits');
  assert.deepEqual([(await failed()).length, (await state()).awaySince], [4, null]);
});

test('what a target says of an error is kept as one line that can be stored', async (t) => {
  const target = await smallTarget(t);
  // Half of a character would be at its end.
  const detail = `line\none\u0007${'x'.repeat(287)}😀`;
  target.instead = ({ method }) => (method === 'POST' ? { status: 400, body: { detail } } : undefined);
  const { assign, set, failed } = await provisioningService(t);
  await assign('ada@words.example');
  await set(target);
  await eventually(async () => (await failed()).length === 1, 'it failed');
  const [{ error }] = await failed();
  assert.match(error, /400 \(line one x+/);
  assert.ok(error.isWellFormed(), error);
});

test('a token with characters that no token has is never sent', async (t) => {
  stopClock(t);
  const target = await smallTarget(t);
  target.instead = ({ path }) =>
    path === '/token' ? { status: 200, body: { access_token: 'a token\r\nX-Injected: 1', token_type: 'Bearer' } } : undefined;
  const { assign, set, state } = await provisioningService(t);
  await assign('ada@token.example');
  await set(target, { auth: { type: 'OAUTH', tokenUrl: `${target.origin}/token`, clientId: 'us', secret: 'hidden' } });
  await eventually(async () => (await state()).awaySince !== null, 'it is away');
  assert.match((await state()).awayReason, /^the token endpoint answered 200/);
  assert.ok(target.requests.every(({ path }) => path === '/token'));
  moveClock(t, 0);
});

test('a push that was under way says nothing of a target that was set meanwhile', async (t) => {
  const [first, second] = [await smallTarget(t), await smallTarget(t, [{ id: '41', userName: 'somebody@else.example' }])];
  const held: (() => void)[] = [];
  first.instead = async ({ method }) => {
    if (method === 'POST') await new Promise<void>((resolve) => void held.push(resolve));
    return undefined;
  };
  const { ok, app, assign, set } = await provisioningService(t);
  const ada = await assign('ada@under-way.example');
  await set(first);
  await eventually(() => held.length > 0, 'the push is under way');
  await set(second);
  held[0]?.();
  await eventually(() => second.named('ada@under-way.example') !== undefined, 'she is at the second');
  const there = await eventually(
    async () => (await ok('GET', `/apps/${app}/provisioning/resources`))[0],
    'the service knows who she is there',
  );
  assert.deepEqual([there.id, there.remoteId], [ada, second.named('ada@under-way.example')?.id]);
  assert.deepEqual(
    second.users.map(({ id }) => id),
    ['41', '2'],
  );
});

test('a group of 5,000 members is pushed, and a larger one is refused by name until a member leaves', async (t) => {
  const target = await smallTarget(t);
  const world = await provisioningService(t);
  const { app, ok, service } = world;
  const group = await ok('POST', '/groups', { profile: { name: 'Everyone here' } });
  await world.set(target, { pushGroups: true });
  // Who is there already: the directory of the target is not what this is about.
  await onServer(service.database.url, async (client) => {
    const members = "SELECT 'usr_' || n AS id, n FROM generate_series(1, 5001) n";
    await client.query(
      `INSERT INTO users (id, login, status, created, last_updated) SELECT id, id, 'ACTIVE', now(), now() FROM (${members}) m`,
    );
    await client.query(`INSERT INTO group_members (group_id, user_id, created) SELECT $1, id, now() FROM (${members}) m`, [group.id]);
    await client.query(
      `INSERT INTO provisioned_resources (application_id, kind, id, name, remote_id, created_there, state, digest, last_attempt)
        SELECT $1, 'user', id, id, n::text, true, 'PROVISIONED', 'same', now() FROM (${members}) m`,
      [app],
    );
  });
  await ok('PUT', `/apps/${app}/groups/${group.id}`);
  const failed = await eventually(async () => (await world.failed())[0], 'the group is marked as failed');
  assert.deepEqual([failed.kind, failed.name, failed.error], ['group', 'Everyone here', 'the group has more than 5000 members']);
  assert.deepEqual(target.changes(), [], 'nothing was sent, not even a part of it');

  await ok('DELETE', `/groups/${group.id}/users/usr_1`);
  const pushed = await eventually(() => target.users.find((one) => one.displayName === 'Everyone here'), 'the group is pushed');
  assert.equal((pushed.members as unknown[]).length, 5000);
  await eventually(
    async () => (await world.failed()).every(({ kind }: { kind: string }) => kind !== 'group'),
    'it is not marked as failed any more',
  );
});
