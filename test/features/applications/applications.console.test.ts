/** Applications, without JavaScript: created with what is safe, edited setting by setting, their secrets changed, assigned, put to rest and deleted; and who may. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TLS_SUBJECTS } from '../../../src/features/applications/application-settings.policy.ts';
import { clientFields, credentialFields } from '../../../src/features/applications/application-settings.service.ts';
import { RESPONSE_SETTINGS } from '../../../src/features/applications/settings/algorithms.policy.ts';
import { createAdministrator, createOrganization, enter, wordsOf } from '../../pages/console/administrators.ts';
import { onServer } from '../../support/database.ts';
import { type ServiceCalls, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { createApplication, factIn } from './console-applications.ts';

const HOME = '/admin/applications';
const CALLBACK = 'https://app.example/callback';

/** An application as the API shows it. */
const read = async (service: ServiceCalls, id: string) => {
  const { body } = await service.api('GET', `/apps/${id}`);
  return { ...body.settings.oauthClient, ...body.credentials.oauthClient, label: body.label, status: body.status };
};

const problemAt = ({ text }: Page, field: string): string | undefined => new RegExp(`id="${field}-problem">([^<]*)<`).exec(text)?.[1];

/** What the token endpoint says to the credentials of a machine. */
async function tokenStatus(service: ServiceCalls, id: string, secret: string): Promise<number> {
  const response = await fetch(`${service.issuer('default')}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${id}:${secret}`)}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  return response.status;
}

test('each kind is created with the fields it needs and what is safe (RFC 9700 sections 2.1.1 and 4.14)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const safe = { response_types: ['code'], pkce_required: true, introspect_any: false, consent_method: 'TRUSTED', assignment: 'EVERYONE' };
  for (const [kind, typed, expected] of [
    [
      'web',
      {
        redirect_uris: `${CALLBACK}\r\n\r\n https://app.example/other `,
        post_logout_redirect_uris: 'https://app.example/',
        refresh: 'true',
      },
      {
        ...safe,
        redirect_uris: [CALLBACK, 'https://app.example/other'],
        post_logout_redirect_uris: ['https://app.example/'],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'client_secret_basic',
        refresh_token: { rotation_type: 'ROTATE', leeway: 10 },
      },
    ],
    [
      'browser',
      { redirect_uris: 'http://localhost:8080/callback', assignment: 'ASSIGNED', consent_method: 'REQUIRED' },
      {
        ...safe,
        assignment: 'ASSIGNED',
        consent_method: 'REQUIRED',
        allowed_origins: ['http://localhost:8080'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'none',
      },
    ],
    [
      'web',
      { redirect_uris: CALLBACK, pkce_required: [], introspect_any: 'true' },
      { ...safe, pkce_required: false, introspect_any: true },
    ],
    ['native', { redirect_uris: 'com.example.app:/callback' }, { ...safe, token_endpoint_auth_method: 'none', allowed_origins: [] }],
    [
      'service',
      {},
      { grant_types: ['client_credentials'], response_types: [], introspect_any: false, token_endpoint_auth_method: 'client_secret_basic' },
    ],
  ] as const) {
    const label = `My <${kind}> & more`;
    const { id, secret, page } = await createApplication(agent, kind, { label, ...typed });
    const created = await read(service, id);
    for (const [name, value] of Object.entries({ ...expected, application_type: kind, label, status: 'ACTIVE' }))
      assert.deepEqual(created[name], value, `${kind}: ${name}`);
    assert.equal(secret === undefined, created.token_endpoint_auth_method === 'none', kind);
    if (secret === undefined) assert.match(wordsOf(page), /The application is created/);
    else assert.match(page.headers.get('cache-control') ?? '', /no-store/);
    if (kind === 'service') assert.equal(await tokenStatus(service, id, secret ?? ''), 200);
    const again = await agent.visit(`${HOME}/${id}`);
    assert.match(again.text, /<h1 dir="auto">My &lt;\w+&gt; &amp; more<\/h1>/);
    if (secret !== undefined) assert.ok(!again.text.includes(secret), 'it is shown once');
  }
  assert.equal((await agent.visit(`${HOME}/new/robot`)).status, 404);
});

