/** Security → Identity providers, without JavaScript: each kind is added, changed, switched off and on, deleted, with its effect on the sign-in page and on users. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAdministrator, createOrganization, enter, SUPER, typedIn, wordsOf } from '../../pages/console/administrators.ts';
import { type Service, startService } from '../../support/service.ts';
import { CLIENT, startUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

const HOME = '/admin/security/identity-providers';

const idIn = (page: Page): string => /\/identity-providers\/(idp_\w+)/.exec(page.url.pathname)?.[1] ?? assert.fail(page.text);
const offered = async (service: Service): Promise<string> => (await new UserAgent(service.baseUrl).visit('/signin')).text;

/** The newest event of a type. */
async function lastEvent(service: Service, type: string) {
  const { body } = await service.api('GET', `/logs?sortOrder=DESCENDING&filter=${encodeURIComponent(`eventType eq "${type}"`)}`);
  return body[0];
}

test('an OpenID provider is added with the redirect URI that the form told, and people sign in with it and become members', async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true' } });
  const upstream = await startUpstream(t);
  const orgId = await createOrganization(service, 'Fern');
  const { id: groupId } = (await service.api('POST', '/groups', { profile: { name: 'Guests' } })).body;
  const { agent } = await enter(service);
  const empty = await agent.visit(HOME);
  assert.match(wordsOf(empty), /There is no identity provider yet/);
  const kinds = await agent.visit(`${HOME}/new`);
  assert.match(wordsOf(kinds), /OpenID Connect.*Google.*GitHub.*Microsoft/);
  const form = await agent.visit(`${HOME}/new/oidc`);
  const [, redirectUri = ''] = /<code id="copy-0">([^<]*)</.exec(form.text) ?? [];
  const created = await agent.submit(form, 'console-form', {
    name: 'Upstream & <Co>',
    issuer: upstream.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    provisioning: 'AUTO',
    orgId,
    groups: 'Guests',
    emailDomains: 'example.com\n\n example.org ',
  });
  assert.match(wordsOf(created), /The identity provider is added/);
  assert.ok(created.text.includes(redirectUri), 'it has the redirect URI that was told before it was there');
  assert.doesNotMatch(created.text, new RegExp(CLIENT.secret));
  const idp = (await service.api('GET', `/idps/${idIn(created)}`)).body;
  assert.equal(idp._links.clientRedirectUri.href, redirectUri);
  assert.deepEqual(idp.policy.subject.emailDomains, ['example.com', 'example.org']);
  assert.deepEqual(idp.policy.provisioning, {
    ...{ action: 'AUTO', orgId, profileMaster: false },
    groups: { action: 'ASSIGN', assignments: [groupId] },
  });
  assert.equal((await lastEvent(service, 'system.idp.lifecycle.create')).actor.displayName, SUPER.login);

  assert.match(await offered(service), /Sign in with Upstream &amp; &lt;Co&gt;/);
  const browser = new UserAgent(service.baseUrl);
  let page = await browser.visit(`/signin/upstream/${idp.id}`);
  const answer = await fetch(page.url, { redirect: 'manual' });
  page = await browser.visit(answer.headers.get('location') ?? '');
  const [, on = ''] = /(?:href|content)="(?:0;\s*url=)?(\/[^"]*upstream[^"]*)"/.exec(page.text) ?? [];
  if (on !== '') await browser.visit(on.replaceAll('&amp;', '&'));
  const { body: members } = await service.api('GET', `/groups/${groupId}/users`);
  assert.deepEqual(
    members.map(({ profile }: { profile: { login: string } }) => profile.login),
    ['ada@example.com'],
  );
  const users = await agent.visit(`${HOME}/${idp.id}/users`);
  assert.match(wordsOf(users), /ada@example\.com subject-1/);
});

