/**
 * The walls between organizations (docs/explanation/walls.md) in the console: every page, search everywhere, lists with their files, and bulk actions, for an
 * owner, an administrator and holders of single permissions. What is another tenant's appears nowhere, is like what does not exist, and changes no count: the pages
 * are the same before there is another tenant and after. Pages for administrators of the service, such as hooks, the simulator and the log, refuse every ID alike.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ORGANIZATION_PERMISSIONS } from '../../../src/features/administrators/administration.policy.ts';
import { PAGES } from '../../../src/pages/console/pages.ts';
import { onServer } from '../../support/database.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { createOrganization, enter } from './administrators.ts';
import { pageAt, startOnTour } from './tours.ts';

/** In every name of the other tenant. */
const MARK = 'zzforeign';
/** As long, and in no name. */
const NOTHING = 'zznothing';

test('what is another organization’s is on no page of the console', async (t) => {
  const { service, stops } = await startOnTour(t);
  const ok = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  const own = await createOrganization(service, 'Own');
  const people = new Map<string, UserAgent>();
  for (const name of ['owner', 'admin', ...ORGANIZATION_PERMISSIONS]) {
    const user = await service.createUser({ login: `own-${name.toLowerCase()}` });
    await ok('PUT', `/account/org/${own}/member/${user.id}`, {});
    if (name === name.toUpperCase()) await ok('POST', `/account/org/${own}/role`, { name, permissions: [name] });
    await ok('PUT', `/account/org/${own}/member/${user.id}/role`, { roles: [name] });
    await ok('POST', `/users/${user.id}`, { credentials: { password: { value: user.password } } });
    people.set(name, (await enter(service, { ...user, login: `own-${name.toLowerCase()}` })).agent);
  }

  // Both tenants have claimed and invited them, and use the provider.
  const settings = { issuer: { url: 'https://idp.example' }, credentials: { client: { client_id: 'gatehouse', client_secret: 'known' } } };
  const idp = await ok('POST', '/idps', { name: 'Shared provider', type: 'OIDC', protocol: settings });
  const claim = async (orgId: string): Promise<void> => {
    await ok('POST', `/account/org/${orgId}/domain`, { domain: 'disputed.example' });
    await ok('POST', `/account/org/${orgId}/invitation`, { email: 'disputed@example.com' });
    await ok('PUT', `/account/org/${orgId}/idp/${idp.id}`, {});
  };
  await claim(own);

  /** What a page says beside what was asked, its own address and what is new each time. */
  const told = ({ status, text }: Page): readonly [number, string] => [
    status,
    text
      .replaceAll(new RegExp(`${MARK}|${NOTHING}`, 'g'), 'ASKED')
      .replaceAll(/\b[a-z]{3}_\w+/g, 'ID')
      .replaceAll(/[\w-]{20,}|\d+ ms/g, 'NEW'),
  ];

  const mine = PAGES.filter(({ path }) => /^\/organizations\/:orgId(\/[\w-]+)*$/.test(path)).map(({ path }) => path.replace(':orgId', own));
  const lists = stops.filter((stop) => !/\/\w{3}_\w+/.test(stop));
  const files = ['csv', 'ndjson'].flatMap((format) => [
    `/users/download?status=any&format=${format}`,
    ...[
      '/organizations',
      '/groups',
      '/applications',
      `/organizations/${own}/members`,
      `/organizations/${own}/invitations`,
      '/api/tokens',
      '/api/servers',
      '/security/administrators',
    ].map((list) => `${list}/download?format=${format}`),
  ]);
  /** Pages and files that they see. */
  const lookAround = async (look: (address: string, page: Page) => void, addresses: (who: string) => readonly string[]): Promise<void> => {
    for (const [who, agent] of people) {
      let seen = 0;
      for (const address of addresses(who)) {
        const page = await agent.visit(`/admin${address}`);
        look(`${who} ${address}`, page);
        seen += page.status === 200 ? 1 : 0;
      }
      assert.ok(seen > 0, who);
    }
  };
  const pagesFor = (who: string): readonly string[] => [...mine, '/search?q=own', ...(who === 'owner' ? lists : [])];
  /** Those that a bulk action on the whole list would take. */
  const draft = async (who: string): Promise<Page> => {
    const agent = people.get(who) ?? assert.fail();
    return agent.submit(await agent.visit('/admin/users?status=any'), 'console-form', { action: 'users.suspend', scope: 'all' });
  };
  const before = new Map<string, ReturnType<typeof told>>();
  for (const who of ['owner', 'admin']) before.set(`${who} bulk`, told(await draft(who)));
  const remember = (where: string, page: Page) => before.set(where, told(page));
  // Downloads are events of the organization: they come before the first look at its activity, and after the second.
  await lookAround(remember, () => files);
  await lookAround(remember, pagesFor);

  // The other tenant, and what the service has beside it.
  const foreign = await createOrganization(service, `${MARK} org`);
  const { depId } = await ok('POST', `/account/org/${foreign}/department`, { name: `${MARK} department` });
  const role = await ok('POST', `/account/org/${foreign}/role`, { name: `${MARK} role` });
  const invitation = await ok('POST', `/account/org/${foreign}/invitation`, { email: `${MARK}@example.com` });
  await ok('POST', `/account/org/${foreign}/domain`, { domain: `${MARK}.example` });
  await ok('PUT', `/account/org/${foreign}/branding`, { name: `${MARK} brand` });
  const victim = await service.createUser({ login: `${MARK}-user`, email: `${MARK}-user@example.com`, firstName: MARK, lastName: MARK });
  await ok('PUT', `/account/org/${foreign}/member/${victim.id}`, {});
  await claim(foreign);
  const group = await ok('POST', '/groups', { profile: { name: `${MARK} group` } });
  const hook = { name: `${MARK} hook`, events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create'] } };
  const channel = { type: 'HTTP', version: '1.0.0', config: { uri: 'https://hooks.example/in', headers: [] } };
  const { id: hookId } = await ok('POST', '/eventHooks', { ...hook, channel });
  const { agent: root } = await enter(service);
  await root.submit(await root.visit('/admin/users?status=any'), 'console-form', { action: 'users.suspend', scope: 'all' });
  const ids: string[] = [foreign, depId, role.id, invitation.id, victim.id, group.id, hookId];

  const clean = (page: Page, where: string): void => {
    for (const secret of [MARK, ...ids])
      if (!page.url.href.includes(secret)) assert.equal(page.text.includes(secret), false, `${where}: ${secret}`);
  };
  await t.test('every page that they see, and every file, is the same as before', async () => {
    const compare = (where: string, page: Page) => {
      clean(page, where);
      assert.deepEqual(told(page), before.get(where), where);
    };
    await lookAround(compare, pagesFor);
    await lookAround(compare, () => files);
  });

  await t.test('every other page of the console refuses what is there as what is not, and so does every form', async () => {
    const agent = people.get('owner') ?? assert.fail();
    const { text } = await agent.visit('/admin/users/new');
    const hidden = text.match(/<input type="hidden"[^>]*>/g) ?? [];
    const send = (address: string) => {
      const page = {
        url: new URL(service.baseUrl),
        status: 200,
        headers: new Headers(),
        text: `<form id="wall" action="/admin${address}">${hidden.join('')}</form>`,
      };
      return agent.submit(page, 'wall');
    };
    const events = () =>
      onServer(service.database.url, async (client) => (await client.query('SELECT count(*)::int AS n FROM audit_events')).rows[0].n);
    const was = await events();
    let forms = 0;
    for (const stop of stops.filter((one) => !lists.includes(one))) {
      const nowhere = stop.replaceAll(/\b([a-z]{3}_)\w+/g, '$1nowhere');
      const real = await agent.visit(`/admin${stop}`);
      assert.ok([403, 404].includes(real.status), `${stop}: ${real.status}`);
      assert.deepEqual(told(real), told(await agent.visit(`/admin${nowhere}`)), stop);
      if (pageAt(stop)?.receive === undefined || pageAt(stop)?.mostFileBytes !== undefined) continue;
      const [refused, missing] = [await send(stop), await send(nowhere)];
      assert.ok([400, 403, 404].includes(refused.status), `form ${stop}: ${refused.status}`);
      assert.deepEqual(told(refused), told(missing), `form ${stop}`);
      forms += 1;
    }
    assert.ok(forms > 50, String(forms));
    assert.equal(await events(), was, 'nothing was changed');
  });

  await t.test('every page about it is as if it were not there, whatever it is about', async () => {
    const below = PAGES.filter(({ path }) => path.startsWith('/organizations/:orgId')).map(({ path }) => path);
    const named: Readonly<Record<string, string>> = { orgId: foreign, depId, userId: victim.id, id: role.id, roleId: role.id };
    const address = (path: string, of: Readonly<Record<string, string>>) =>
      path.replaceAll(/:(\w+)/g, (_, name: string) => of[name] ?? invitation.id);
    const nowhere = Object.fromEntries(Object.entries(named).map(([name, id]) => [name, `${id.slice(0, 4)}nowhere`]));
    for (const [who, agent] of people) {
      for (const path of who === 'owner' || who === 'MANAGE_MEMBERS' ? below : ['/organizations/:orgId']) {
        const real = await agent.visit(`/admin${address(path, named)}`);
        const missing = await agent.visit(`/admin${address(path, nowhere)}`);
        assert.ok([403, 404].includes(real.status), `${who} ${path}: ${real.status}`);
        assert.equal(real.status, missing.status, `${who} ${path}`);
        clean(real, `${who} ${path}`);
      }
      for (const path of ['', '/edit', '/access', '/organizations', '/sessions'])
        assert.ok([403, 404].includes((await agent.visit(`/admin/users/${victim.id}${path}`)).status), `${who} ${path}`);
    }
  });

  await t.test('search everywhere, lists and their files find it as little as what does not exist', async () => {
    for (const [who, agent] of people) {
      for (const path of ['/search', '/users', '/organizations', '/users/download']) {
        for (const more of ['', '&status=any', '&format=ndjson']) {
          const [found, nothing] = [
            await agent.visit(`/admin${path}?q=${MARK}${more}`),
            await agent.visit(`/admin${path}?q=${NOTHING}${more}`),
          ];
          assert.deepEqual(told(found), told(nothing), `${who} ${path}${more}`);
        }
      }
      for (const field of ['actor', 'target']) {
        const search = (words: string) => agent.visit(`/admin/organizations/${own}/activity?${field}=${words}`);
        const [found, nothing] = [await search(MARK), await search(NOTHING)];
        assert.deepEqual(told(found), told(nothing), `${who} ${field}`);
        clean(found, `${who} ${field}`);
      }
      for (const id of ids) {
        const page = await agent.visit(`/admin/search?q=${id}`);
        assert.equal(page.text.includes(MARK), false, `${who} ${id}`);
      }
    }
  });

  await t.test('no bulk action takes it along', async () => {
    for (const who of ['owner', 'admin'] as const) {
      const agent = people.get(who) ?? assert.fail();
      const list = await agent.visit('/admin/users?status=any');
      for (const chosen of [victim.id, 'usr_nowhere']) {
        const chosenOnly = await agent.submit(list, 'console-form', { action: 'users.suspend', chosen: [chosen] });
        clean(chosenOnly, `${who} ${chosen}`);
      }
      const all = await draft(who);
      clean(all, `${who} all`);
      assert.deepEqual(told(all), before.get(`${who} bulk`), 'and the count is the same as before');
    }
    assert.equal((await service.api('GET', `/users/${victim.id}`)).body.status, 'ACTIVE');
  });
});