test('what is wrong stands beside its field, and what was typed is kept (WCAG 2.2, 3.3.1)', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new/web`);
  const typed = { label: '', redirect_uris: `${CALLBACK}\nhttp://elsewhere.example/`, refresh: 'true', assignment: 'ASSIGNED' };
  const refused = await agent.submit(form, 'console-form', typed);
  assert.equal(refused.status, 400);
  assert.equal(problemAt(refused, 'label'), 'Must not be empty');
  assert.match(problemAt(refused, 'redirect_uris') ?? '', /must use https, or http on a loopback address \(entry 2\)$/i);
  assert.match(refused.text, /elsewhere\.example\/<\/textarea>/);
  assert.match(refused.text, /value="ASSIGNED" checked/);
  assert.match(refused.text, /name="refresh" type="checkbox" value="true" checked/);
  const empty = await agent.submit(form, 'console-form', { label: 'x', redirect_uris: ' ' });
  assert.equal(problemAt(empty, 'redirect_uris'), 'Must not be empty');
  const long = await agent.submit(form, 'console-form', { label: 'x'.repeat(10_000), redirect_uris: CALLBACK });
  assert.match(problemAt(long, 'label') ?? '', /at most 255/);
  assert.equal((await service.api('GET', '/apps')).body.filter(({ label }: { label: string }) => label.startsWith('x')).length, 0);

  const { id } = await createApplication(agent, 'web', { label: 'Right', redirect_uris: CALLBACK });
  const edit = (group: string, changes: Record<string, string | readonly string[]>): Promise<Page> =>
    agent.visit(`${HOME}/${id}/settings/${group}`).then((page) => agent.submit(page, 'console-form', changes));
  assert.match(problemAt(await edit('general', { redirect_uris: '' }), 'redirect_uris') ?? '', /is required with a response type/i);
  assert.match(problemAt(await edit('tokens', { leeway: '61' }), 'leeway') ?? '', /at most 60/i);
  const notJson = await edit('authentication', { token_endpoint_auth_method: 'private_key_jwt', jwks: '{"keys": [' });
  assert.match(problemAt(notJson, 'jwks') ?? '', /must be a JSON/i);
  assert.match(notJson.text, /value="private_key_jwt" checked/);
  assert.match(problemAt(await edit('authentication', { token_endpoint_auth_method: 'private_key_jwt' }), 'jwks') ?? '', /is required/i);
  assert.match(problemAt(await edit('branding', { client_uri: 'javascript:alert(1)' }), 'client_uri') ?? '', /must begin with https/i);
});

test('the form sent eight times at once makes one application with one secret; with other values it is a form again', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const form = await agent.visit(`${HOME}/new/service`);
  const pages = await Promise.all(Array.from({ length: 8 }, () => agent.submit(form, 'console-form', { label: 'Once' })));
  assert.equal(new Set(pages.map((page) => factIn(page, 'Client secret'))).size, 1);
  const all = (await service.api('GET', '/apps?q=Once')).body;
  assert.equal(all.length, 1);
  assert.equal(await tokenStatus(service, all[0].id, factIn(pages[0] as Page, 'Client secret') ?? ''), 200);
  const changed = await agent.submit(form, 'console-form', { label: 'Twice' });
  assert.equal(changed.status, 400);
  assert.match(wordsOf(changed), /This form was already processed with other values/);
  assert.match(wordsOf(await agent.submit(changed, 'console-form')), /Application created.*Twice/);
});

