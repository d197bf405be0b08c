/** `/account/profile`: what a user changes himself, and what he does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt, fieldsOf, postForm } from '../../pages/account/arrival.ts';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';

test('the profile', async (t) => {
  const service = await startService(t);
  const profileOf = async (id: string) => (await service.api('GET', `/users/${id}`)).body.profile;

  await t.test('is saved, with an audit event of the user himself; an empty field takes the attribute out', async () => {
    const user = await service.createUser({ city: 'London', department: 'Engines' });
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    assert.match(page.text, /name="city" type="text" value="London"/);
    const typed = { ...fieldsOf(page, 'profile-form'), firstName: '  Ada <b>', nickName: 'עדה', city: '', zoneinfo: 'Europe/London' };
    const saved = await browser.submit(page, 'profile-form', typed);
    assert.match(saved.text, /id="notice"[^>]*>Your profile is saved\./);
    assert.match(saved.text, /value="Ada &lt;b&gt;"/);
    const profile = await profileOf(user.id);
    assert.deepEqual(
      [profile.firstName, profile.nickName, profile.city ?? null, profile.zoneinfo],
      ['Ada <b>', 'עדה', null, 'Europe/London'],
    );
    assert.equal(profile.department, 'Engines');
    const { body } = await service.api(
      'GET',
      `/logs?filter=${encodeURIComponent(`eventType eq "user.account.update_profile" and actor.id eq "${user.id}"`)}`,
    );
    assert.equal(body.length, 1);
  });

  await t.test('what is not the user’s to say is not taken: login, e-mail address, what the organization says', async () => {
    const user = await service.createUser({ email: 'me@profile.example', department: 'Engines' });
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    const more = { login: 'root', email: 'you@profile.example', department: 'Board', userType: 'admin', manager: 'me', status: 'STAGED' };
    await browser.submit(page, 'profile-form', { ...fieldsOf(page, 'profile-form'), firstName: 'Eve', ...more });
    const profile = await profileOf(user.id);
    assert.deepEqual(
      [profile.login, profile.email, profile.department, profile.userType ?? null, profile.firstName],
      [user.login, 'me@profile.example', 'Engines', null, 'Eve'],
    );
  });

  await t.test('a problem stands beside its field, what was typed stays, and nothing is saved', async () => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    const wrong = {
      profileUrl: 'javascript:alert(1)',
      zoneinfo: 'Mars/Olympus',
      firstName: 'x'.repeat(10_000),
      city: 'a\u0007b',
      lastName: 'Kept',
    };
    const answer = await browser.submit(page, 'profile-form', { ...fieldsOf(page, 'profile-form'), ...wrong });
    assert.equal(answer.status, 400);
    for (const name of ['profileUrl', 'zoneinfo', 'firstName', 'city']) {
      assert.match(answer.text, new RegExp(`id="profile-${name}-problem"`), name);
      assert.match(answer.text, new RegExp(`href="#profile-${name}"`), name);
    }
    assert.match(answer.text, /value="Kept"/);
    assert.equal((await profileOf(user.id)).lastName ?? null, null);
  });

  await t.test('an e-mail address is changed after a fresh sign-in only, and not before its link was used', async (t) => {
    const user = await service.createUser({ email: `${Date.now()}@profile.example` });
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    const before = (await profileOf(user.id)).email;
    const wrong = await browser.submit(page, 'email-form', { email: 'no address' });
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /id="email-problem"/);
    assert.match(wrong.text, /value="no address"/);
    const sent = await browser.submit(page, 'email-form', { email: 'new@profile.example' });
    assert.match(sent.text, /a link is on its way/);
    assert.equal((await profileOf(user.id)).email, before);
    moveClock(t, 901);
    const answer = await postForm(browser, '/account/email', { ...fieldsOf(page, 'email-form'), email: 'late@profile.example' });
    assert.equal(answer.headers.get('location'), '/signin?account=profile');
  });

  await t.test('the middle name is his to say, and a time zone is written as the database of zones has it', async () => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/profile', user);
    assert.match(page.text, /<option value="Europe\/Berlin">/, 'zones to choose from');
    const saved = await browser.submit(page, 'profile-form', { middleName: 'Augusta', zoneinfo: 'europe/berlin' });
    assert.match(saved.text, /value="Europe\/Berlin" autocomplete/);
    const profile = await profileOf(user.id);
    assert.deepEqual([profile.middleName, profile.zoneinfo], ['Augusta', 'Europe/Berlin']);
    const days = await browser.submit(saved, 'profile-form', { zoneinfo: 'Pacific/Kiritimati' });
    assert.equal(days.status, 200);
  });
});
