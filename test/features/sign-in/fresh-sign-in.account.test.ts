/** The sign-in that is asked for before a sensitive change: it says why, knows who asks, leads back, and is a sign-in anew at an external provider, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arriveAt, wordsOf } from '../../pages/account/arrival.ts';
import { moveClock } from '../../support/clock.ts';
import { startService } from '../../support/service.ts';
import { createIdp, idpBody, linkTo, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('a sign-in anew before a change', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });

  await t.test('says why it is asked for, whose it is, and leads back without it', async (t) => {
    const user = await service.createUser();
    const { browser, page } = await arriveAt(service, '/account/data', user);
    moveClock(t, 901);
    const asked = await browser.submit(page, 'data-form');
    assert.match(wordsOf(asked), /Sign in again to confirm that it is you\./);
    assert.match(asked.text, new RegExp(`id="username"[^>]*value="${user.login}"`));
    assert.match(asked.text, /id="back" href="\/account\/data"/);
    assert.equal((await browser.visit('/account/data')).status, 200, 'looking needs no more');
    const wrong = await browser.signIn(asked, { ...user, password: 'not the password' });
    assert.match(wrong.text, /id="back" href="\/account\/data"/);
    assert.equal((await browser.signIn(wrong, user)).url.pathname, '/account/data');
    const stranger = await new UserAgent(service.baseUrl).visit('/signin?account=data');
    assert.doesNotMatch(stranger.text, /once more|id="back"/);
  });

  await t.test('asks an external provider for a sign-in anew: that one is still signed in there proves nothing', async (t) => {
    const upstream = await startUpstream(t);
    const idp = await createIdp(service, idpBody(upstream));
    Object.assign(upstream.behaviour, { claims: { email: 'fed@there.example', email_verified: true } });
    const browser = new UserAgent(service.baseUrl);
    const begin = async (address: string) => (await browser.visit(linkTo(await browser.visit(address), idp))).url;
    const first = await begin('/signin?account=data');
    assert.equal(first.searchParams.get('prompt'), null, 'nobody is signed in yet');
    assert.equal((await throughUpstream(browser, first)).url.pathname, '/account/data');
    moveClock(t, 901);
    const again = await begin('/signin?account=data');
    assert.deepEqual([again.searchParams.get('prompt'), again.searchParams.get('max_age')], ['login', '0']);
  });
});