test('every setting that the API takes is edited on a form, which leaves all others as they are', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { body: provider } = await service.api('POST', '/idps', {
    type: 'OIDC',
    name: 'Partner',
    protocol: { issuer: { url: 'https://partner.example' }, credentials: { client: { client_id: 'us', client_secret: 'x'.repeat(40) } } },
  });
  const { id, secret } = await createApplication(agent, 'web', { label: 'Before', redirect_uris: CALLBACK });
  const point = { x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU', y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0' };
  const keys = {
    keys: [
      { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'one' },
      { kty: 'EC', crv: 'P-256', ...point, kid: 'two', use: 'enc' },
    ],
  };
  const responses = Object.fromEntries(
    RESPONSE_SETTINGS.map((name) => [name, name.endsWith('enc') ? 'A256GCM' : name.includes('signed') ? 'ES256' : 'ECDH-ES']),
  );
  const groups: Readonly<Record<string, readonly [typed: Record<string, string | readonly string[]>, expected: Record<string, unknown>]>> =
    {
      general: [
        {
          label: 'After',
          application_type: 'web',
          redirect_uris: `${CALLBACK}\nhttp://localhost:8080/cb`,
          post_logout_redirect_uris: 'https://app.example/bye',
          allowed_origins: 'https://app.example',
          initiate_login_uri: 'https://app.example/login',
        },
        {
          label: 'After',
          redirect_uris: [CALLBACK, 'http://localhost:8080/cb'],
          application_type: 'web',
          post_logout_redirect_uris: ['https://app.example/bye'],
          allowed_origins: ['https://app.example'],
          initiate_login_uri: 'https://app.example/login',
        },
      ],
      flow: [
        {
          grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'urn:openid:params:grant-type:ciba'],
          response_types: ['code', 'code id_token'],
          pkce_required: [],
          require_pushed_authorization_requests: 'true',
          require_signed_request_object: 'true',
          request_object_signing_alg: 'HS256',
          backchannel_token_delivery_mode: 'ping',
          backchannel_client_notification_endpoint: 'https://app.example/ping',
        },
        {
          grant_types: ['authorization_code', 'refresh_token', 'client_credentials', 'urn:openid:params:grant-type:ciba', 'implicit'],
          response_types: ['code', 'code id_token'],
          pkce_required: false,
          require_pushed_authorization_requests: true,
          require_signed_request_object: true,
          request_object_signing_alg: 'HS256',
          backchannel_token_delivery_mode: 'ping',
          backchannel_client_notification_endpoint: 'https://app.example/ping',
        },
      ],
      'sign-in': [
        {
          assignment: 'ASSIGNED',
          consent_method: 'REQUIRED',
          mfa_required: 'true',
          organization: 'REQUIRED',
          profile: 'openid',
          providers: 'some',
          identity_providers: [provider.id],
          registration: 'OFF',
        },
        {
          ...{ assignment: 'ASSIGNED', consent_method: 'REQUIRED', mfa_required: true, profile: 'openid', organization: 'REQUIRED' },
          ...{ identity_providers: [provider.id], registration: 'OFF' },
        },
      ],
      tokens: [
        {
          claims: 'some',
          id_token_claims: 'email\nname',
          rotation_type: 'STATIC',
          leeway: '5',
          introspect_any: 'true',
          manage_signal_streams: 'true',
          token_exchange_audiences: 'https://api.example\nhttps://other.example',
          id_jag_targets: 'https://as.example\nhttps://auth.example/acme  app-7\nhttps://auth.example/one app-7 chat',
          authorization_details_types: 'payment_initiation',
          dpop_bound_access_tokens: [],
          tls_client_certificate_bound_access_tokens: [],
        },
        {
          id_token_claims: ['email', 'name'],
          refresh_token: { rotation_type: 'STATIC', leeway: 5 },
          introspect_any: true,
          manage_signal_streams: true,
          token_exchange_audiences: ['https://api.example', 'https://other.example'],
          id_jag_targets: [
            { audience: 'https://as.example' },
            { audience: 'https://auth.example/acme', client_id: 'app-7' },
            { audience: 'https://auth.example/one', client_id: 'app-7', relying_party: 'chat' },
          ],
          authorization_details_types: ['payment_initiation'],
          dpop_bound_access_tokens: false,
          tls_client_certificate_bound_access_tokens: false,
        },
      ],
      logout: [
        { backchannel_logout_uri: 'https://app.example/logout', backchannel_logout_session_required: 'true' },
        { backchannel_logout_uri: 'https://app.example/logout', backchannel_logout_session_required: true },
      ],
      branding: [
        {
          client_uri: 'https://app.example/',
          logo_uri: 'https://cdn.example/logo.png',
          policy_uri: 'https://app.example/privacy',
          tos_uri: 'https://app.example/terms',
          brand_color: '#0f5c5c',
        },
        {
          client_uri: 'https://app.example/',
          logo_uri: 'https://cdn.example/logo.png',
          policy_uri: 'https://app.example/privacy',
          tos_uri: 'https://app.example/terms',
          brand_color: '#0f5c5c',
        },
      ],
      authentication: [
        {
          jwks: JSON.stringify(keys),
          token_endpoint_auth_method: 'client_secret_jwt',
          token_endpoint_auth_signing_alg: 'HS256',
          ...Object.fromEntries(TLS_SUBJECTS.map((name) => [name, ''])),
        },
        {
          jwks: keys,
          token_endpoint_auth_method: 'client_secret_jwt',
          token_endpoint_auth_signing_alg: 'HS256',
          ...Object.fromEntries(TLS_SUBJECTS.map((name) => [name, undefined])),
        },
      ],
      responses: [responses, responses],
      subjects: [
        { subject_type: 'public', sector_identifier_uri: 'https://app.example/typed-for-pairwise' },
        { subject_type: 'public', sector_identifier_uri: undefined },
      ],
    };
  const federated = { issuer: 'https://workloads.example', subject: 'job', audience: 'https://service.example' };
  await agent.submit(await agent.visit(`${HOME}/${id}/credentials/federated/new`), 'console-form', federated);
  const expected: Record<string, unknown> = { federated: [federated] };
  for (const [group, [typed, settings]] of Object.entries(groups)) {
    const form = await agent.visit(`${HOME}/${id}/settings/${group}`);
    const saved = await agent.submit(form, 'console-form', typed);
    assert.equal(saved.status, 200, `${group}: ${saved.text}`);
    assert.match(wordsOf(saved), /The application is changed/, group);
    Object.assign(expected, settings);
    const now = await read(service, id);
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(now[name], value, `${name} after ${group}`);
    const unchanged = await agent.submit(await agent.visit(`${HOME}/${id}/settings/${group}`), 'console-form');
    assert.equal(unchanged.status, 200, group);
    assert.deepEqual(await read(service, id), now, `${group}, saved as it was shown, changes nothing`);
  }
  const settings = Object.keys({ ...credentialFields, ...clientFields });
  assert.deepEqual(
    settings.filter((name) => !(name in expected)),
    ['jwks_uri'],
    'none is left out; federated has pages of its own, and the address of the keys excludes the keys',
  );
  const { text: shown } = await agent.visit(`${HOME}/${id}/settings`);
  for (const words of ['Partner', 'ES256', 'code id_token', '5 seconds', 'https://app.example/logout'])
    assert.ok(shown.includes(words), words);
  const brand = await agent.visit(`${HOME}/${id}/branding`);
  assert.match(brand.text, /<img src="https:\/\/cdn\.example\/logo\.png" alt="[^"]+">/);
  assert.match(brand.headers.get('content-security-policy') ?? '', /img-src [^;]*https:\/\/cdn\.example/);

  for (const [group, emptied] of [
    ['tokens', { claims: 'all' }],
    ['responses', { id_token_signed_response_alg: '', id_token_encrypted_response_alg: '' }],
    ['authentication', { token_endpoint_auth_method: 'client_secret_basic', token_endpoint_auth_signing_alg: '' }],
  ] as const) {
    const { status } = await agent.submit(await agent.visit(`${HOME}/${id}/settings/${group}`), 'console-form', emptied);
    assert.equal(status, 200);
  }
  const after = await read(service, id);
  assert.equal(after.id_token_claims, undefined);
  assert.equal(after.id_token_signed_response_alg, undefined);
  assert.equal(after.id_token_encrypted_response_enc, undefined, 'it has no use without the encryption');
  assert.equal(after.userinfo_encrypted_response_enc, 'A256GCM');
  assert.equal(after.token_endpoint_auth_signing_alg, undefined);
  assert.equal(await tokenStatus(service, id, secret ?? ''), 200, 'the secret stayed');
});

