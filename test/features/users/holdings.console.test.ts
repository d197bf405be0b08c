/** What a user has, without JavaScript: organizations, groups, applications, sessions, consents, factors and links, seen, given and taken. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { answerOf, createClient, post, tokensFor } from '../../protocol/servers/relying-party.ts';
import { enrolledUser } from '../../support/factors.ts';
import type { Received } from '../../support/requests.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { canSignIn, eventsOf, giveConsent, linkAccount } from './user-holdings.ts';

test('organizations and groups of a user: joined, moved, left', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { depId } = (await service.api('POST', `/account/org/${orgId}/department`, { name: 'Sales' })).body;
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  const user = await service.createUser();
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}`;
  const nothing = await agent.submit(await agent.visit(`${home}/organizations/new`), 'console-form', { orgId: '' });
  assert.match(nothing.text, /id="orgId-problem">Is required/);
  const joined = await agent.submit(nothing, 'console-form', { orgId, depId: '' });
  assert.match(wordsOf(joined), /The member is added.*Acme –/);
  const moved = await agent.submit(await agent.visit(`${home}/organizations/${orgId}`), 'console-form', { depId });
  assert.match(wordsOf(moved), /Acme Sales/);
  const left = await agent.submit(await agent.visit(`${home}/organizations/${orgId}/remove`), 'console-form');
  assert.match(wordsOf(left), /belongs to no organization/);
  assert.equal((await agent.visit(`${home}/organizations/${orgId}`)).status, 404);

  const added = await agent.submit(await agent.visit(`${home}/groups/new`), 'console-form', { groupId: group.id });
  assert.match(wordsOf(added), /The user is in the group.*Editors/);
  assert.deepEqual(
    (await service.api('GET', `/users/${user.id}/groups`)).body.map(({ id }: { id: string }) => id),
    [group.id],
  );
  const removal = /href="([^"]+\/groups\/[^"]+\/remove)"/.exec(added.text)?.[1] ?? assert.fail(added.text);
  const removed = await agent.submit(await agent.visit(removal), 'console-form');
  assert.equal(removed.url.pathname, `${home}/groups`, 'he stays with the user');
  assert.match(wordsOf(removed), /The user is no longer in the group/);
  assert.deepEqual((await service.api('GET', `/users/${user.id}/groups`)).body, []);
});

test('applications of a user: assigned, by a group, taken away', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const [own, shared] = [
    await service.createApp({ redirect_uris: ['https://a.example/cb'], client_uri: 'https://a.example/' }),
    await service.createApp({ redirect_uris: ['https://b.example/cb'] }),
  ];
  const group = (await service.api('POST', '/groups', { profile: { name: 'Editors' } })).body;
  await service.api('PUT', `/groups/${group.id}/users/${user.id}`);
  await service.api('PUT', `/apps/${shared.clientId}/groups/${group.id}`, {});
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}/applications`;
  const assigned = await agent.submit(await agent.visit(`${home}/new`), 'console-form', { applicationId: own.clientId });
  assert.match(wordsOf(assigned), /The application is assigned.*Group Editors Active.*The user Active.*https:\/\/a\.example\//);
  assert.equal((await service.api('GET', `/apps/${own.clientId}/users/${user.id}`)).status, 200);
  const taken = await agent.submit(await agent.visit(`${home}/${own.clientId}/remove`), 'console-form');
  assert.match(wordsOf(taken), /The assignment is removed/);
  assert.equal((await service.api('GET', `/apps/${own.clientId}/users/${user.id}`)).status, 404);
  assert.equal((await agent.visit(`${home}/${shared.clientId}/remove`)).status, 404, 'that of a group is not his own');
});

class Firefox extends UserAgent {
  override send(address: string | URL, init: RequestInit = {}): Promise<Received> {
    const headers = new Headers(init.headers);
    headers.set('user-agent', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0');
    return super.send(address, { ...init, headers });
  }
}

test('sessions: one ended, then all with the tokens', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const [here, there] = [new UserAgent(service.baseUrl), new Firefox(service.baseUrl)];
  const { refresh_token: token } = (await tokensFor(service, here, user, client)).body;
  await tokensFor(service, there, user, client);
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}/sessions`;
  const ends = (page: Page) => [...page.text.matchAll(/href="([^"]+\/sessions\/[\w-]+\/end)"/g)].map(([, href = '']) => href);
  const list = await agent.visit(home);
  assert.equal(ends(list).length, 2);
  assert.match(wordsOf(list), /Password \d+ \w+ \d{4}, \d\d:\d\d UTC \d+ \w+ \d{4}, \d\d:\d\d UTC Test application/);
  assert.match(wordsOf(list), /Firefox, Windows 127\.0\.0\.1 \d+ \w+ \d{4}/, 'which browser, from where, and when it was seen');
  assert.match(wordsOf(list), /Not known 127\.0\.0\.1/);
  assert.equal(ends(await agent.visit(`${home}?q=127.0.0.1`)).length, 2, 'found by the IP address');
  assert.equal(ends(await agent.visit(`${home}?q=192.0.2.1`)).length, 0);
  const isIn = async (browser: UserAgent) => !/sign-in-form/.test((await browser.visit('/account/security')).text);
  const active = async () => (await post(service, 'built-in', 'introspect', client, { token })).body.active;
  assert.deepEqual([await isIn(here), await isIn(there)], [true, true]);

  const [kept = '', chosen = ''] = ends(list);
  const form = await agent.visit(chosen);
  const one = await agent.submit(form, 'console-form');
  assert.match(wordsOf(one), /The session has ended/);
  const left = [await isIn(here), await isIn(there)];
  assert.deepEqual([left.toSorted(), ends(one)], [[false, true], [kept]], 'the other one goes on');
  assert.equal((await agent.submit(form, 'console-form')).status, 404, 'it has ended already');
  assert.equal(await active(), true);
  const all = await agent.submit(await agent.visit(`${home}/end`), 'console-form');
  assert.match(wordsOf(all), /No sessions\./);
  assert.deepEqual([await isIn(here), await isIn(there), await active()], [false, false, false]);
  const events = await eventsOf(service, 'user.session.clear', user.id);
  assert.deepEqual(
    events.map(({ actor }) => actor.displayName),
    ['admin', 'admin'],
  );
});

test('consents are revoked, one or all: the application asks again', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const { browser, url, scope, grantId } = await giveConsent(service, user);
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}/consents`;
  assert.match(wordsOf(await agent.visit(home)), new RegExp(`${scope} Test application`));
  assert.ok(answerOf(await browser.visit(url)).code, 'not asked a second time');
  const revoked = await agent.submit(await agent.visit(`${home}/${grantId}/revoke`), 'console-form');
  assert.match(wordsOf(revoked), /The consent is revoked/);
  const asked = await browser.visit(url);
  assert.match(asked.text, /id="consent"/);
  await browser.submit(asked, 'consent', { decision: 'allow' });
  const all = await agent.submit(await agent.visit(`${home}/revoke`), 'console-form');
  assert.match(wordsOf(all), /The consents are revoked.*No consents yet/);
  assert.match((await browser.visit(url)).text, /id="consent"/);
});

test('factors are reset, and a linked account is removed', async (t) => {
  const service = await startService(t);
  const user = await enrolledUser(service);
  const idpId = await linkAccount(service, user.id);
  const { agent } = await enter(service);
  const home = `/admin/users/${user.id}`;
  const list = await agent.visit(`${home}/factors`);
  const reset = /href="([^"]+\/factors\/fac_\w+\/reset)"/.exec(list.text)?.[1] ?? assert.fail(list.text);
  const browser = new UserAgent(service.baseUrl);
  assert.match((await browser.signIn(await browser.visit('/signin'), user)).text, /id="factor-form"/);
  assert.match(wordsOf(await agent.submit(await agent.visit(reset), 'console-form')), /The factor is reset.*No second factor/);
  assert.ok(await canSignIn(service, user));
  assert.match(wordsOf(await agent.submit(await agent.visit(`${home}/factors/reset`), 'console-form')), /The factors are reset/);
  assert.match(wordsOf(await agent.visit(`${home}/linked-accounts`)), new RegExp(`Acme – subject-of-${user.id}`));
  const unlinked = await agent.submit(await agent.visit(`${home}/linked-accounts/${idpId}/remove`), 'console-form');
  assert.match(wordsOf(unlinked), /The link is removed/);
  assert.equal((await service.api('GET', `/idps/${idpId}/users/${user.id}`)).status, 404);
});
