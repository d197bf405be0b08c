/** A SCIM target behind a door that can be shut, and the story of its users that every target has to pass. */
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { moveClock, stopClock } from './clock.ts';
import { listen } from './listen.ts';
import { eventually } from './process.ts';
import { type Service, startService } from './service.ts';

interface Door {
  readonly origin: string;
  /** Requests that came through, as `METHOD /path`. */
  readonly requests: string[];
  isShut: boolean;
  /** User names that are refused when they are created. */
  readonly refused: Set<string>;
}

/** Passes requests on to the target, unless it is shut. */
async function doorTo(t: TestContext, target: string): Promise<Door> {
  const requests: string[] = [];
  const refused = new Set<string>();
  const door: Door = {
    requests,
    refused,
    isShut: false,
    origin: await listen(t, '127.0.0.1', async (req, res) => {
      if (door.isShut) return void req.socket.destroy();
      const body = await text(req);
      if (req.method === 'POST' && body !== '' && refused.has(JSON.parse(body).userName)) {
        const error = {
          schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
          status: '400',
          scimType: 'invalidValue',
          detail: 'not this one',
        };
        return void res.writeHead(400, { 'content-type': 'application/scim+json' }).end(JSON.stringify(error));
      }
      requests.push(`${req.method} ${(req.url ?? '').replace(/\?.*/, '')}`);
      const { authorization = '', 'content-type': type } = req.headers;
      const answer = await fetch(new URL(req.url ?? '/', target), {
        method: req.method ?? 'GET',
        headers: { authorization, accept: 'application/scim+json', ...(type !== undefined && { 'content-type': type }) },
        ...(body !== '' && { body }),
      });
      const answered = Buffer.from(await answer.arrayBuffer());
      res.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/scim+json' }).end(answered);
    }),
  };
  return door;
}

export interface TargetOfTest {
  /** Where the target listens, e.g. `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Below it, with a slash at the beginning. */
  readonly path: string;
  readonly token: string;
}

// biome-ignore lint/suspicious/noExplicitAny: resources are asserted field by field
type Resource = any;