test('a key in the place of the secret takes the secrets away, and the way back makes one and shows it once', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id, secret = '' } = await createApplication(agent, 'service', { label: 'Job' });
  const form = () => agent.visit(`${HOME}/${id}/settings/authentication`);
  const keyed = await agent.submit(await form(), 'console-form', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks_uri: 'https://app.example/keys',
  });
  assert.match(wordsOf(keyed), /The application is changed/);
  assert.equal((await service.api('GET', `/apps/${id}/credentials/secrets`)).body.length, 0);
  assert.equal(await tokenStatus(service, id, secret), 401);
  const back = await form();
  const [told, repeated] = await Promise.all(
    [1, 2].map(() => agent.submit(back, 'console-form', { token_endpoint_auth_method: 'client_secret_basic', jwks_uri: '' })),
  );
  const made = factIn(told as Page, 'Client secret') ?? assert.fail((told as Page).text);
  assert.equal(factIn(repeated as Page, 'Client secret'), made);
  assert.equal(await tokenStatus(service, id, made), 200);
});

test('secrets are changed without an outage: a second one, both valid, the first removed; never more than two, never none', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id, secret: first = '' } = await createApplication(agent, 'service', { label: 'Job' });
  const tab = `${HOME}/${id}/credentials`;
  assert.doesNotMatch((await agent.visit(tab)).text, /\/remove"/, 'the last one is not offered to be removed');
  const form = await agent.visit(`${tab}/new`);
  const pages = await Promise.all([1, 2, 3].map(() => agent.submit(form, 'console-form')));
  const [second = '', ...others] = new Set(pages.map((page) => factIn(page, 'Client secret')));
  assert.deepEqual(others, [], 'sent again, the form makes no other');
  assert.deepEqual([await tokenStatus(service, id, first), await tokenStatus(service, id, second)], [200, 200]);
  const both = await agent.visit(tab);
  assert.ok(!both.text.includes(second));
  assert.doesNotMatch(both.text, /credentials\/new"/);
  const third = await agent.submit(await agent.visit(`${tab}/new`), 'console-form');
  assert.match(wordsOf(third), /already has two secrets/);

  const [oldest = ''] = /\/admin\/applications\/\w+\/credentials\/\w+\/remove/.exec(both.text) ?? [];
  const endings = new Set(Array.from(both.text.matchAll(/…([\w-]{4})(?=<)/g), ([, ending]) => ending));
  assert.deepEqual([...endings], [first.slice(-4), second.slice(-4)], 'its end tells a secret from the other');
  const [deactivation = ''] = /\/admin\/applications\/\w+\/credentials\/\w+\/deactivate/.exec(both.text) ?? [];
  const off = await agent.submit(await agent.visit(deactivation), 'console-form');
  assert.match(wordsOf(off), /The secret is inactive: it is refused\..*Activate/);
  assert.deepEqual([await tokenStatus(service, id, first), await tokenStatus(service, id, second)], [401, 200]);
  const on = await agent.submit(await agent.visit(deactivation.replace(/deactivate$/, 'activate')), 'console-form');
  assert.match(wordsOf(on), /The secret is active/);
  assert.equal(await tokenStatus(service, id, first), 200);
  const removal = await agent.visit(oldest);
  assert.match(wordsOf(removal), /This cannot be undone/);
  assert.match(wordsOf(await agent.submit(removal, 'console-form')), /The secret is removed/);
  assert.deepEqual([await tokenStatus(service, id, first), await tokenStatus(service, id, second)], [401, 200]);
  assert.equal((await agent.visit(oldest)).status, 404);
});