test('what is wrong stands beside its field, what was typed stays but for the secret, and nothing was made', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new/oidc`);
  const sent = await agent.submit(form, 'console-form', {
    name: '',
    issuer: 'http://accounts.example',
    clientId: 'typed before',
    clientSecret: 'secret typed before',
    token: 'https://accounts.example/token',
    emailDomains: 'not a domain',
    attributeMap: 'x y = shoe_size',
    parameters: 'state = mine',
    clockSkew: '301',
  });
  assert.equal(sent.status, 400);
  for (const [field, problem] of [
    ['name', 'Must not be empty'],
    ['issuer', 'Must use https, or http on a loopback address'],
    ['emailDomains', 'Must be a domain, such as example\\.com \\(entry 1\\)'],
    ['attributeMap', '“x y” must be the name of an attribute'],
    ['parameters', '“state” is set by the service. Remove it'],
    ['clockSkew', 'Must be at most 300 seconds'],
  ]) {
    assert.match(sent.text, new RegExp(`id="${field}-problem">${problem}<`), `${field}: ${sent.text.match(/class="problem"[^<]*<?/g)}`);
  }
  assert.equal(typedIn(sent, 'clientId'), 'typed before');
  assert.match(sent.text, /not a domain<\/textarea>/);
  assert.doesNotMatch(sent.text, /secret typed before/);
  assert.equal(/<code id="copy-0">([^<]*)</.exec(sent.text)?.[1], /<code id="copy-0">([^<]*)</.exec(form.text)?.[1], 'it stays registered');

  const unknown = await agent.submit(form, 'console-form', {
    ...{ name: 'A', issuer: 'https://accounts.example', clientId: 'x', clientSecret: 'y' },
    ...{ groups: 'no group of that name', linkGroups: '', attributeMap: 'no equals sign' },
  });
  assert.match(unknown.text, /id="groups-problem">Does not exist here</);
  const pair = await agent.submit(form, 'console-form', {
    ...{ name: 'A', issuer: 'https://accounts.example', clientId: 'x', clientSecret: 'y', attributeMap: 'no equals sign' },
  });
  assert.match(pair.text, /id="attributeMap-problem">Must be written as “name = value”: no equals sign</);
  const half = await agent.submit(form, 'console-form', {
    ...{ name: 'A', issuer: 'https://accounts.example', clientId: 'x', clientSecret: 'y', token: 'https://accounts.example/token' },
  });
  assert.match(half.text, /id="authorization-problem">Is required if endpoints is set</);
  assert.deepEqual((await service.api('GET', '/idps')).body, []);
  assert.equal((await agent.visit(`${HOME}/new/saml`)).status, 404);
});

test('the form sent twice makes one provider', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new/github`);
  const typed = { clientId: 'x', clientSecret: 'y' };
  const [first, again] = await Promise.all([agent.submit(form, 'console-form', typed), agent.submit(form, 'console-form', typed)]);
  for (const page of [first, again]) assert.match(wordsOf(page), /The identity provider is added/);
  assert.equal(first.url.pathname, again.url.pathname);
  const renamed = await agent.submit(form, 'console-form', { ...typed, name: 'GitHub again' });
  assert.equal(renamed.status, 400);
  assert.match(wordsOf(renamed), /This form was already processed with other values/);
  const anew = await agent.submit(await agent.visit(`${HOME}/new/github`), 'console-form', typed);
  assert.match(anew.text, /id="name-problem">Another identity provider has this name. Choose another name</);
  assert.equal((await service.api('GET', '/idps')).body.length, 1);
});

test('Google, GitHub and Microsoft need no more than what they gave', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  for (const [type, name, registered] of [
    ['google', 'Google', /Authorized redirect URIs/],
    ['github', 'GitHub', /Authorization callback URL/],
    ['microsoft', 'Microsoft', /platform “Web”/],
  ] as const) {
    const form = await agent.visit(`${HOME}/new/${type}`);
    assert.match(wordsOf(form), registered);
    const [, redirectUri] = /<code id="copy-0">([^<]*)</.exec(form.text) ?? [];
    const created = await agent.submit(form, 'console-form', { clientId: 'of mine', clientSecret: 'kept' });
    assert.match(created.text, new RegExp(`<h1 dir="auto">${name}</h1>`));
    const { body } = await service.api('GET', `/idps/${idIn(created)}`);
    assert.equal(body._links.clientRedirectUri.href, redirectUri, 'it was told before the provider was saved');
    const { body: plain } = await service.api('POST', '/idps', {
      ...{ name: `${name} by API`, type: type.toUpperCase() },
      protocol: { credentials: { client: { client_id: 'of mine', client_secret: 'kept' } } },
    });
    assert.deepEqual([body.protocol, body.policy], [plain.protocol, plain.policy], 'the form’s defaults are those of the API');
  }
});

