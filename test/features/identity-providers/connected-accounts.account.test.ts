/**
 * `/account/security`: accounts at external providers that a signed-in user connects with his own, and disconnects. What an attacker must not reach: that his
 * account there opens somebody else's here (RFC 9700 sections 4.5 and 4.7), and that anybody is left without a way to sign in.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { moveClock } from '../../support/clock.ts';
import { codeOf, secretOn } from '../../support/factors.ts';
import { type Service, startService } from '../../support/service.ts';
import { createIdp, followRefresh, idpBody, linkTo, problemOf, startUpstream, throughUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const env = { ALLOW_PRIVATE_NETWORK: 'true' };
const PAGE = '/account/security';

/** Where the page between leads to. */
const outOf = (page: Page): URL => new URL((page.headers.get('refresh') ?? '').replace(/^0;url=/, ''));

test('accounts elsewhere that a user connects', async (t) => {
  const service: Service = await startService(t, { env });
  const upstream = await startUpstream(t);
  const idp = await createIdp(service, idpBody(upstream));
  const reset = structuredClone(upstream.behaviour);
  const someone = (): string => {
    const subject = randomUUID();
    Object.assign(upstream.behaviour, structuredClone(reset), {
      subject,
      claims: { email: `${subject}@there.example`, email_verified: true },
    });
    return subject;
  };
  const signedIn = async (user?: { login: string; password: string }) => {
    const account = user ?? (await service.createUser());
    const agent = new UserAgent(service.baseUrl);
    const page = await agent.signIn(await agent.visit(PAGE), account);
    assert.equal(page.url.pathname, PAGE, page.text);
    return { agent, page, user: account as Awaited<ReturnType<Service['createUser']>> };
  };
  /** @returns the address that the provider sends the browser back to */
  const backFrom = async (out: URL): Promise<URL> => new URL((await fetch(out, { redirect: 'manual' })).headers.get('location') ?? '');
  const connect = async (agent: UserAgent, page: Page, at = idp): Promise<Page> =>
    throughUpstream(agent, outOf(await agent.submit(page, `connect-${at}`)));
  const linkOf = async (userId: string, at = idp) => (await service.api('GET', `/idps/${at}/users/${userId}`)).body.externalId;
  const eventsOf = async (type: string, userId: string) =>
    (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent(`eventType eq "${type}"`)}`)).body.filter(
      ({ actor }: { actor: { id: string } }) => actor.id === userId,
    );
  /** The way back of a page that tells what went wrong. */
  async function leadsBack(agent: UserAgent, page: Page): Promise<void> {
    const [, again = ''] = /id="another-way" href="([^"]*)"/.exec(page.text) ?? [];
    assert.equal((await agent.visit(again)).url.pathname, PAGE, page.text);
  }

  await t.test('active providers are offered, by names that are no markup; inactive ones are not', async () => {
    const hidden = await createIdp(service, { ...idpBody(upstream), name: 'Hidden' });
    await service.api('POST', `/idps/${hidden}/lifecycle/deactivate`);
    const { page } = await signedIn();
    assert.match(page.text, new RegExp(`id="connect-${idp}"`));
    assert.ok(page.text.includes('Acme &lt;b&gt;Login') && !page.text.includes('Hidden'));
  });

  await t.test('an account is connected by its own sign-in there, opens the account here from then on, and is disconnected', async () => {
    const subject = someone();
    const { agent, page, user } = await signedIn();
    const between = await agent.submit(page, `connect-${idp}`);
    assert.match(between.text, /id="continue"/, 'a link, where the browser does not go on by itself');
    const out = outOf(between);
    assert.deepEqual([out.searchParams.get('code_challenge_method'), out.searchParams.get('nonce')?.length], ['S256', 43]);
    const done = await throughUpstream(agent, out);
    assert.equal(done.url.pathname, PAGE);
    assert.match(done.text, new RegExp(`id="disconnect-${idp}"`));
    assert.ok(done.text.includes(`${subject}@there.example`), 'what he is known as there');
    assert.equal(await linkOf(user.id), subject);
    const [linked] = await eventsOf('user.identity_provider.link', user.id);
    assert.deepEqual(linked.debugContext.after, { idpId: idp, userId: user.id, externalId: subject });

    const other = new UserAgent(service.baseUrl);
    const signIn = await other.visit('/signin');
    const home = await throughUpstream(other, (await other.visit(linkTo(signIn, idp))).url);
    assert.ok(home.text.includes(user.login), home.text);
    assert.match((await agent.visit(PAGE)).text, /Last used/);

    const gone = await agent.submit(await agent.visit(PAGE), `disconnect-${idp}`);
    assert.match(gone.text, new RegExp(`id="connect-${idp}"`));
    assert.equal(await linkOf(user.id), undefined);
    const [unlinked] = await eventsOf('user.identity_provider.unlink', user.id);
    assert.deepEqual(unlinked.debugContext.before, { idpId: idp, userId: user.id, externalId: subject });
  });

  await t.test('an answer that somebody else’s browser got links nothing (login CSRF, RFC 9700 section 4.7)', async () => {
    someone();
    const attacker = await signedIn();
    const victim = await signedIn();
    const back = await backFrom(outOf(await attacker.agent.submit(attacker.page, `connect-${idp}`)));
    const lured = await followRefresh(victim.agent, await victim.agent.visit(back));
    assert.equal(problemOf(lured), 'upstream_over');
    await leadsBack(victim.agent, lured);
    // With an attempt of his own under way, and the attacker's code in it: PKCE and nonce bind the code to its own request.
    const own = await backFrom(outOf(await victim.agent.submit(victim.page, `connect-${idp}`)));
    own.searchParams.set('code', back.searchParams.get('code') ?? '');
    assert.equal(problemOf(await followRefresh(victim.agent, await victim.agent.visit(own))), 'upstream_refused');
    assert.equal(await linkOf(victim.user.id), undefined);
    assert.equal(
      (await followRefresh(attacker.agent, await attacker.agent.visit(back))).url.pathname,
      PAGE,
      'and the right browser has lost nothing',
    );
  });

  await t.test('the browser is somebody else’s by the time of the answer, or nobody’s: nothing is linked to him', async () => {
    someone();
    const first = await signedIn();
    const second = await service.createUser();
    const agent = first.agent;
    const begin = async () => backFrom(outOf(await agent.submit(await agent.visit(PAGE), `connect-${idp}`)));
    const [back, another] = [await begin(), await begin()];
    const nobody = agent.window();
    assert.equal((await agent.send('/api/v1/sessions/me', { method: 'DELETE' })).status, 204);
    const refused = await followRefresh(nobody, await nobody.visit(another));
    assert.equal(problemOf(refused), 'upstream_other_session');
    assert.equal((await agent.signIn(await agent.visit('/signin'), second)).url.pathname, '/account');
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(back))), 'upstream_other_session');
    for (const { id } of [first.user, second]) assert.equal(await linkOf(id), undefined);
  });

  await t.test('an answer counts once: of twenty at once one is exchanged', async () => {
    const subject = someone();
    const { agent, page, user } = await signedIn();
    const shown = await agent.visit(await backFrom(outOf(await agent.submit(page, `connect-${idp}`))));
    const asked = upstream.calls.get('/token') ?? 0;
    const windows = Array.from({ length: 20 }, () => agent.window());
    const outcomes = await Promise.all(windows.map((window) => followRefresh(window, shown)));
    assert.equal(outcomes.filter(({ url, status }) => url.pathname === PAGE && status === 200).length, 1);
    assert.equal(upstream.calls.get('/token'), asked + 1);
    assert.equal(await linkOf(user.id), subject);
  });

  await t.test('the answer of a sign-in connects nothing, and the answer of a connection signs nobody in', async () => {
    someone();
    const { agent, page, user } = await signedIn();
    const back = await backFrom(outOf(await agent.submit(page, `connect-${idp}`)));
    const asSignIn = new URL(back);
    asSignIn.searchParams.set('state', (back.searchParams.get('state') ?? '').split('.')[0] ?? '');
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(asSignIn))), 'upstream_over');
    const stranger = new UserAgent(service.baseUrl);
    const out = (await stranger.visit(linkTo(await stranger.visit('/signin'), idp))).url;
    const answer = await backFrom(out);
    const session = await stranger.signIn(await stranger.visit('/signin'), user);
    assert.equal(session.url.pathname, '/account');
    const state = `${answer.searchParams.get('state')}.account`;
    answer.searchParams.set('state', state);
    assert.equal(problemOf(await followRefresh(stranger, await stranger.visit(answer))), 'upstream_over');
    assert.equal(await linkOf(user.id), undefined);
  });

  await t.test('each change asks for a sign-in not older than 15 minutes, with the second factor; the answer does not', async (t) => {
    someone();
    const { agent, page, user } = await signedIn();
    const back = await backFrom(outOf(await agent.submit(page, `connect-${idp}`)));
    const again = await agent.visit(PAGE);
    moveClock(t, 901);
    const refused = await agent.submit(again, `connect-${idp}`);
    assert.equal(refused.url.pathname, '/signin');
    assert.equal(await linkOf(user.id), undefined);
    assert.equal(problemOf(await followRefresh(agent, await agent.visit(back))), 'upstream_over', 'ten minutes are over');
    await connect(agent, await agent.signIn(await agent.visit('/signin?account=security'), user));
    const connected = await agent.visit(PAGE);
    moveClock(t, 1802);
    assert.equal((await agent.submit(connected, `disconnect-${idp}`)).url.pathname, '/signin');
    assert.notEqual(await linkOf(user.id), undefined);
  });

  await t.test('a session that lacks the second factor its user has by now connects nothing', async () => {
    someone();
    const plain = await signedIn();
    const back = await backFrom(outOf(await plain.agent.submit(plain.page, `connect-${idp}`)));
    const owner = await signedIn(plain.user);
    const enrolling = await owner.agent.submit(owner.page, 'app-form');
    await owner.agent.submit(enrolling, 'enroll-form', { passCode: codeOf(secretOn(enrolling)) });
    assert.equal(problemOf(await followRefresh(plain.agent, await plain.agent.visit(back))), 'upstream_other_session');
    assert.equal(await linkOf(plain.user.id), undefined);
  });

  await t.test(
    'an account that opens another user’s account here is refused in plain words; so is a second one at the same provider',
    async () => {
      const subject = someone();
      const first = await signedIn();
      await connect(first.agent, first.page);
      const second = await signedIn();
      const refused = await connect(second.agent, second.page);
      assert.deepEqual([problemOf(refused), refused.status], ['upstream_linked_elsewhere', 409]);
      assert.match(refused.text, /a different account here/);
      assert.ok(!refused.text.includes(first.user.login), 'whose, is not told');
      await leadsBack(second.agent, refused);
      assert.deepEqual([await linkOf(first.user.id), await linkOf(second.user.id)], [subject, undefined]);
      // Two tabs, two accounts there.
      someone();
      const tab = await second.agent.submit(await second.agent.visit(PAGE), `connect-${idp}`);
      const other = await second.agent.submit(await second.agent.visit(PAGE), `connect-${idp}`);
      const own = upstream.behaviour.subject;
      await throughUpstream(second.agent, outOf(tab));
      someone();
      assert.equal(problemOf(await throughUpstream(second.agent, outOf(other))), 'upstream_linked_already');
      assert.equal(await linkOf(second.user.id), own);
    },
  );

  await t.test('nobody is left without a way to sign in, not by two tabs at once either', async () => {
    const two = await startUpstream(t);
    const second = await createIdp(service, { ...idpBody(two), name: 'Second' });
    someone();
    const agent = new UserAgent(service.baseUrl);
    const page = await throughUpstream(agent, (await agent.visit(linkTo(await agent.visit('/signin?account=security'), idp))).url);
    assert.equal(page.url.pathname, PAGE, page.text);
    assert.doesNotMatch(page.text, new RegExp(`id="disconnect-${idp}"`), 'no button');
    assert.match(page.text, /only way to sign in/);
    two.behaviour.subject = randomUUID();
    two.behaviour.claims = { email: 'x@y.example', email_verified: false };
    const both = await connect(agent, page, second);
    const windows = [idp, second].map((at) => ({ at, window: agent.window() }));
    const outcomes = await Promise.all(windows.map(({ at, window }) => window.submit(both, `disconnect-${at}`)));
    assert.deepEqual(outcomes.map((one) => problemOf(one) ?? 'gone').sort(), ['gone', 'upstream_last_way']);
    const refused = outcomes.find((one) => problemOf(one) !== undefined) as Page;
    await leadsBack(agent, refused);
    assert.match((await agent.visit(PAGE)).text, /only way to sign in/);
    await service.api('DELETE', `/idps/${second}`);
  });

  await t.test('a link to a provider that is not active is no way to sign in', async () => {
    const two = await startUpstream(t);
    const second = await createIdp(service, { ...idpBody(two), name: 'Second' });
    someone();
    const agent = new UserAgent(service.baseUrl);
    const page = await throughUpstream(agent, (await agent.visit(linkTo(await agent.visit('/signin?account=security'), idp))).url);
    two.behaviour.subject = randomUUID();
    const both = await connect(agent, page, second);
    await service.api('POST', `/idps/${second}/lifecycle/deactivate`);
    assert.equal(problemOf(await agent.submit(both, `disconnect-${idp}`)), 'upstream_last_way');
    // Users who have only links get no code by e-mail, even if the provider is inactive.
    assert.equal((await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey', 'email'] })).status, 200);
    try {
      assert.equal(problemOf(await agent.submit(both, `disconnect-${idp}`)), 'upstream_last_way', 'with an e-mail address');
    } finally {
      await service.api('PUT', '/settings/sign-in', { methods: ['password', 'passkey'] });
    }
    await service.api('DELETE', `/idps/${second}`);
  });

  await t.test(
    'a password is no way to sign in where users do not sign in by password; an e-mail address is where codes are sent',
    async () => {
      const methods = async (...list: string[]) =>
        assert.equal((await service.api('PUT', '/settings/sign-in', { methods: list })).status, 200, list.join());
      someone();
      const { agent, page, user } = await signedIn();
      const linked = await connect(agent, page);
      try {
        await methods('passkey');
        assert.match((await agent.visit(PAGE)).text, /only way to sign in/);
        assert.equal(problemOf(await agent.submit(linked, `disconnect-${idp}`)), 'upstream_last_way');
        await methods('passkey', 'email');
        await service.api('POST', `/users/${user.id}`, { profile: { email: `${user.login}@here.example` } });
        assert.doesNotMatch((await agent.visit(PAGE)).text, /only way to sign in/);
        assert.equal(problemOf(await agent.submit(linked, `disconnect-${idp}`)), undefined);
      } finally {
        await methods('password', 'passkey');
      }
    },
  );

  const problems: [name: string, behaviour: Partial<typeof upstream.behaviour>, code: string][] = [
    ['he gave up there', { error: 'access_denied', errorDescription: '<img src=x>' }, 'upstream_denied'],
    ['another error', { error: 'server_error' }, 'upstream_refused'],
    ['a signature of somebody else', { foreignKey: true }, 'upstream_untrusted'],
    ['iss of somebody else in the answer (RFC 9207)', { responseIssuer: 'https://evil.example' }, 'upstream_untrusted'],
    ['another nonce', { idToken: { nonce: 'of-another-request' } }, 'upstream_untrusted'],
  ];
  for (const [name, behaviour, code] of problems) {
    await t.test(`${name}: told in plain words, with the way back, and in the audit log`, async () => {
      someone();
      Object.assign(upstream.behaviour, behaviour);
      const { agent, page, user } = await signedIn();
      const told = await connect(agent, page);
      Object.assign(upstream.behaviour, { error: undefined, errorDescription: undefined, responseIssuer: undefined });
      assert.equal(problemOf(told), code, told.text);
      assert.ok(!told.text.includes('<img src=x'));
      await leadsBack(agent, told);
      assert.equal(await linkOf(user.id), undefined);
      const [event] = await eventsOf('user.identity_provider.link', user.id);
      assert.deepEqual([event.outcome.result, event.target.at(-1).id], ['FAILURE', idp]);
    });
  }

  await t.test('a provider that was deactivated meanwhile, and a user who was suspended meanwhile', async () => {
    someone();
    const { agent, page } = await signedIn();
    const back = await backFrom(outOf(await agent.submit(page, `connect-${idp}`)));
    await service.api('POST', `/idps/${idp}/lifecycle/deactivate`);
    const refused = await followRefresh(agent, await agent.visit(back));
    assert.equal(problemOf(refused), 'upstream_not_offered');
    await leadsBack(agent, refused);
    assert.equal(problemOf(await agent.submit(page, `connect-${idp}`)), 'upstream_not_offered');
    await service.api('POST', `/idps/${idp}/lifecycle/activate`);
    const suspended = await signedIn();
    const theirs = await backFrom(outOf(await suspended.agent.submit(suspended.page, `connect-${idp}`)));
    await service.api('POST', `/users/${suspended.user.id}/lifecycle/suspend`);
    assert.equal(problemOf(await followRefresh(suspended.agent, await suspended.agent.visit(theirs))), 'upstream_other_session');
    assert.equal(await linkOf(suspended.user.id), undefined);
  });

  await t.test('a form of another site, or without its token, is refused; an address asked for from outside shows the page', async () => {
    const { agent } = await signedIn();
    for (const step of ['connect', 'disconnect']) {
      for (const headers of [{ origin: 'https://evil.example' }, { origin: service.baseUrl }]) {
        const body = new URLSearchParams({ idp });
        assert.equal((await agent.send(`${PAGE}/${step}`, { method: 'POST', body, headers })).status, 403);
      }
      assert.equal((await agent.visit(`${PAGE}/${step}`)).url.pathname, PAGE);
    }
    assert.equal((await agent.visit(`${PAGE}/upstream`)).status, 410);
  });

  await t.test('the export of his data has what is stored of the link: provider, subject, name there, created and last used', async () => {
    const subject = someone();
    const { agent, page, user } = await signedIn();
    await connect(agent, page);
    const exported = async () => (await service.api('GET', `/users/${user.id}/data`)).body.identityProviders;
    const [{ created, ...link }] = await exported();
    assert.deepEqual(link, { id: idp, name: 'Acme <b>Login</b>', subject, knownAs: `${subject}@there.example`, lastUsed: null });
    assert.ok(Date.parse(created) > 0);
    const other = new UserAgent(service.baseUrl);
    await throughUpstream(other, (await other.visit(linkTo(await other.visit('/signin'), idp))).url);
    assert.ok(Date.parse((await exported())[0].lastUsed) >= Date.parse(created));
  });
});