test('federated credentials are added and removed, and the others stay; what is wrong stands beside its field', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id } = await createApplication(agent, 'service', { label: 'Deployment' });
  const tab = `${HOME}/${id}/credentials`;
  const add = async (typed: Record<string, string>) => agent.submit(await agent.visit(`${tab}/federated/new`), 'console-form', typed);
  const main = { issuer: 'https://issuer.example', subject: 'repo:example/shop:*', audience: 'https://id.example' };
  const other = { ...main, subject: 'system:serviceaccount:shop:worker', jwks_uri: 'https://keys.example/jwks' };
  for (const [typed, field, problem] of [
    [{ ...main, subject: 'repo:example*' }, 'subject', /Must have : or \/ before/],
    [{ ...main, issuer: 'http://issuer.example' }, 'issuer', /Must use https/],
    [{ ...main, jwks: '{' }, 'jwks', /Must be a JSON/],
  ] as const)
    assert.match(problemAt(await add(typed), field) ?? '', problem);
  for (const typed of [main, main, other]) assert.match(wordsOf(await add(typed)), /The federated credential is added/);
  assert.deepEqual((await read(service, id)).federated, [main, other], 'the same twice is one');
  const shown = await agent.visit(tab);
  assert.match(wordsOf(shown), /repo:example\/shop:\*.*By discovery.*system:serviceaccount:shop:worker.*https:\/\/keys\.example\/jwks/s);
  const [removal = ''] = /\/admin\/applications\/\w+\/credentials\/federated\/[\w-]+\/remove/.exec(shown.text) ?? [];
  assert.match(wordsOf(await agent.submit(await agent.visit(removal), 'console-form')), /The federated credential is removed/);
  assert.deepEqual((await read(service, id)).federated, [other]);
  assert.equal((await agent.visit(removal)).status, 404);
});

