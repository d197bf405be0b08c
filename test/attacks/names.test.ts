/**
 * Names that pass for others (OWASP ASVS 5.0 V6.2.8, V11; RFC 9700 section 4.15; Unicode Technical Standard #39; CVE-2019-19844 and its kind): nobody is taken
 * for somebody else because what he is called looks, or folds, like the other.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient, post } from '../protocol/servers/relying-party.ts';
import { startMailServer } from '../support/mail.ts';
import { eventually } from '../support/process.ts';
import { scimClient, USER } from '../support/scim.ts';
import { startService } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

/** Folds to the same letters in one program and not in another: the Kelvin sign, the dotless i, the long s, full width, a ligature. */
const LOOKALIKES: readonly [name: string, like: string][] = [
  ['mi\u212ae', 'mike'],
  ['m\u0131ke', 'mike'],
  ['mike\u200b', 'mike'],
  ['\ufeffmike', 'mike'],
  ['mi\u00adke', 'mike'],
  ['mi\u2060ke', 'mike'],
  ['mike\u3164', 'mike'],
  ['mike\u00a0', 'mike'],
  ['mi\u202eek', 'mike'],
  ['\uff4dike', 'mike'],
  ['jose\u0301', 'jos\u00e9'],
  ['MIKE', 'mike'],
];

test('what users read of an application and of what it asks for cannot rearrange the sentence around it (Unicode Technical Report #36)', async (t) => {
  const service = await startService(t);
  const client = await createClient(service);
  const scope = { name: 'read', description: 'Reads', consent: 'REQUIRED' };
  for (const character of ['\u202e', '\u2066', '\u200f', '\u061c', '\u2028']) {
    const text = `Harm${character}less`;
    const renamed = await service.api('PUT', `/apps/${client.clientId}`, { label: text });
    assert.deepEqual([renamed.status, renamed.body.errorCauses?.[0]?.errorSummary.split(':')[0]], [400, 'label'], JSON.stringify(text));
    for (const field of ['displayName', 'description'])
      assert.equal((await service.api('POST', '/authorizationServers/default/scopes', { ...scope, [field]: text })).status, 400, field);
    assert.equal((await service.api('PUT', '/settings/branding', { name: text })).status, 400);
  }
  const emoji = { ...scope, displayName: 'Forscherin \u{1f469}\u200d\u{1f52c} \u05e9\u05dc\u05d5\u05dd' };
  assert.equal((await service.api('POST', '/authorizationServers/default/scopes', emoji)).status, 201);
});

/** What mail servers read as something else: an encoded word, dots and letters that are mapped, an escape, a number, the root's dot. */
const OTHER_SPELLINGS = [
  ...['=?utf-8?q?mike?=@corp.example', 'mike@evil\u3002example', 'mike@\uff45vil.example', 'mike@ev\u0131l%2eexample'],
  ...['mike@127.1', 'mike@corp.example.'],
];

test('another spelling of a mailbox is no address of a user, by whatever way it comes (RFC 5891 section 5.3, RFC 2047)', async (t) => {
  const service = await startService(t);
  const { id } = await service.createUser({ email: 'mike@corp.example' });
  const scim = await scimClient(service);
  for (const address of OTHER_SPELLINGS) {
    for (const field of ['email', 'secondEmail'])
      for (const path of ['/users', `/users/${id}`]) {
        const { status, body } = await service.api('POST', path, { profile: { login: 'other', [field]: address } });
        assert.equal(status, 400, `${path} ${field} ${address}`);
        assert.match(body.errorCauses[0].errorSummary, new RegExp(`^profile\\.${field}: must be in its normal form`));
      }
    const answer = await scim.call('POST', '/Users', { schemas: [USER], userName: 'other', emails: [{ value: address }] });
    assert.equal(answer.status, 400, address);
    assert.match(answer.body.detail, /must be in its normal form/);
  }
  assert.equal((await service.api('GET', `/users/${id}`)).body.profile.email, 'mike@corp.example');
  const unicode = await service.api('POST', '/users', { profile: { login: 'other', email: 'm\u00fcller@b\u00fccher.example' } });
  assert.equal(unicode.status, 200, JSON.stringify(unicode.body));
});