/** Pushes users and groups to a target, away and back. */
export async function provisioningStory(t: TestContext, { origin, path, token }: TargetOfTest): Promise<void> {
  stopClock(t);
  const door = await doorTo(t, origin);
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true });
  const { api } = service;
  const scim = async (method: string, at: string, body?: unknown): Promise<Resource> => {
    const answer = await fetch(`${origin}${path}${at}`, {
      method,
      headers: { authorization: `Bearer ${token}`, accept: 'application/scim+json', 'content-type': 'application/scim+json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.status === 204 ? undefined : answer.json();
  };
  const find = async (userName: string): Promise<readonly Resource[]> =>
    (await scim('GET', `/Users?${new URLSearchParams({ filter: `userName eq "${userName}"` })}`)).Resources ?? [];
  const there = async (userName: string, isSo: (user: Resource) => boolean, what: string): Promise<Resource> => {
    let found: Resource;
    await eventually(
      async () => {
        [found] = await find(userName);
        return found !== undefined && isSo(found);
      },
      `${userName} ${what}: ${JSON.stringify(found)}`,
    );
    return found;
  };
  const groupThere = async (name: string): Promise<Resource> =>
    ((await scim('GET', `/Groups?${new URLSearchParams({ filter: `displayName eq "${name}"` })}`)).Resources ?? [])[0];
  const create = async (login: string, profile: Record<string, unknown> = {}): Promise<string> => {
    const { status, body } = await api('POST', '/users', {
      profile: { login, email: login, ...profile },
      credentials: { password: { value: 'correct horse battery' } },
    });
    assert.equal(status, 200, JSON.stringify(body));
    return body.id;
  };
  const ok = async (...call: Parameters<Service['api']>): Promise<Resource> => {
    const { status, body } = await api(...call);
    assert.ok(status < 300, `${call.join(' ')} ${status} ${JSON.stringify(body)}`);
    return body;
  };

  const { clientId: app } = await service.createApp({ application_type: 'service' });
  const ada = await create('ada@target.example', { firstName: 'Ada', lastName: 'Lovelace', department: 'Engines' });
  const bob = await create('bob@target.example', { lastName: 'Babbage' });
  const group = (await ok('POST', '/groups', { profile: { name: 'Engineers of the story' } })).id;
  await ok('PUT', `/groups/${group}/users/${ada}`);
  await ok('PUT', `/apps/${app}/groups/${group}`);
  await ok('PUT', `/apps/${app}/users/${bob}`);
  // Bob is there already, under another spelling.
  const before = await scim('POST', '/Users', {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
    userName: 'BOB@target.example',
    active: true,
  });
  assert.ok(before.id, JSON.stringify(before));

  const settings = { baseUrl: `${door.origin}${path}/`, auth: { type: 'BEARER', secret: token }, pushGroups: true };
  await t.test('a dry run says who would be created and who linked, and changes nothing', async () => {
    await ok('PUT', `/apps/${app}/provisioning`, { ...settings, status: 'INACTIVE' });
    const plan = await ok('GET', `/apps/${app}/provisioning/plan`);
    assert.deepEqual(
      plan.map((one: Resource) => [one.name, one.action]),
      [
        ['ada@target.example', 'CREATE'],
        ['bob@target.example', 'LINK'],
      ],
      JSON.stringify(plan),
    );
    assert.deepEqual(await find('ada@target.example'), []);
    assert.deepEqual(
      door.requests.filter((request) => !request.startsWith('GET ')),
      [],
    );
  });

  await t.test('assigned users are created, or linked with those who are there, and groups get their members', async () => {
    const shown = await ok('PUT', `/apps/${app}/provisioning`, settings);
    assert.ok(!JSON.stringify(shown).includes(token), 'the secret is not shown');
    const user = await there('ada@target.example', () => true, 'is created');
    assert.deepEqual([user.active, user.name?.givenName, user.externalId], [true, 'Ada', ada]);
    assert.equal(user['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User']?.department, 'Engines');
    const linked = await there('bob@target.example', ({ name }) => name?.familyName === 'Babbage', 'is linked');
    assert.deepEqual([linked.id, (await find('bob@target.example')).length], [before.id, 1]);
    await eventually(
      async () => (await groupThere('Engineers of the story'))?.members?.some(({ value }: Resource) => value === user.id),
      'the group has Ada',
    );
    const { counts } = await ok('GET', `/apps/${app}/provisioning`);
    assert.deepEqual([counts.provisioned, counts.failed], [3, 0]);
  });

  await t.test('a change is pushed, and a push of what is the same sends nothing', async () => {
    await ok('POST', `/users/${ada}`, { profile: { firstName: 'Augusta', lastName: null } });
    await there('ada@target.example', ({ name }) => name?.givenName === 'Augusta' && name?.familyName === undefined, 'is changed');
    await eventually(async () => (await ok('GET', `/apps/${app}/provisioning`)).counts.waiting === 0, 'nothing waits');
    door.requests.length = 0;
    await ok('POST', `/apps/${app}/provisioning/push`);
    await eventually(async () => (await ok('GET', `/apps/${app}/provisioning`)).counts.waiting === 0, 'nothing waits again');
    assert.ok(
      door.requests.some((request) => request.startsWith('GET ')),
      'the target was asked',
    );
    assert.deepEqual(
      door.requests.filter((request) => /^(POST|PUT|DELETE) .*Users/.test(request)),
      [],
    );
  });

  await t.test('a user who is refused holds up nobody, is shown with the reason, and can be retried', async () => {
    door.refused.add('bad@target.example');
    const bad = await create('bad@target.example');
    const good = await create('good@target.example');
    for (const id of [bad, good]) await ok('PUT', `/apps/${app}/users/${id}`);
    await there('good@target.example', () => true, 'is created');
    let failed: Resource;
    await eventually(async () => {
      [failed] = await ok('GET', `/apps/${app}/provisioning/resources?state=FAILED`);
      return failed !== undefined;
    }, 'one failed');
    assert.deepEqual([failed.id, failed.name], [bad, 'bad@target.example']);
    assert.match(failed.error, /400 \(invalidValue: not this one\)/);
    door.refused.clear();
    await ok('POST', `/apps/${app}/provisioning/push`, { kind: 'user', id: bad });
    await there('bad@target.example', ({ active }) => active, 'is created at last');
  });

  await t.test('users who are suspended or lose the assignment are deactivated, and come back', async () => {
    await ok('POST', `/users/${bob}/lifecycle/suspend`);
    await there('bob@target.example', ({ active }) => active === false, 'is inactive');
    await ok('POST', `/users/${bob}/lifecycle/unsuspend`);
    await there('bob@target.example', ({ active }) => active === true, 'is active again');
    await ok('DELETE', `/groups/${group}/users/${ada}`);
    await there('ada@target.example', ({ active }) => active === false, 'is inactive');
    await eventually(async () => ((await groupThere('Engineers of the story'))?.members ?? []).length === 0, 'the group is empty');
    await ok('PUT', `/groups/${group}/users/${ada}`);
    await there('ada@target.example', ({ active }) => active === true, 'is active again');
  });

  await t.test('leavers are deactivated within a minute after the target was away for an hour', async () => {
    door.isShut = true;
    await ok('POST', `/users/${bob}/lifecycle/deactivate`);
    await eventually(async () => (await ok('GET', `/apps/${app}/provisioning`)).awaySince !== null, 'it is known to be away');
    // Who leaves meanwhile waits too.
    await ok('DELETE', `/groups/${group}`);
    for (let minute = 0; minute < 60; minute += 5) {
      moveClock(t, 5 * 60);
      await eventually(async () => (await ok('GET', `/apps/${app}/provisioning`)).counts.waiting > 0, 'they wait');
    }
    door.isShut = false;
    for (let seconds = 0; seconds < 60; seconds += 10) {
      moveClock(t, 10);
      await new Promise((resolve) => setTimeout(resolve, 1500));
    }
    await there('bob@target.example', ({ active }) => active === false, 'is inactive');
    await there('ada@target.example', ({ active }) => active === false, 'is inactive');
    const { awaySince } = await ok('GET', `/apps/${app}/provisioning`);
    assert.equal(awaySince, null);
    await eventually(async () => (await groupThere('Engineers of the story')) === undefined, 'the group is gone');
  });

  await t.test('a user who is deleted is deactivated there, and forgotten here', async () => {
    const [gone] = await ok('GET', `/users?${new URLSearchParams({ search: 'profile.login eq "good@target.example"' })}`);
    for (const _ of [1, 2]) await ok('DELETE', `/users/${gone.id}`);
    await there('good@target.example', ({ active }) => active === false, 'is inactive');
    await eventually(
      async () => !(await ok('GET', `/apps/${app}/provisioning/resources`)).some(({ id }: Resource) => id === gone.id),
      'it is forgotten',
    );
    const events = await ok(
      'GET',
      `/logs?${new URLSearchParams({ filter: `eventType eq "application.provision.user.deactivate" and target.id eq "${gone.id}"` })}`,
    );
    assert.ok(events.length >= 1);
  });
}
