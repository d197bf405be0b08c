/** The simulator: its page, its address, and that its words agree with what a real request then gets (issue 9, "Simulator and explain"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { createAdministrator, enter, wordsOf } from '../../pages/console/administrators.ts';
import { answerOf, authorizeUrl, CALLBACK, post, type TestClient, userinfo } from '../../protocol/servers/relying-party.ts';
import { setPolicies } from '../../support/access-policies.ts';
import { startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const GRANTS = ['authorization_code', 'implicit', 'password', 'client_credentials', 'refresh_token'];
const PAGE = '/admin/api/servers/lab/simulator';

interface Question {
  readonly application: string;
  readonly user: string;
  readonly grant: 'authorization_code' | 'password' | 'client_credentials';
  readonly scopes: string;
  readonly prompt: string;
}

/** What the real request comes to: tokens, the error, and whether the user was asked. */
interface Reality {
  readonly body: Record<string, unknown>;
  readonly error: string | undefined;
  readonly asked: boolean;
}

const sentenceOf = ({ text }: Page): string => {
  const [, sentence = ''] = /<div class="words-part[^"]*">\s*<p>([^<]*)<\/p>/.exec(text) ?? [];
  return sentence;
};

/** A text on the page, parsed. */
function jsonIn({ text }: Page, id: string): Record<string, unknown> | undefined {
  const [, json] = new RegExp(`<pre id="${id}"[^>]*>([^<]*)</pre>`).exec(text) ?? [];
  return json === undefined
    ? undefined
    : JSON.parse(json.replaceAll('&#34;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
}

test('for ten different settings the simulator’s words agree with what a real request then gets', async (t) => {
  const service = await startService(t);
  const made = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await made('POST', '/authorizationServers', { id: 'lab', name: 'Laboratory', audiences: ['api://lab'], signingAlg: 'ES256' });
  for (const consent of ['IMPLICIT', 'REQUIRED', 'FLEXIBLE']) {
    await made('POST', '/authorizationServers/lab/scopes', { name: consent.toLowerCase(), consent });
  }
  for (const claimType of ['IDENTITY', 'RESOURCE']) {
    await made('POST', '/authorizationServers/lab/claims', { name: 'nick', claimType, valueType: 'USER_ATTRIBUTE', value: 'nickName' });
  }
  const empty = { name: 'dep', claimType: 'IDENTITY', valueType: 'USER_ATTRIBUTE', value: 'department' };
  await made('POST', '/authorizationServers/lab/claims', empty);
  const user = await service.createUser({ nickName: 'Lady <b>' });
  const create = async (label: string, settings: Record<string, unknown> = {}): Promise<TestClient> => {
    const client = await service.createApp({
      redirect_uris: [CALLBACK],
      grant_types: GRANTS,
      response_types: ['code', 'token'],
      ...settings,
    });
    const { body } = await service.api('GET', `/apps/${client.clientId}`);
    await made('PUT', `/apps/${client.clientId}`, { ...body, label });
    return client;
  };
  const clients: Record<string, TestClient> = {
    Trusted: await create('Trusted'),
    Asking: await create('Asking', { consent_method: 'REQUIRED' }),
    Closed: await create('Closed', { assignment: 'ASSIGNED' }),
    Narrow: await create('Narrow', { grant_types: ['authorization_code'], response_types: ['code'] }),
  };
  const browser = new UserAgent(service.baseUrl);
  await browser.signIn(await browser.visit(authorizeUrl(service, 'lab', { client_id: clients.Trusted?.clientId })), user);
  const { agent } = await enter(service);

  const simulate = async (question: Question): Promise<Page> => {
    const page = await agent.visit(`${PAGE}?${new URLSearchParams({ ...question })}`);
    assert.equal(page.status, 200, page.text);
    assert.doesNotMatch(page.text, /error-summary/, wordsOf(page));
    return page;
  };

  /** The same request, made. */
  async function make({ application, user: login, grant, scopes, prompt }: Question): Promise<Reality> {
    const client = clients[application] ?? assert.fail(application);
    const scope = scopes === '' ? {} : { scope: scopes };
    const atToken = async (form: Record<string, string>, asked = false): Promise<Reality> => {
      const { status, body } = await post(service, 'lab', 'token', client, form);
      return { body, error: status === 200 ? undefined : body.error, asked };
    };
    if (grant === 'client_credentials') return atToken({ grant_type: grant, ...scope });
    if (grant === 'password') return atToken({ grant_type: grant, username: login, password: user.password, ...scope });
    const parameters = { client_id: client.clientId, scope: scope.scope, prompt: prompt === '' ? undefined : prompt };
    let page = await browser.visit(authorizeUrl(service, 'lab', parameters));
    if (page.text.includes('id="not-assigned"')) page = await browser.submit(page, 'return-form');
    const asked = page.text.includes('id="consent"');
    if (asked) page = await browser.submit(page, 'consent', { decision: 'allow' });
    const { error, code = '' } = answerOf(page);
    if (error !== undefined) return { body: {}, error, asked };
    return atToken({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK }, asked);
  }

  /** Both, compared. @param words that the simulator must say */
  async function compare(question: Partial<Question>, words: RegExp): Promise<Page> {
    const whole: Question = {
      application: 'Trusted',
      user: user.login,
      grant: 'authorization_code',
      scopes: 'openid',
      prompt: '',
      ...question,
    };
    const page = await simulate(whole);
    const told = wordsOf(page);
    const sentence = sentenceOf(page);
    assert.match(sentence, words, told);
    const { body, error, asked } = await make(whole);
    const about = `${JSON.stringify(whole)}: ${sentence}; ${JSON.stringify(body)}`;
    assert.equal(/gets no token/.test(sentence), error !== undefined, about);
    if (error !== undefined) assert.ok(sentence.endsWith(`(${error}).`), `${about} ${error}`);
    assert.equal(/is asked for consent/.test(sentence), asked, about);
    assert.equal(/The consent page asks/.test(told), asked, about);
    for (const [name, kind] of [
      ['an access token', 'access_token'],
      ['an ID token', 'id_token'],
      ['a refresh token', 'refresh_token'],
    ] as const) {
      assert.equal(sentence.includes(name), body[kind] !== undefined, `${name}: ${about}`);
    }
    const lasting = (token: unknown, wanted: Record<string, unknown> | undefined) =>
      assert.deepEqual(
        token === undefined
          ? undefined
          : Object.fromEntries(Object.keys(wanted ?? {}).map((name) => [name, decodeJwt(String(token))[name]])),
        wanted,
        about,
      );
    lasting(body.access_token, jsonIn(page, 'access-token'));
    lasting(body.id_token, jsonIn(page, 'id-token'));
    if (body.access_token !== undefined && whole.grant !== 'client_credentials') {
      const answer = await userinfo(service, 'lab', String(body.access_token));
      assert.deepEqual(answer.status === 200 ? answer.body : undefined, jsonIn(page, 'userinfo'), about);
    }
    if (body.access_token !== undefined) {
      assert.match(
        told,
        new RegExp(`Access token ${Number(body.expires_in) === 3600 ? '1 hour' : `${Number(body.expires_in) / 60} minutes`} `),
        about,
      );
    }
    return page;
  }

  // 1: what is allowed to all.
  const first = await compare({ scopes: 'openid profile' }, /^“Trusted” gets an access token and an ID token for “user-/);
  assert.equal(jsonIn(first, 'userinfo')?.nick, 'Lady <b>');
  assert.match(
    wordsOf(first),
    /nick Access token Included\. .*nick ID token Included\. .*dep ID token Left out: this user has no value\. .*groups ID token Left out: none of its scopes is granted\./,
  );
  assert.match(
    wordsOf(first),
    /The rule “Rule 0” of the access policy “Policy 0” allows it|The rule “Everyone” of the access policy “Everything” allows it/,
  );
  // 2: a scope that needs consent, at a trusted application.
  assert.match(wordsOf(await compare({ scopes: 'openid required' }, /^“Trusted” gets/)), /No consent page: the application is trusted/);
  // 3: … at one that asks.
  const asking = { application: 'Asking', scopes: 'openid required flexible offline_access' };
  await compare(
    asking,
    /is asked for consent to “required” and “flexible”; having allowed it, “Asking” gets an access token, an ID token and a refresh token/,
  );
  // 4: … asked once, and not again.
  assert.match(wordsOf(await compare(asking, /^“Asking” gets/)), /No consent page: the user allowed all of it before/);
  // 5: … unless the request says so.
  assert.match(wordsOf(await compare({ ...asking, prompt: 'consent' }, /is asked for consent/)), /the request says prompt=consent/);
  // 6: … and nobody may be asked.
  await made('DELETE', `/users/${user.id}/grants`);
  await compare({ ...asking, prompt: 'none' }, /must consent, but the request has prompt=none \(consent_required\)/);
  // 7: the application is for others.
  await compare({ application: 'Closed', prompt: 'none' }, /“Closed” is not assigned to “user-\w+” \(access_denied\)/);
  await made('PUT', `/apps/${clients.Closed?.clientId}/users/${user.id}`);
  assert.match(
    wordsOf(await compare({ application: 'Closed' }, /^“Closed” gets/)),
    /“Closed” is assigned to “user-\w+”, directly or by a group/,
  );
  // 8: a grant that the application may not use.
  await compare({ application: 'Narrow', grant: 'password' }, /may not use this grant.*\(unauthorized_client\)/);
  // 9: a scope that nobody can be asked for, and one that does not exist.
  const machine = { grant: 'client_credentials', user: '' } as const;
  await compare(
    { ...machine, scopes: 'required nothing' },
    /the scopes “required” and “nothing” do not exist here, or cannot be granted in this way \(invalid_scope\)/,
  );
  await compare({ ...machine, scopes: 'implicit' }, /^“Trusted” gets an access token in its own name/);
  // 10: policies and rules passed over, and lifetimes of the rule that fits.
  await setPolicies(service, 'lab', [
    { clients: [clients.Narrow?.clientId ?? ''], rules: [{}] },
    {
      rules: [
        { conditions: { grantTypes: { include: ['password'] } }, actions: { token: { accessTokenLifetimeMinutes: 7 } } },
        { conditions: { people: { users: { include: [] } } } },
        { conditions: { scopes: { include: ['openid'] } }, actions: { token: { accessTokenLifetimeMinutes: 3 } } },
      ],
    },
  ]);
  const passed = wordsOf(await compare({}, /^“Trusted” gets/));
  assert.match(
    passed,
    /Policy 0 – Skipped: it is for other applications\. Policy 1 – It applies to this application, so its rules decide\. Policy 1 Rule 0 Skipped: it is for other grants\. Policy 1 Rule 1 Skipped: it is for other users\. Policy 1 Rule 2 It matches and grants access\./,
  );
  await compare({ grant: 'password', scopes: 'profile' }, /^“Trusted” gets an access token for/);
  const denied = wordsOf(
    await compare({ scopes: 'openid profile' }, /no active rule of the access policy “Policy 1” matches \(access_denied\)/),
  );
  assert.match(
    denied,
    /Rule 2 Skipped: the request is also for scopes that it does not name\. Policy 1 – None of its active rules matches/,
  );
  // And a server, an application and a user that are out of work.
  await made('POST', `/users/${user.id}/lifecycle/suspend`);
  await compare({ grant: 'password', scopes: 'openid' }, /the user is SUSPENDED \(invalid_grant\)/);
});

test('the simulator tells what is wrong with a question, keeps it, and is of use to who may only read', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', { id: 'lab', name: 'Laboratory', signingAlg: 'ES256' });
  const { clientId } = await service.createApp({ redirect_uris: [CALLBACK] });
  await service.createApp({ redirect_uris: [CALLBACK] });
  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const { agent } = await enter(service, reader);
  assert.match((await agent.visit(PAGE)).text, /<form class="query" id="query" method="get"/);
  const ask = (question: Record<string, string>) => agent.visit(`${PAGE}?${new URLSearchParams(question)}`);
  const problem = ({ text }: Page, field: string) => new RegExp(`id="${field}-problem">([^<]*)<`).exec(text)?.[1];

  assert.equal(problem(await ask({ application: '' }), 'application'), 'Is required');
  assert.match(problem(await ask({ application: 'Test application' }), 'application') ?? '', /^Matches several/);
  const nobody = await ask({ application: clientId, user: 'nobody <b>', grant: 'password', scopes: 'openid <i>' });
  assert.equal(problem(nobody, 'user'), 'Does not exist here');
  assert.match(nobody.text, /type="checkbox" value="&lt;i&gt;" checked/);
  assert.match(nobody.text, new RegExp(`<option value="${clientId}" selected>`));
  assert.match(nobody.text, /<option value="password" selected>/);
  assert.match(
    problem(await ask({ application: clientId, grant: 'client_credentials', user: reader.login }), 'user') ?? '',
    /cannot be used/i,
  );
  assert.match(
    problem(await ask({ application: clientId, grant: 'password', user: reader.login, prompt: 'none' }), 'prompt') ?? '',
    /cannot be used/i,
  );
  const unprintable = await ask({ application: clientId, user: 'a\u0000', grant: 'password', scopes: '\u0000' });
  assert.equal(problem(unprintable, 'user'), 'Is required', 'what can be nobody’s name is none');
  const byName = await ask({ application: clientId, user: reader.login.slice(0, -2), grant: 'password' });
  assert.match(byName.text, new RegExp(`<option value="${reader.id}" selected>`), 'the beginning of a name is enough');
  const fine = await ask({ application: clientId, user: reader.login, grant: 'anything', scopes: ' openid   profile ' });
  assert.match(sentenceOf(fine), /gets an access token and an ID token/);
  const before = (await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body;
  await ask({ application: clientId, user: reader.login, scopes: 'openid' });
  assert.deepEqual((await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body, before, 'nothing happens');
  assert.equal((await agent.visit('/admin/api/servers/none/simulator')).status, 404);
  assert.match(
    wordsOf(await agent.visit(`/admin/api/servers/built-in/simulator?application=${clientId}&user=${reader.login}`)),
    /no scope was requested/,
  );
});