test('names that look like others', async (t) => {
  const mail = await startMailServer(t);
  const service = await startService(t, { env: mail.env, sendsOutbox: true });
  const mike = await service.createUser({ login: 'mike', email: 'mike@example.org' });
  const jose = await service.createUser({ login: 'jos\u00e9' });
  const client = await createClient(service, { grant_types: ['authorization_code', 'password', 'client_credentials'] });
  const signsIn = async (username: string, password: string) =>
    (await post(service, 'default', 'token', client, { grant_type: 'password', username, password, scope: 'openid' })).body;
  const subjectOf = (body: { id_token?: string }) =>
    body.id_token === undefined ? undefined : JSON.parse(Buffer.from(body.id_token.split('.')[1] ?? '', 'base64url').toString('utf8')).sub;

  await t.test('whatever a name looks like, it is nobody else’s: taken, refused, or another one that opens nothing of his', async () => {
    for (const [name, like] of LOOKALIKES) {
      const owner = like === 'mike' ? mike : jose;
      const label = `${JSON.stringify(name)} ${[...name].map((character) => character.codePointAt(0)?.toString(16))}`;
      const password = 'a password of the other one';
      const made = await service.api('POST', '/users', { profile: { login: name }, credentials: { password: { value: password } } });
      const isLatin = /^[\uff4d\u0131]|m\u0131/.test(name);
      if (isLatin) {
        // Letters of their own: two people, whose names nobody confuses with one another here.
        assert.equal(made.status, 200, label);
        assert.equal(subjectOf(await signsIn(name, password)), made.body.id, label);
        assert.equal(subjectOf(await signsIn(name, owner.password)), undefined, label);
      } else assert.ok([400, 409].includes(made.status), `${label}: ${made.status} ${JSON.stringify(made.body)}`);
    }
    assert.equal(subjectOf(await signsIn('mike', mike.password)), mike.id, 'he is who he was');
  });

  await t.test('a name that is typed in decomposed characters is the same one (RFC 8265 section 3.3)', async () => {
    assert.equal(subjectOf(await signsIn('jose\u0301', jose.password)), jose.id);
    const made = await service.api('POST', '/users', { profile: { login: 'Zoe\u0308', email: 'zoe\u0308@example.org' } });
    assert.deepEqual([made.body.profile.login, made.body.profile.email], ['Zo\u00eb', 'zo\u00eb@example.org']);
    assert.equal((await service.api('GET', `/users/${encodeURIComponent('zoe\u0308')}`)).body.id, made.body.id);
    const taken = await service.api('POST', '/users', { profile: { login: 'zo\u00eb@example.org' } });
    assert.equal(taken.status, 409, 'nor is it free as another’s login');
  });

  await t.test(
    'a forgotten password is mailed to the address that is stored, never to the one that was typed (CVE-2019-19844)',
    async () => {
      for (const typed of ['mi\u212ae@example.org', 'mike@example.org\u200b', 'mike@\uff45xample.org', 'MIKE@EXAMPLE.ORG']) {
        const agent = new UserAgent(service.baseUrl);
        await agent.submit(await agent.visit('/forgot-password'), 'forgot-password-form', { username: typed });
      }
      const answered = async () => (await service.api('GET', '/logs?filter=eventType eq "user.account.reset_password"')).body.length;
      await eventually(async () => (await answered()) >= 4, 'all are answered');
      // A link that another one has replaced is not sent any more.
      await mail.mail('mike@example.org');
      assert.deepEqual([...new Set(mail.mails.map(({ to }) => to))], ['mike@example.org']);
    },
  );
});

test('no application is taken for a user: its id is the subject of its own tokens (RFC 9700 section 4.15)', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const settings = { application_type: 'service' };
  for (const client_id of [user.id, `usr_${'A'.repeat(20)}`]) {
    const body = { name: 'oidc_client', label: 'X', signOnMode: 'OPENID_CONNECT', settings: { oauthClient: settings } };
    const made = await service.api('POST', '/apps', { ...body, credentials: { oauthClient: { client_id } } });
    assert.equal(made.status, 400, client_id);
    assert.match(JSON.stringify(made.body.errorCauses), /client_id: must not have the form of a user/);
  }
  const client = await service.createApp(settings, { client_id: 'nightly' });
  const { body } = await post(service, 'default', 'token', client, { grant_type: 'client_credentials' });
  const introspected = await post(service, 'default', 'introspect', client, { token: body.access_token });
  const { sub, uid, username } = introspected.body;
  assert.deepEqual([sub, uid, username], ['nightly', undefined, undefined]);
});
