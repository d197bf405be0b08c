/** `/account/activity` and `/account/data`: what the user is told of his own account, with nothing of others (Regulation (EU) 2016/679, article 15). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OWN_EVENT_TYPES } from '../../../src/features/users/own-activity.service.ts';
import en from '../../../views/locales/en.json' with { type: 'json' };
import { arriveAt, wordsOf } from '../../pages/account/arrival.ts';
import { createClient, tokensFor } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('what the user is told of his account', async (t) => {
  const service = await startService(t);

  await t.test('in words: his own doings with their place, an administrator’s without it', async () => {
    const user = await service.createUser();
    const browser = new UserAgent(service.baseUrl);
    await browser.signIn(await browser.visit('/signin'), { ...user, password: 'not the password' });
    const { page: arrived, browser: own } = await arriveAt(service, '/account/activity', user);
    assert.match(
      wordsOf(arrived),
      /Signed in .*127\.0\.0\.1.* Sign-in failed .*127\.0\.0\.1.* Account created .* by an administrator or the service/,
    );
    await service.api('POST', `/users/${user.id}`, { profile: { title: 'Countess' } });
    const words = wordsOf(await own.visit('/account/activity'));
    assert.match(words, /Profile changed [^·]*· by an administrator or the service/);
    assert.doesNotMatch(words, /Countess|administrators|admin@/);
  });

  await t.test('nothing of another user', async () => {
    const [mine, theirs] = [await service.createUser(), await service.createUser()];
    const { browser } = await arriveAt(service, '/account/activity', mine);
    await arriveAt(service, '/account', theirs);
    const page = await browser.visit('/account/activity');
    assert.equal(page.text.match(/<li class="line">/g)?.length, 2, 'created, signed in');
  });

  await t.test('in pages, the newest first', async () => {
    const user = await service.createUser();
    for (let n = 0; n < 35; n += 1) await service.api('POST', `/users/${user.id}`, { profile: { title: `number ${n}` } });
    const { browser, page } = await arriveAt(service, '/account/activity', user);
    assert.equal(page.text.match(/<li class="line">/g)?.length, 30);
    const [, older = ''] = /id="older" href="([^"]*)"/.exec(page.text) ?? [];
    const second = await browser.visit(new URL(older, page.url));
    assert.equal(second.text.match(/<li class="line">/g)?.length, 7);
    assert.match(wordsOf(second), /Account created/);
    assert.doesNotMatch(second.text, /id="older"/);
    assert.equal((await browser.visit('/account/activity?before=%27;x')).status, 200);
  });

  await t.test('each type that is told of has words', () => {
    for (const type of OWN_EVENT_TYPES) assert.ok(`account.event.${type}` in en, type);
  });

  await t.test('the data as JSON: all that is there, no secret, noted; after a fresh sign-in', async (t) => {
    const user = await service.createUser({ email: 'data@example.com', nickName: 'דנה' });
    const { browser, page } = await arriveAt(service, '/account/data', user);
    await tokensFor(service, browser, user, await createClient(service, { consent_method: 'TRUSTED' }));
    const file = await browser.submit(page, 'data-form');
    assert.match(file.headers.get('content-disposition') ?? '', /^attachment; filename="account-\d{4}-\d\d-\d\d\.json"$/);
    assert.match(file.headers.get('content-type') ?? '', /^application\/json/);
    const data = JSON.parse(file.text);
    assert.deepEqual([data.user.id, data.user.profile.nickName, data.sessions.length], [user.id, 'דנה', 1]);
    const [session] = data.sessions;
    assert.match(session.ipAddress, /127\.0\.0\.1$/);
    assert.ok(Date.parse(session.lastSeen) && 'userAgent' in session && 'amr' in session, file.text);
    assert.doesNotMatch(JSON.stringify(session), /"(uid|jti|id)"/);
    assert.ok(data.activity.some((event: { eventType: string }) => event.eventType === 'user.session.start'));
    const [created] = data.activity.filter((event: { byOther: boolean }) => event.byOther);
    assert.deepEqual([created.eventType, created.ipAddress, created.userAgent], ['user.lifecycle.create', undefined, undefined]);
    assert.deepEqual(
      data.permissions.map(({ label, scopes }: { label: string; scopes: string[] }) => [label, scopes.toSorted()]),
      [['Test application', ['email', 'offline_access', 'openid', 'profile']]],
    );
    assert.doesNotMatch(file.text, /argon2|passwordHash|sealed/i);
    const filter = encodeURIComponent(`eventType eq "user.account.export_data" and actor.id eq "${user.id}"`);
    assert.equal((await service.api('GET', `/logs?filter=${filter}`)).body.length, 1);
    moveClock(t, 901);
    assert.equal((await browser.submit(page, 'data-form')).url.pathname, '/signin');
  });
});
