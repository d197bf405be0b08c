/** Menu API, then Token, then create token (identity-service.md, "Authentication", 6), without JavaScript. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, createToken, enter, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { afterwards } from '../../support/afterwards.ts';
import { emptyDatabase, onServer } from '../../support/database.ts';
import { runService } from '../../support/process.ts';
import { newSecretKey, startService } from '../../support/service.ts';

const call = (listensAt: string, token: string) =>
  fetch(`${listensAt}/api/v1/account/org`, { headers: { authorization: `SSWS ${token}` } });

test('sign in, API, Token, Create token: the token works at once, and is refused from the call after its revocation on', async (t) => {
  const service = await startService(t);
  const { agent, page } = await enter(service);
  assert.equal(page.url.pathname, '/admin');
  assert.match(page.text, /<a href="\/admin\/api\/tokens">(?:<svg[\s\S]*?<\/svg>)?Tokens<\/a>/);
  const list = await agent.visit('/admin/api/tokens');
  assert.match(list.text, /<a class="button main" href="\/admin\/api\/tokens\/new">(?:<svg[\s\S]*?<\/svg>)?Create token<\/a>/);

  const { page: created, token } = await createToken(agent, 'Nightly <import> & más');
  assert.equal(created.status, 200);
  assert.match(created.headers.get('cache-control') ?? '', /no-store/);
  assert.match(created.text, /Nightly &lt;import&gt; &amp; más/);
  assert.ok(created.text.includes(`curl &#39;${service.baseUrl}/api/v1/account/org&#39;`), 'and how to use it');
  assert.equal((await call(service.baseUrl, token)).status, 200);

  const again = await agent.visit('/admin/api/tokens');
  assert.match(again.text, /Nightly &lt;import&gt; &amp; más/);
  assert.ok(!again.text.includes(token), 'it is shown once');
  const revoke = /href="(\/admin\/api\/tokens\/tok_\w+\/revoke)"(?:(?!<\/a>)[\s\S])*Nightly/.exec(again.text)?.[1] ?? '';
  const revoked = await agent.submit(await agent.visit(revoke), 'console-form');
  assert.equal(revoked.url.pathname, '/admin/api/tokens');
  assert.match(wordsOf(revoked), /The token is revoked/);
  assert.doesNotMatch(revoked.text, /Nightly/);
  assert.equal((await call(service.baseUrl, token)).status, 401);
  assert.equal((await agent.visit(revoke)).status, 404, 'it is not there a second time');
});

test('a form posted twice makes one token and is answered the same; with other values it is a form again (Idempotency-Key, section 2)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/api/tokens/new');
  const submit = (name: string) => agent.submit(form, 'console-form', { name, expires: 'never' });
  const answers = await Promise.all(Array.from({ length: 8 }, () => submit('Once')));
  const told = new Set(answers.map(({ text }) => /id="token-value"[^>]*value="([^"]*)"/.exec(text)?.[1]));
  assert.equal(told.size, 1, 'one value');
  assert.equal((await agent.visit('/admin/api/tokens')).text.match(/<bdi>Once<\/bdi>/g)?.length, 1);

  const changed = await submit('Twice');
  assert.equal(changed.status, 400);
  assert.match(wordsOf(changed), /This form was already processed with other values/);
  assert.equal(typedIn(changed, 'name'), 'Twice');
  const second = await agent.submit(changed, 'console-form', { name: 'Twice', expires: 'never' });
  assert.match(wordsOf(second), /Token created/);
});

test('what is wrong stands beside its field, and what was typed is kept (WCAG 2.2, 3.3.1)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const page = await agent.visit('/admin/api/tokens/new');
  for (const [name, problem] of [
    ['   ', 'must not be empty'],
    ['x'.repeat(10_000), 'must have at most 255 characters'],
    ['line\u0007bell', 'must not contain control characters'],
  ] as const) {
    const answer = await agent.submit(page, 'console-form', { name, expires: '30' });
    assert.equal(answer.status, 400);
    assert.match(answer.text, /<title>Error: Create token/);
    assert.ok(answer.text.includes(`<p class="problem" id="name-problem">${problem.replace('must', 'Must')}</p>`), problem);
    assert.ok(answer.text.includes(`<a href="#name">Name: ${problem}</a>`));
    assert.equal(typedIn(answer, 'name'), name);
    assert.match(answer.text, /<option value="30" selected>/);
  }
  const answer = await agent.submit(page, 'console-form', { name: 'fine', expires: 'tomorrow' });
  assert.match(answer.text, /id="expires-problem">Must be 30 or 90 or 365 or never/);
  assert.match((await agent.visit('/admin/api/tokens')).text, /ADMIN_API_TOKEN/);
  assert.doesNotMatch((await agent.visit('/admin/api/tokens')).text, /fine/, 'nothing was half done');
});

test('names in any script, with markup and directions, are shown as they are (WHATWG HTML, the bdi element)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  for (const name of ['<script>alert(1)</script>', 'رمز الاستيراد', '"quoted" \u202e reversed', '&amp;']) {
    const { page, token } = await createToken(agent, name);
    assert.match(token, /^[\w-]{43}$/, page.text);
    const escaped = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
    assert.ok((await agent.visit('/admin/api/tokens')).text.includes(`>${escaped}</bdi>`), name);
  }
});

test('tokens come in pages; an expired one says so; each administrator sees his own, those of the whole service all', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const [orgAdmin, reader] = [
    await createAdministrator(service, 'ORG_ADMIN', orgId),
    await createAdministrator(service, 'READ_ONLY_ADMIN'),
  ];
  for (let n = 1; n <= 22; n += 1) await service.api('POST', '/api-tokens', { name: `Token ${n}` });
  const { agent: theirs } = await enter(service, orgAdmin);
  const { page: told } = await createToken(theirs, 'Mine alone');
  assert.match(wordsOf(told), /Token created/);
  const own = wordsOf(await theirs.visit('/admin/api/tokens'));
  assert.match(own, /Mine alone/);
  assert.doesNotMatch(own, /Token 1|Owner/);

  await onServer(service.database.url, (client) =>
    client.query(`UPDATE api_tokens SET expires_at = '2026-01-02T03:04Z' WHERE name = 'Token 3'`),
  );
  const { agent } = await enter(service, reader);
  const first = await agent.visit('/admin/api/tokens');
  assert.match(wordsOf(first), new RegExp(`24 tokens Name Type Owner.*Mine alone API ${orgAdmin.login}.*Token 22`));
  assert.doesNotMatch(first.text, /\/revoke/, 'he sees all, and revokes none of theirs');
  const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1] ?? '';
  const second = await agent.visit(next);
  assert.match(wordsOf(second), /Token 3 API admin .* 2 Jan 2026, 03:04 UTC expired .*ADMIN_API_TOKEN API admin .*Page 2 of 2/);
  assert.doesNotMatch(second.text, /rel="next"/);
  const { token } = await createToken(agent, 'Reading');
  assert.equal((await call(service.baseUrl, token)).status, 200, 'with rights of his own');
  const created = await fetch(`${service.baseUrl}/api/v1/account/org`, {
    method: 'POST',
    headers: { authorization: `SSWS ${token}`, 'content-type': 'application/json' },
    body: '{"orgName":"x"}',
  });
  assert.equal(created.status, 403, 'and no more than his');
});

test('another’s token: unknown to whoever may not see it, refused to whoever may not revoke it', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const { body } = await service.api('POST', '/api-tokens', { name: 'Not yours' });
  for (const [type, org, status] of [
    ['ORG_ADMIN', orgId, 404],
    ['READ_ONLY_ADMIN', undefined, 403],
  ] as const) {
    const { agent } = await enter(service, await createAdministrator(service, type, org));
    assert.equal((await agent.visit(`/admin/api/tokens/${body.id}/revoke`)).status, status);
    const form = await agent.visit('/admin/api/tokens/new');
    const forged = {
      ...form,
      url: new URL(`${service.baseUrl}/admin`),
      text: form.text.replace('/admin/api/tokens/new', `/admin/api/tokens/${body.id}/revoke`),
    };
    assert.equal((await agent.submit(forged, 'console-form')).status, status, 'posted all the same');
  }
  assert.equal((await call(service.baseUrl, body.token)).status, 200, 'it lives');
});

test('no token is in an address, in the log or in the audit trail, nor is what the console keeps (RFC 9700 section 4.2.4)', async (t) => {
  const database = await emptyDatabase();
  afterwards(t, () => database.drop());
  const service = await runService(t, { DATABASE_URL: database.url, SECRET_KEY: newSecretKey(), LOG_LEVEL: 'trace' });
  const { agent } = await enter(service);
  const { page, token } = await createToken(agent, 'Silent');
  assert.match(token, /^[\w-]{43}$/, page.text);
  assert.ok(!page.url.href.includes(token));
  for (const link of page.text.matchAll(/(?:href|action|src)="([^"]*)"/g)) assert.ok(!link[1]?.includes(token), link[1]);
  const events = JSON.stringify((await service.api('GET', '/logs?limit=200')).body);
  assert.match(events, /system\.api_token\.create/);
  assert.ok(!events.includes(token));

  const kept = agent.cookie('gatehouse-console') ?? '';
  assert.notEqual(kept, '');
  const refused = await agent.visit(`/admin/callback?code=a-code-nobody-may-read&state=${'s'.repeat(43)}`);
  assert.equal(refused.status, 400);
  await agent.submit(await agent.visit('/admin'), 'sign-out-form');
  await service.stop();
  const log = service.output.stdout + service.output.stderr;
  assert.match(log, /"path":"\/admin\/api\/tokens\/new"/, 'it does log');
  for (const secret of [token, kept, 'a-code-nobody-may-read', 'id_token_hint']) assert.ok(!log.includes(secret), secret);
});

test('a SCIM token is made for an organization; who administers one alone binds it to that one', async (t) => {
  const service = await startService(t);
  const [acme, other] = [await createOrganization(service, 'Acme'), await createOrganization(service, 'Other')];
  const listed = async (token: string) => {
    const response = await fetch(`${service.baseUrl}/scim/v2/Users`, { headers: { authorization: `Bearer ${token}` } });
    return response.status === 200 ? ((await response.json()) as { totalResults: number }).totalResults : response.status;
  };
  const valueIn = (text: string): string => /id="token-value"[^>]*value="([^"]*)"/.exec(text)?.[1] ?? '';
  const { agent } = await enter(service);
  const form = await agent.visit('/admin/api/tokens/new');
  const made = await agent.submit(form, 'console-form', { name: 'Entra', type: 'SCIM', orgId: acme, expires: '365' });
  assert.ok(made.text.includes(`${service.baseUrl}/scim/v2`), made.text);
  assert.equal(await listed(valueIn(made.text)), 0);
  assert.equal((await call(service.baseUrl, valueIn(made.text))).status, 401);
  assert.match(wordsOf(await agent.visit('/admin/api/tokens')), /Entra SCIM: Acme/);

  const administrator = await createAdministrator(service, 'ORG_ADMIN', acme);
  const { agent: theirs } = await enter(service, administrator);
  const page = await theirs.visit('/admin/api/tokens/new');
  assert.doesNotMatch(page.text, /The whole service/);
  const attempts = [
    ['', 'Is required'],
    [other, 'Does not exist here'],
  ] as const;
  for (const [orgId, problem] of attempts) {
    const answer = await theirs.submit(page, 'console-form', { name: 'Mine', type: 'SCIM', orgId, expires: '30' });
    assert.equal(answer.status, 400);
    assert.ok(answer.text.includes(`<p class="problem" id="orgId-problem">${problem}</p>`), answer.text);
  }
  const { token: api } = await createToken(theirs, 'Calls');
  const byApi = async (body: object) => {
    const headers = { authorization: `SSWS ${api}`, 'content-type': 'application/json' };
    const answer = await fetch(`${service.baseUrl}/api/v1/api-tokens`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ name: 'x', ...body }),
    });
    return answer.status;
  };
  assert.deepEqual(
    [await byApi({ type: 'SCIM' }), await byApi({ type: 'SCIM', orgId: other }), await byApi({ type: 'SCIM', orgId: acme })],
    [403, 400, 200],
  );
  const own = valueIn((await theirs.submit(page, 'console-form', { name: 'Mine', type: 'SCIM', orgId: acme, expires: '30' })).text);
  assert.equal(await listed(own), 0);
  assert.equal((await service.api('DELETE', `/users/${administrator.id}/roles/${administrator.roleId}`)).status, 204);
  assert.equal(await listed(own), 401, 'and it ends with the role');
});
