/** `/account/security` and what stands below it: in the account's own frame, told of when it is done, with names of the user's own for his passkeys. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt, fieldsOf, postForm } from '../../pages/account/arrival.ts';
import { moveClock } from '../../support/clock.ts';
import { codeOf, enrolledUser, recoveryCodesOn, secretOn } from '../../support/factors.ts';
import { userWithPasskey } from '../../support/passkeys.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const SECURITY = '/account/security';

/** In the frame: menu with the page that it belongs to, one heading, the way out. */
function assertFramed(page: Page): void {
  assert.match(page.text, /<body class="framed">/, page.text.slice(0, 3000));
  assert.match(page.text, /href="\/account\/security" aria-current="page">/);
  assert.equal(page.text.match(/<h1>/g)?.length, 1);
  assert.equal(page.text.match(/<main/g)?.length, 1);
  assert.match(page.text, /id="sign-out"/);
}

test('the pages below the security of an account', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const noticeOn = (page: Page) => /id="notice"[^>]*>([^<]*)</.exec(page.text)?.[1];
  const eventsOf = async (type: string, userId: string) => {
    const filter = encodeURIComponent(`eventType eq "${type}" and actor.id eq "${userId}"`);
    return (await service.api('GET', `/logs?filter=${filter}`)).body;
  };

  await t.test('stand in the frame of the account, a refused code and the recovery codes too; within a sign-in they do not', async () => {
    const { browser, page } = await arriveAt(service, SECURITY, await service.createUser());
    const asked = await browser.submit(page, 'app-form');
    assertFramed(asked);
    const refused = await browser.submit(asked, 'enroll-form', { passCode: 'no code' });
    assert.equal(refused.status, 400);
    assertFramed(refused);
    assert.equal(refused.text.match(/id="error-summary"/g)?.length, 1);
    assert.match(refused.text, /href="#pass-code"/);
    const codes = await browser.submit(refused, 'enroll-form', { passCode: codeOf(secretOn(refused)) });
    assert.equal(recoveryCodesOn(codes).length, 10);
    assertFramed(codes);
    assert.doesNotMatch(codes.text, /class="languages"/, 'in another language they would be gone');
    const after = await browser.visit(SECURITY);
    assertFramed(await browser.submit(after, 'recovery-codes-form'));
    assertFramed(await browser.submit(after, 'add-passkey-form'));
    const removed = await browser.submit(after, 'remove-form');
    assert.equal(noticeOn(removed), 'Removed.');
    assert.equal(noticeOn(await browser.submit(after, 'remove-form')), 'It was already removed.');

    const enrolled = await enrolledUser(service);
    const other = new UserAgent(service.baseUrl);
    assert.match((await other.signIn(await other.visit('/signin'), enrolled)).text, /<body class="narrow">/);
  });

  await t.test('an account elsewhere: connected and disconnected it is told, and so is what went wrong, in the frame', async () => {
    const upstream = await startUpstream(t);
    const idp = await createIdp(service, idpBody(upstream));
    const { browser, page } = await arriveAt(service, SECURITY, await service.createUser());
    const between = await browser.submit(page, `connect-${idp}`);
    const out = new URL((between.headers.get('refresh') ?? '').replace(/^0;url=/, ''));
    const connected = await throughUpstream(browser, out);
    assert.equal(noticeOn(connected), 'Connected.');
    const gone = await browser.submit(page, `connect-${idp}`, { idp: 'nothing' });
    assert.equal(gone.status, 404);
    assertFramed(gone);
    assert.match(gone.text, /id="another-way" href="\/account\/security"/);
    assert.equal(noticeOn(await browser.submit(connected, `disconnect-${idp}`)), 'Disconnected.');
  });

  await t.test('a passkey is named anew by its user alone, after a fresh sign-in, and it is audited', async (t) => {
    const { id: userId, browser } = await userWithPasskey(service);
    const page = await browser.visit(SECURITY);
    const [, href = ''] = /id="name-passkey-1"[^>]*href="([^"]*)"/.exec(page.text) ?? [];
    const form = await browser.visit(href);
    assertFramed(form);
    for (const name of ['', '   ', 'x'.repeat(101), 'a\u0007b']) {
      const refused = await browser.submit(form, 'passkey-name-form', { name });
      assert.equal(refused.status, 400, name);
      assertFramed(refused);
      assert.match(refused.text, /id="passkey-name-problem"/);
    }
    const done = await browser.submit(form, 'passkey-name-form', { name: ' טלפון <b>' });
    assert.equal(done.url.pathname, SECURITY);
    assert.equal(noticeOn(done), 'The name is saved.');
    assert.match(done.text, />טלפון &lt;b&gt;</);
    const [event] = await eventsOf('user.mfa.factor.update', userId);
    const namesIn = ({ factors }: { factors: { name: string }[] }) => factors.map(({ name }) => name);
    assert.deepEqual(namesIn(event.debugContext.after), ['טלפון <b>']);
    assert.notDeepEqual(namesIn(event.debugContext.before), ['טלפון <b>']);

    const other = await arriveAt(service, SECURITY, await service.createUser());
    assert.equal((await other.browser.visit(href)).status, 404, 'another user’s');
    const fields = fieldsOf(other.page, 'app-form');
    assert.equal((await postForm(other.browser, href, { ...fields, name: 'mine now' })).status, 404);
    assert.doesNotMatch((await browser.visit(SECURITY)).text, /mine now/);
    moveClock(t, 901);
    assert.equal((await browser.submit(form, 'passkey-name-form', { name: 'late' })).url.pathname, '/signin');
  });
});