test('it is assigned to users and groups that are chosen from lists, in pages, and taken from them; who is not assigned cannot sign in', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const user = await service.createUser();
  const member = await service.createUser();
  const names = ['Group "quoted" <b>', ...Array.from({ length: 20 }, (_, n) => `Group ${n}`)];
  const { id } = await createApplication(agent, 'web', { label: 'Wiki', redirect_uris: CALLBACK, assignment: 'ASSIGNED' });
  const tab = `${HOME}/${id}/assignments`;
  const signsIn = async (person: { login: string; password: string }): Promise<boolean> => {
    const query = new URLSearchParams({
      ...{ client_id: id, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 's' },
      ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
    });
    const browser = new UserAgent(service.baseUrl);
    const page = await browser.signIn(await browser.visit(`${service.issuer('default')}/authorize?${query}`), person);
    return page.url.searchParams.has('code');
  };
  assert.equal(await signsIn(user), false);
  const form = () => agent.visit(`${tab}/users/new`);
  const nobody = await agent.submit(await form(), 'console-form');
  assert.match(wordsOf(nobody), /Select at least one row/);
  const assigned = await agent.submit(await form(), 'console-form', { chosen: user.id });
  assert.match(wordsOf(assigned), new RegExp(`The application is assigned.*${user.login}`));
  assert.equal(await signsIn(user), true);
  const twice = await agent.submit(await form(), 'console-form', { chosen: user.id });
  assert.equal(twice.status, 200, 'who is assigned stays it');

  const groups: string[] = [];
  for (const name of names) {
    const { body } = await service.api('POST', '/groups', { profile: { name } });
    if (name === names[0]) await service.api('PUT', `/groups/${body.id}/users/${member.id}`);
    groups.push(body.id);
  }
  const added = await agent.submit(await agent.visit(`${tab}/groups/new?q=group`), 'console-form', { chosen: groups });
  assert.equal(added.status, 200, added.text);
  assert.equal(await signsIn(member), true);
  assert.match(wordsOf(await agent.visit(`${tab}/groups/new?q=quoted`)), /Group "quoted" &lt;b&gt; Already added/);
  const first = await agent.visit(tab);
  assert.match(first.text, /<bdi>Group 19<\/bdi>/, 'the newest first');
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? [];
  assert.match(next, /assignments\/groups\?page=2/);
  const second = await agent.visit(next);
  assert.match(wordsOf(second), /21 groups.*Page 2 of 2/);
  assert.doesNotMatch(second.text, /<bdi>Group 19<\/bdi>/);

  const removed = await agent.submit(await agent.visit(`${tab}/users/${user.id}/remove`), 'console-form');
  assert.match(wordsOf(removed), /is not assigned any more/);
  assert.equal(await signsIn(user), false);
  assert.equal((await agent.visit(`${tab}/users/${user.id}/remove`)).status, 404);
  assert.equal((await agent.visit(`${tab}/robots`)).status, 404);
});

test('an application is deactivated, activated and deleted, and its credentials count accordingly', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id, secret = '' } = await createApplication(agent, 'service', { label: 'Job' });
  const step = async (name: string): Promise<Page> => agent.submit(await agent.visit(`${HOME}/${id}/${name}`), 'console-form');
  assert.match(wordsOf(await step('deactivate')), /Job Inactive .*The application is inactive/);
  assert.equal(await tokenStatus(service, id, secret), 401);
  assert.match(wordsOf(await agent.visit(`${HOME}/${id}`)), /This application is inactive/);
  assert.match(wordsOf(await step('activate')), /Job Active .*The application is active/);
  assert.equal(await tokenStatus(service, id, secret), 200);
  assert.match(wordsOf(await agent.visit(`${HOME}/${id}/delete`)), /This cannot be undone/);
  assert.match(wordsOf(await step('delete')), /The application is deleted/);
  assert.equal(await tokenStatus(service, id, secret), 401);
  for (const path of ['', '/settings', '/settings/general', '/credentials', '/assignments', '/branding', '/activity', '/delete'])
    assert.equal((await agent.visit(`${HOME}/${id}${path}`)).status, 404, path);
});