test('a provider is changed, its secret kept or replaced; it is switched off and on, and deleted', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new/google`);
  const created = await agent.submit(form, 'console-form', { clientId: 'old', clientSecret: 'kept' });
  const at = `${HOME}/${idIn(created)}`;
  const edit = await agent.visit(`${at}/edit`);
  assert.equal(typedIn(edit, 'clientId'), 'old');
  const changed = await agent.submit(edit, 'console-form', { clientId: 'new', name: 'Workspace', parameters: 'hd = example.com' });
  assert.match(wordsOf(changed), /The identity provider is changed.*Client ID new/);
  const { body } = await service.api('GET', `/idps/${idIn(created)}`);
  assert.deepEqual([body.name, body.protocol.settings.authorizationParameters], ['Workspace', { hd: 'example.com' }]);
  const event = await lastEvent(service, 'system.idp.lifecycle.update');
  assert.deepEqual(
    [event.debugContext.before.name, event.debugContext.after.name, event.debugContext.after.clientSecretReplaced],
    ['Google', 'Workspace', undefined],
  );
  const elsewhere = await agent.submit(await agent.visit(`${at}/edit`), 'console-form', { issuer: 'https://other.example' });
  assert.match(elsewhere.text, /id="clientSecret-problem">Is required when the issuer or the token endpoint changes</);

  assert.match(await offered(service), /Sign in with Workspace/);
  const off = await agent.submit(await agent.visit(`${at}/deactivate`), 'console-form');
  assert.match(wordsOf(off), /Inactive.*Nobody signs in with it/);
  assert.doesNotMatch(off.text, /signin\/upstream/, 'there is nothing to try');
  assert.doesNotMatch(await offered(service), /Workspace/);
  await agent.submit(await agent.visit(`${at}/activate`), 'console-form');
  assert.match(await offered(service), /Workspace/);
  const question = await agent.visit(`${at}/delete`);
  assert.match(wordsOf(question), /Delete “Workspace”\?.*This cannot be undone/);
  assert.match(wordsOf(await agent.submit(question, 'console-form')), /is deleted.*There is no identity provider yet/);
  assert.equal((await agent.visit(at)).status, 404);
});

test('users are linked by hand and unlinked; the list has pages', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const created = await agent.submit(await agent.visit(`${HOME}/new/github`), 'console-form', { clientId: 'x', clientSecret: 'y' });
  const at = `${HOME}/${idIn(created)}/users`;
  assert.match(wordsOf(await agent.visit(at)), /Nobody is linked yet/);
  const [ada, bob] = [await service.createUser(), await service.createUser()];
  const form = await agent.visit(`${at}/new`);
  const unknown = await agent.submit(form, 'console-form', { login: 'nobody', externalId: '42' });
  assert.match(unknown.text, /id="login-problem">Does not exist here</);
  assert.equal(typedIn(unknown, 'externalId'), '42');
  const linked = await agent.submit(unknown, 'console-form', { login: ada.login });
  assert.match(wordsOf(linked), new RegExp(`The user is linked.*${ada.login} 42`));
  const taken = await agent.submit(form, 'console-form', { login: bob.login, externalId: '42' });
  assert.match(taken.text, /id="externalId-problem">Is already linked to another user/);
  const event = await lastEvent(service, 'user.identity_provider.link');
  assert.deepEqual([event.actor.displayName, event.target[0].id], [SUPER.login, ada.id]);
  for (let n = 0; n < 20; n += 1) {
    const { id } = await service.createUser();
    assert.ok((await service.api('POST', `/idps/${idIn(created)}/users/${id}`, { externalId: `p${n}` })).status < 300);
  }
  const first = await agent.visit(at);
  const [, next = ''] = /rel="next" href="([^"]*)"/.exec(first.text) ?? [];
  const second = await agent.visit(next.replaceAll('&amp;', '&'));
  assert.match(wordsOf(first), /21 users.*p19.*p0/, 'the newest first');
  assert.match(wordsOf(second), new RegExp(`${ada.login} 42`));
  assert.doesNotMatch(wordsOf(second), /p0 /);
  const gone = await agent.submit(await agent.visit(`${at}/${ada.id}/unlink`), 'console-form');
  assert.match(wordsOf(gone), /The user is no longer linked/);
  assert.equal((await service.api('GET', `/idps/${idIn(created)}/users/${ada.id}`)).status, 404);
  assert.equal((await agent.visit(`${at}/${ada.id}/unlink`)).status, 404);
});

test('the list is searched by the beginning of the name and by kind', async (t) => {
  const service = await startService(t);
  const protocol = { credentials: { client: { client_id: 'x', client_secret: 'y' } } };
  for (const [name, type] of [
    ['Acme <Google>', 'GOOGLE'],
    ['Acme GitHub', 'GITHUB'],
    ['Other', 'GOOGLE'],
  ]) {
    assert.ok((await service.api('POST', '/idps', { name, type, protocol })).status < 300);
  }
  const { agent } = await enter(service);
  const rows = async (query: string) =>
    [...(await agent.visit(`${HOME}?${query}`)).text.matchAll(/scope="row"><a[^>]*><bdi>([^<]*)</g)].map(([, name]) => name);
  assert.deepEqual(await rows('q=acme'), ['Acme GitHub', 'Acme &lt;Google&gt;']);
  assert.deepEqual(await rows('type=GOOGLE'), ['Other', 'Acme &lt;Google&gt;']);
  assert.deepEqual(await rows('q=Acme&type=GITHUB'), ['Acme GitHub']);
  for (const query of ['q=%00', 'q=%F0%9F%94%91', `q=${'x'.repeat(10_000)}`, 'type=SAML&q=nothing']) {
    const page = await agent.visit(`${HOME}?${query}`);
    assert.equal(page.status, 200, query);
    assert.match(wordsOf(page), /No identity providers match/, query);
  }
});

test('who may only read sees providers, and no way to change them', async (t) => {
  const service = await startService(t);
  const protocol = { credentials: { client: { client_id: 'x', client_secret: 'y' } } };
  const { id } = (await service.api('POST', '/idps', { name: 'Google', type: 'GOOGLE', protocol })).body;
  const { agent } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  for (const path of [HOME, `${HOME}/${id}`, `${HOME}/${id}/users`]) {
    const page = await agent.visit(path);
    assert.equal(page.status, 200, path);
    assert.doesNotMatch(page.text, /\/(new|edit|activate|deactivate|delete|unlink)"/, path);
  }
  for (const path of [`${HOME}/new`, `${HOME}/new/oidc`, `${HOME}/${id}/edit`, `${HOME}/${id}/users/new`]) {
    assert.equal((await agent.visit(path)).status, 403, path);
  }
});
