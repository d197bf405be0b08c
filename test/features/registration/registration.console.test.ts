/** API → Authorization servers → Registration: initial access tokens are made and revoked here, without JavaScript (protocol contract, "Dynamic registration"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { CALLBACK } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';

const HOME = '/admin/api/servers/default/registration';

test('an initial access token made by the console registers a client once, is listed as used, and is refused after it is revoked', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  assert.match(wordsOf(await agent.visit(HOME)), /Clients cannot register themselves here\. Change it under Settings\./);
  const edit = await agent.visit('/admin/api/servers/default/edit');
  await agent.submit(edit, 'console-form', { registrationMode: 'TOKEN' });
  const list = await agent.visit(HOME);
  assert.match(wordsOf(list), /Clients register themselves with an initial access token \(RFC 7591\)\./);
  assert.ok(wordsOf(list).includes(`${service.issuer('default')}/register`));
  assert.match(list.text, new RegExp(`href="${HOME}/new"`));

  const create = async (name: string, more: Record<string, string>) => {
    const page = await agent.submit(await agent.visit(`${HOME}/new`), 'console-form', { name, ...more });
    assert.match(wordsOf(page), /Token created/);
    assert.match(page.headers.get('cache-control') ?? '', /no-store/);
    return /id="token-value"[^>]*value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  };
  const register = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ client_name: 'Robot', redirect_uris: [CALLBACK] });
    return (await fetch(`${service.issuer('default')}/register`, { method: 'POST', headers, body })).status;
  };
  const once = await create('Partner <portal>', { use: 'once', expires: 'never' });
  const often = await create('Fleet', { use: 'often', expires: '7' });
  const brief = await create('Visitor', { use: 'often', expires: '1' });
  assert.deepEqual([await register(once), await register(once)], [201, 401], 'for one registration');
  assert.deepEqual([await register(often), await register(often)], [201, 201], 'for many');

  const listed = await agent.visit(HOME);
  for (const token of [once, often, brief]) assert.ok(!listed.text.includes(token), 'a value is shown once');
  assert.match(wordsOf(listed), /3 tokens.*Fleet Many registrations 2 .*Partner &lt;portal&gt; One registration 1 .* used /);
  assert.match(wordsOf(await agent.visit('/admin/applications?origin=REGISTERED')), /Robot/);
  const { body: apps } = await service.api('GET', `/apps?filter=${encodeURIComponent('origin eq "REGISTERED"')}`);
  assert.match(
    wordsOf(await agent.visit(`/admin/applications/${apps[0].id}`)),
    /This application was created by dynamic client registration\. No administrator has checked it/,
  );

  const { body: tokens } = await service.api('GET', '/authorizationServers/default/registrationTokens');
  const { id } = tokens.find(({ name }: { name: string }) => name === 'Fleet');
  const question = await agent.visit(`${HOME}/${id}/revoke`);
  assert.match(wordsOf(question), /Revoke “Fleet”\?.*Clients that did stay\./);
  const revoked = await agent.submit(question, 'console-form');
  assert.equal(revoked.url.pathname, HOME);
  assert.match(wordsOf(revoked), /The token is revoked/);
  assert.doesNotMatch(wordsOf(revoked), /Fleet/);
  assert.equal(await register(often), 401);
  assert.equal((await agent.visit(`${HOME}/${id}/revoke`)).status, 404, 'it is not there a second time');
  const { body: events } = await service.api('GET', '/logs?filter=eventType sw "app.oauth2.registration_token"');
  assert.deepEqual(
    events.map(({ eventType, target }: { eventType: string; target: { displayName: string }[] }) => [eventType, target[0]?.displayName]),
    [
      ['app.oauth2.registration_token.create', 'Partner <portal>'],
      ['app.oauth2.registration_token.create', 'Fleet'],
      ['app.oauth2.registration_token.create', 'Visitor'],
      ['app.oauth2.registration_token.revoke', 'Fleet'],
    ],
  );

  moveClock(t, 86_401);
  assert.equal(await register(brief), 401, 'in one day it has expired');
});