test('the list is searched by words of the name and by client ID, narrowed by kind and status, and comes in pages', async (t) => {
  const service = await startService(t);
  const create = async (label: string, application_type: string): Promise<string> =>
    (await service.api('POST', '/apps', { label, settings: { oauthClient: { application_type, grant_types: [], response_types: [] } } }))
      .body.id;
  for (let n = 1; n <= 20; n += 1) await create(`Job ${n}`, 'service');
  const quoted = await create('"Quoted\\ <b>" and 100%', 'native');
  await service.api('POST', `/apps/${quoted}/lifecycle/deactivate`);
  const { agent } = await enter(service);
  const found = async (query: Record<string, string>): Promise<number> =>
    (await agent.visit(`${HOME}?${new URLSearchParams(query)}`)).text.match(/role="rowheader"/g)?.length ?? 0;
  assert.equal(await found({ kind: 'service' }), 20);
  assert.equal(await found({ kind: 'native', q: '"quoted\\ and' }), 1);
  assert.equal(await found({ q: quoted }), 1);
  assert.equal(await found({ status: 'INACTIVE' }), 1);
  assert.equal(await found({ status: 'INACTIVE', kind: 'web' }), 0);
  assert.equal(await found({ q: 'Job 1' }), 11);
  assert.equal(await found({ q: '%' }), 0);
  assert.equal(await found({ kind: 'robot', status: '"' }), 20, 'what cannot be chosen narrows nothing');
  const filtered = await service.api('GET', `/apps?filter=${encodeURIComponent('settings.oauthClient.application_type eq "native"')}`);
  assert.deepEqual(
    filtered.body.map(({ id }: { id: string }) => id),
    [quoted],
    'the API can do it, too',
  );
  const nothing = await agent.visit(`${HOME}?q=nobody`);
  assert.match(wordsOf(nothing), /Show all.*No applications match/);
  const first = await agent.visit(`${HOME}?q=&status=ACTIVE`);
  const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.text) ?? [];
  assert.match(next, /status=ACTIVE/, 'the next page is narrowed, too');
  assert.match((await agent.visit(next.replaceAll('&amp;', '&'))).text, /Admin console</);
});

test('the console and the playground are shown as parts of the service, and not changed', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const list = await agent.visit(HOME);
  assert.match(wordsOf(list), /Admin console Web application part of the service/);
  const console_ = `${HOME}/console`;
  for (const tab of ['', '/settings', '/credentials', '/assignments', '/branding', '/activity']) {
    const page = await agent.visit(console_ + tab);
    assert.equal(page.status, 200, tab);
    assert.match(wordsOf(page), /part of the service itself/, tab);
    assert.doesNotMatch(page.text, /class="button( small| main)*" href="\/admin\/applications/, tab);
  }
  const form = await agent.visit(`${HOME}/new/service`);
  for (const path of ['/settings/general', '/credentials/new', '/assignments/users/new', '/activate', '/deactivate', '/delete']) {
    assert.ok([400, 403].includes((await agent.visit(console_ + path)).status), path);
    const posted = await agent.submit({ ...form, text: form.text.replaceAll(`${HOME}/new/service`, console_ + path) }, 'console-form', {
      label: 'Mine',
    });
    assert.ok([400, 403].includes(posted.status), `posted to ${path}: ${posted.status}`);
  }
  assert.equal((await read(service, 'console')).label, 'Admin console');
  assert.doesNotMatch((await agent.visit(console_)).text, /Snippets|Run it|Lost\?/);
});

test('Connect tells the addresses of the server that is chosen; one that rests is not offered', async (t) => {
  const service = await startService(t);
  await service.api('POST', '/authorizationServers', { id: 'orders', name: 'Orders', audiences: ['api://orders'] });
  const { agent } = await enter(service);
  const { id } = await createApplication(agent, 'web', { label: 'Shop', redirect_uris: CALLBACK });
  const page = await agent.visit(`${HOME}/${id}`);
  assert.equal(factIn(page, 'Issuer'), service.issuer('default'));
  const orders = await agent.visit(`${HOME}/${id}?server=orders`);
  const discovery = (await (await fetch(factIn(orders, 'Discovery document') ?? '')).json()) as Record<string, string>;
  assert.equal(factIn(orders, 'Issuer'), discovery.issuer);
  for (const [label, name] of Object.entries({
    ...{ Authorization: 'authorization_endpoint', Token: 'token_endpoint', Userinfo: 'userinfo_endpoint', Keys: 'jwks_uri' },
    ...{ Introspection: 'introspection_endpoint', Revocation: 'revocation_endpoint', Logout: 'end_session_endpoint' },
  }))
    assert.equal(factIn(orders, label), discovery[name], label);
  await service.api('POST', '/authorizationServers/orders/lifecycle/deactivate');
  const gone = await agent.visit(`${HOME}/${id}?server=orders`);
  assert.equal(factIn(gone, 'Issuer'), service.issuer('default'));
  assert.doesNotMatch(gone.text, /value="orders"/);
});

