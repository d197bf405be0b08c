/** API → Event hooks, without JavaScript: created with a secret that is told once, verified, told of events, changed, switched off and on, deleted. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { createAdministrator, enter, SUPER, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { inBrowser } from '../../support/browser.ts';
import { hookReceiver } from '../../support/event-hooks.ts';
import { eventually } from '../../support/process.ts';
import { type Service, startService } from '../../support/service.ts';
import type { Page, UserAgent } from '../../support/user-agent.ts';
import { openWindow, signIn } from '../../support/watched-page.ts';

const HOME = '/admin/api/event-hooks';
const LOCAL = { env: { ALLOW_PRIVATE_NETWORK: 'true' }, sendsOutbox: true };

const secretIn = (page: Page): string =>
  /<code id="fact-0-1">(whsec_[^<]*)</.exec(page.text)?.[1]?.replaceAll('&#43;', '+') ?? assert.fail(page.text);
const idIn = (page: Page): string => /\/event-hooks\/(who_\w+)/.exec(page.text)?.[1] ?? assert.fail(page.text);

const create = async (agent: UserAgent, typed: Record<string, string | readonly string[]>): Promise<Page> =>
  agent.submit(await agent.visit(`${HOME}/new`), 'console-form', typed);

const lastEvent = async (service: Service, type: string) =>
  (await service.api('GET', `/logs?sortOrder=DESCENDING&filter=${encodeURIComponent(`eventType eq "${type}"`)}`)).body[0];

test('a hook is created, its secret told once, verified, and told of events that are signed with the secret', async (t) => {
  const service = await startService(t, LOCAL);
  const receiver = await hookReceiver(t);
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(HOME)), /There is no event hook yet/);
  const form = await agent.visit(`${HOME}/new`);
  const typed = {
    name: 'Directory <mirror>',
    description: 'Keeps the CRM up to date',
    uri: receiver.uri,
    headers: 'X-Where: here: and there\nX-Other: 1',
    authKey: 'Authorization',
    authValue: 'Bearer of-the-receiver',
    'events-users': ['user.lifecycle.create'],
    'events-organizations': ['group.lifecycle.create'],
  };
  const created = await agent.submit(form, 'console-form', typed);
  assert.match(wordsOf(created), /Copy the signing secret now. It is shown only once/);
  const [id, secret] = [idIn(created), secretIn(created)];
  const again = await agent.submit(form, 'console-form', typed);
  assert.equal(secretIn(again), secret, 'sent again, it tells the same');
  assert.equal((await service.api('GET', '/eventHooks')).body.length, 1, 'and makes no second one');
  const other = await agent.submit(form, 'console-form', { ...typed, name: 'Other' });
  assert.match(wordsOf(other), /This form was already processed with other values/);
  const page = await agent.visit(`${HOME}/${id}`);
  assert.match(wordsOf(page), /To be verified.*no events are sent/);
  for (const hidden of [secret, 'here: and there', 'of-the-receiver']) assert.ok(!page.text.includes(hidden), hidden);
  const { body } = await service.api('GET', `/eventHooks/${id}`);
  assert.deepEqual(body.events.items, ['user.lifecycle.create', 'group.lifecycle.create']);
  assert.equal((await lastEvent(service, 'event_hook.created')).actor.displayName, SUPER.login);

  await service.createUser();
  assert.match(wordsOf(await agent.visit(`${HOME}/${id}`)), /Waiting 0 /, 'of what happened before it is not told');
  const verified = await agent.submit(await agent.visit(`${HOME}/${id}/verify`), 'console-form');
  assert.match(wordsOf(verified), / Active .*The event hook is verified/);
  const told = await service.createUser();
  const [message] = await receiver.received(1);
  assert.deepEqual([message?.event.eventType, message?.event.target[0].id], ['user.lifecycle.create', told.id]);
  assert.equal(message?.headers['x-where'], 'here: and there');
  assert.equal(message?.headers.authorization, 'Bearer of-the-receiver');
  const signed = `${message?.headers['webhook-id']}.${message?.headers['webhook-timestamp']}.${message?.body}`;
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  assert.equal(message?.headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
  await eventually(async () => /Waiting 0 .*None: nothing was lost/.test(wordsOf(await agent.visit(`${HOME}/${id}`))), 'none waits');
});

test('an address that does not answer is told on the form; what waits, and why, stands on the page', async (t) => {
  const service = await startService(t, LOCAL);
  const receiver = await hookReceiver(t, (res) => res.writeHead(503).end());
  const { agent } = await enter(service);
  const dead = await create(agent, { name: 'Dead', uri: 'http://127.0.0.1:9/', 'events-users': ['user.lifecycle.create'] });
  const refused = await agent.submit(await agent.visit(`${HOME}/${idIn(dead)}/verify`), 'console-form');
  assert.equal(refused.status, 400);
  assert.match(wordsOf(refused), /There is a problem The address cannot be reached\. Check the URL and the server/);

  const busy = await create(agent, { name: 'Busy', uri: receiver.uri, 'events-users': ['user.lifecycle.create'] });
  await agent.submit(await agent.visit(`${HOME}/${idIn(busy)}/verify`), 'console-form');
  await service.createUser();
  await receiver.received(1);
  await eventually(
    async () =>
      /Waiting 1 Oldest .* Next attempt .* Last failure the hook answered 503/.test(wordsOf(await agent.visit(`${HOME}/${idIn(busy)}`))),
    'the failure is told',
  );
});

test('what is wrong stands beside its field, and what was typed stays but for the secret value', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const sent = await create(agent, {
    name: ' ',
    uri: 'http://hooks.example/',
    headers: 'Content-Type: text/plain',
    authKey: 'not a header',
    authValue: 'typed before',
    description: 'typed, too',
  });
  assert.equal(sent.status, 400);
  for (const [field, problem] of [
    ['name', 'Must not be empty'],
    ['uri', 'Must use https, or http on a loopback address'],
    ['headers', 'Is set by the service. Remove it'],
    ['authKey', 'Must be the name of a header'],
    ['events-users', 'Must not be empty'],
  ]) {
    assert.match(sent.text, new RegExp(`id="${field}-problem">${problem}<`), `${field}: ${sent.text.match(/class="problem"[^>]*>[^<]*/g)}`);
  }
  assert.equal(typedIn(sent, 'description'), 'typed, too');
  assert.doesNotMatch(sent.text, /typed before/);
  const half = await create(agent, {
    name: 'x',
    uri: 'https://hooks.example/',
    headers: 'X-Where',
    'events-users': ['user.session.start'],
  });
  assert.match(half.text, /id="headers-problem">Is required</);
  const unknown = await create(agent, { name: 'x', uri: 'https://hooks.example/', 'events-users': ['event_hook.delivery'] });
  assert.match(unknown.text, /id="events-users-problem">Is not an event type that hooks can receive</);
  assert.deepEqual((await service.api('GET', '/eventHooks')).body, []);
});

test('a hook is changed with its header values kept, gets another secret, is switched off and on, and deleted', async (t) => {
  const service = await startService(t, LOCAL);
  const receiver = await hookReceiver(t);
  const { agent } = await enter(service);
  const made = await create(agent, {
    name: 'Hook',
    uri: receiver.uri,
    headers: 'X-Where: here',
    'events-users': ['user.lifecycle.create'],
  });
  const at = `${HOME}/${idIn(made)}`;
  await agent.submit(await agent.visit(`${at}/verify`), 'console-form');
  const edit = await agent.visit(`${at}/edit`);
  assert.match(edit.text, />\s*X-Where<\/textarea>/, 'the name alone');
  const changed = await agent.submit(edit, 'console-form', { name: 'Renamed', 'events-service': ['system.settings.update'] });
  assert.match(wordsOf(changed), / Active .*The event hook is changed\. /);
  await service.api('PUT', '/settings/audit', { retentionDays: null });
  const [message] = await receiver.received(1);
  assert.deepEqual([message?.event.eventType, message?.headers['x-where']], ['system.settings.update', 'here']);
  const moved = await agent.submit(await agent.visit(`${at}/edit`), 'console-form', { uri: `${receiver.uri}&moved` });
  assert.match(wordsOf(moved), /To be verified.*Verify its new address/);

  const form = await agent.visit(`${at}/secret`);
  const renewed = await agent.submit(form, 'console-form');
  assert.notEqual(secretIn(renewed), secretIn(made));
  assert.equal(secretIn(await agent.submit(form, 'console-form')), secretIn(renewed), 'sent again, it makes no third one');
  assert.doesNotMatch((await agent.visit(at)).text, /whsec_/);
  const { body: rotations } = await service.api('GET', `/logs?filter=${encodeURIComponent('eventType eq "event_hook.secret.created"')}`);
  assert.equal(rotations.length, 1);

  assert.match(wordsOf(await agent.submit(await agent.visit(`${at}/deactivate`), 'console-form')), /Inactive.*It receives no events/);
  assert.match(wordsOf(await agent.submit(await agent.visit(`${at}/activate`), 'console-form')), /The event hook is active/);
  const deleted = await agent.submit(await agent.visit(`${at}/delete`), 'console-form');
  assert.match(wordsOf(deleted), /The event hook is deleted.*There is no event hook yet/);
  assert.equal((await agent.visit(at)).status, 404);
});

test('the list has pages, and who may only read sees no way to change anything', async (t) => {
  const service = await startService(t);
  const config = { uri: 'https://hooks.example/' };
  const channel = { type: 'HTTP', version: '1.0.0', config };
  for (let n = 1; n <= 21; n += 1) {
    const events = { type: 'EVENT_TYPE', items: ['user.session.start'] };
    assert.ok((await service.api('POST', '/eventHooks', { name: `Hook ${n}`, events, channel })).status < 300);
  }
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  const first = await agent.visit(HOME);
  assert.doesNotMatch(wordsOf(first), /Hook 1 |Create event hook/);
  const [, next = ''] = /rel="next" href="([^"]*)"/.exec(first.text) ?? [];
  const second = await agent.visit(next);
  assert.match(wordsOf(second), /21 hooks.*Hook 1 .*Page 2 of 2/);
  const [, at = ''] = /href="(\/admin\/api\/event-hooks\/who_\w+)"/.exec(second.text) ?? [];
  assert.doesNotMatch((await agent.visit(at)).text, /\/(edit|secret|verify|activate|deactivate|delete)"/);
  for (const path of [`${HOME}/new`, `${at}/edit`, `${at}/secret`]) assert.equal((await agent.visit(path)).status, 403, path);
});

test(
  'a hook is created by keyboard alone, and its secret copied (WCAG 2.2, 2.1.1)',
  inBrowser(async (browser, t) => {
    const service = await startService(t);
    const window = await openWindow(browser);
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await window.open();
    await page.goto(`${service.baseUrl}${HOME}`);
    await signIn(page, SUPER);
    await page.waitForURL(`${service.baseUrl}${HOME}`);
    const focused = () => page.evaluate('(document.activeElement.textContent || document.activeElement.id).trim()');
    const tabTo = async (name: string) => {
      for (let stops = 0; stops < 120; stops += 1) {
        await page.keyboard.press('Tab');
        if ((await focused()) === name) return;
      }
      assert.fail(`the keyboard does not reach ${name}`);
    };
    await tabTo('Create event hook');
    await Promise.all([page.waitForURL(`**${HOME}/new`), page.keyboard.press('Enter')]);
    assert.equal(await page.locator(':focus').getAttribute('id'), 'name', 'the first field has the focus');
    await page.keyboard.type('By keyboard');
    await tabTo('uri');
    await page.keyboard.type('https://hooks.example/');
    await tabTo('events-users-0');
    await page.keyboard.press('Space');
    await tabTo('Create event hook');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Copy the signing secret now');
    await tabTo('Copy Signing secret');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=Copied');
    assert.match(String(await page.evaluate('navigator.clipboard.readText()')), /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal((await service.api('GET', '/eventHooks')).body[0].name, 'By keyboard');
    window.assertQuiet();
  }),
);