test('Connect warns of a single-page application whose pages may not call the token endpoint (CORS), and says when no snippet fits', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const page = { application_type: 'browser', redirect_uris: ['http://localhost:8080/callback'] };
  const { clientId: closed } = await service.createApp({ ...page, allowed_origins: [] });
  assert.match(wordsOf(await agent.visit(`${HOME}/${closed}`)), /Pages of http:\/\/localhost:8080 may not call the token endpoint/);
  const { id: open } = await createApplication(agent, 'browser', { label: 'Open', redirect_uris: 'http://localhost:8080/callback' });
  assert.doesNotMatch(wordsOf(await agent.visit(`${HOME}/${open}`)), /may not call/);
  const { clientId: odd } = await service.createApp({ redirect_uris: ['https://app.example/callback?tenant=1'] });
  assert.match(
    wordsOf(await agent.visit(`${HOME}/${odd}`)),
    /There is no sample for these settings: the application has no redirect URI without a query/,
  );
  const { clientId: implicit } = await service.createApp({ redirect_uris: [CALLBACK], response_types: ['id_token'] });
  assert.match(wordsOf(await agent.visit(`${HOME}/${implicit}`)), /Samples are for the authorization code flow and for client credentials/);
});

test('only those who may see and change applications do; who did it is in the audit trail', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id } = await createApplication(agent, 'web', { label: 'Shop', redirect_uris: CALLBACK });
  await agent.submit(await agent.visit(`${HOME}/${id}/settings/flow`), 'console-form', { pkce_required: [] });
  const { rows } = await onServer(service.database.url, (client) =>
    client.query(
      `SELECT event_type, actor FROM audit_events WHERE event_type LIKE 'application.lifecycle.%' AND actor->>'displayName' = 'admin' ORDER BY seq`,
    ),
  );
  assert.deepEqual(
    rows.map(({ event_type }) => event_type),
    ['application.lifecycle.create', 'application.lifecycle.update'],
  );

  const { agent: reader } = await enter(service, await createAdministrator(service, 'READ_ONLY_ADMIN'));
  for (const tab of ['', '/settings', '/credentials', '/assignments', '/branding', '/activity']) {
    const page = await reader.visit(`${HOME}/${id}${tab}`);
    assert.equal(page.status, 200, tab);
    assert.doesNotMatch(page.text, /class="button( small| main)*" href="\/admin\/applications/, tab);
  }
  assert.doesNotMatch((await reader.visit(HOME)).text, /Create application/);
  const orgId = await createOrganization(service, 'Acme');
  const { agent: other, page } = await enter(service, await createAdministrator(service, 'ORG_ADMIN', orgId));
  assert.doesNotMatch(page.text, /href="\/admin\/applications"/);
  assert.equal((await other.visit(`${HOME}/${id}`)).status, 403);
});

test('two administrators who save two groups of settings at once both find theirs kept', async (t) => {
  const service = await startService(t);
  const { agent } = await enter(service);
  const { id } = await createApplication(agent, 'web', { label: 'Shop', redirect_uris: CALLBACK });
  const [flow, logout] = [await agent.visit(`${HOME}/${id}/settings/flow`), await agent.visit(`${HOME}/${id}/settings/logout`)];
  await Promise.all([
    agent.submit(flow, 'console-form', { pkce_required: [] }),
    agent.submit(logout, 'console-form', { backchannel_logout_uri: 'https://app.example/logout' }),
  ]);
  const { pkce_required, backchannel_logout_uri } = await read(service, id);
  assert.deepEqual(
    { pkce_required, backchannel_logout_uri },
    { pkce_required: false, backchannel_logout_uri: 'https://app.example/logout' },
  );
});

test('a provider that an application names stays named, however many providers there are', async (t) => {
  const service = await startService(t);
  await onServer(service.database.url, (client) =>
    client.query(`INSERT INTO identity_providers (id, name, type, protocol, created, last_updated)
      SELECT 'idp_' || n, 'Provider ' || n, 'OIDC', '{}', now(), now() FROM generate_series(1, 201) n ORDER BY n`),
  );
  const { agent } = await enter(service);
  const { body } = await service.api('POST', '/apps', {
    label: 'Named',
    settings: { oauthClient: { redirect_uris: [CALLBACK], identity_providers: ['idp_201'] } },
  });
  const id = body.id;
  const form = await agent.visit(`${HOME}/${id}/settings/sign-in`);
  assert.match(form.text, /value="idp_201"[^>]*checked/);
  assert.match(wordsOf(form), /Provider 201/);
  assert.doesNotMatch(wordsOf(form), /It no longer exists|Provider 202/);
  await agent.submit(form, 'console-form');
  assert.deepEqual((await read(service, id)).identity_providers, ['idp_201']);
});
