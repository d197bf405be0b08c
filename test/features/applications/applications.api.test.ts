import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { clientFields, credentialFields } from '../../../src/features/applications/application-settings.service.ts';
import { app } from '../../../src/features/applications/applications.api.ts';
import { createApplication } from '../../../src/features/applications/applications.service.ts';
import { findApplicationWithSecrets } from '../../../src/features/applications/applications.store.ts';
import { applicationSecretContext } from '../../../src/features/applications/sealed-secrets.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import type { Change } from '../../../src/platform/database/notifications.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';
import { eventually } from '../../support/process.ts';

interface App {
  id: string;
  label: string;
  status: string;
  credentials: { oauthClient: { client_id: string; client_secret?: string; token_endpoint_auth_method: string; pkce_required: boolean } };
  settings: { implicitAssignment: boolean; oauthClient: Record<string, unknown> };
}

const CALLBACK = 'https://app.example/callback';

/** A body with these settings, and a callback unless they name their own. */
const withSettings = (settings: object, oauthClient: object = {}) => ({
  label: 'An application',
  credentials: { oauthClient },
  settings: { oauthClient: { redirect_uris: [CALLBACK], ...settings } },
});

describe('apps (management API, "Resources"; OpenID Connect Dynamic Client Registration section 2)', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  it('shows every setting that it takes, or a client that writes back what it read would lose some', () => {
    const { settings, credentials } = app.shape;
    const shown = { ...settings.shape.oauthClient.shape, ...credentials.shape.oauthClient.shape };
    const taken = Object.keys({ ...clientFields, ...credentialFields });
    assert.deepEqual(
      taken.filter((name) => !(name in shown)),
      [],
    );
  });

  it('fills in the defaults', async () => {
    const { status, body } = await api.call<App>('POST', '/apps', withSettings({}));
    assert.equal(status, 200);
    const { client_secret, ...credentials } = body.credentials.oauthClient;
    assert.match(client_secret ?? '', /^[\w-]{43}$/);
    assert.deepEqual(credentials, { client_id: body.id, token_endpoint_auth_method: 'client_secret_basic', pkce_required: false });
    assert.deepEqual(body.settings.oauthClient, {
      application_type: 'web',
      redirect_uris: [CALLBACK],
      post_logout_redirect_uris: [],
      response_types: ['code'],
      grant_types: ['authorization_code'],
      consent_method: 'TRUSTED',
      assignment: 'EVERYONE',
      backchannel_logout_session_required: false,
      allowed_origins: [],
      introspect_any: true,
      require_pushed_authorization_requests: false,
      dpop_bound_access_tokens: false,
      subject_type: 'public',
      require_signed_request_object: false,
      tls_client_certificate_bound_access_tokens: false,
      profile: null,
      refresh_token: { rotation_type: 'ROTATE', leeway: 10 },
    });
  });

  it('is inactive from the beginning with activate=false', async () => {
    const { status, body } = await api.call<App>('POST', '/apps?activate=false', withSettings({}));
    assert.deepEqual([status, body.status], [200, 'INACTIVE']);
    assert.equal((await api.call<App>('GET', `/apps/${body.id}`)).body.status, 'INACTIVE');
    const refused = await api.call('POST', '/apps?activate=no', withSettings({}));
    assert.deepEqual([refused.status, causes(refused)], [400, ['activate: must be true or false']]);
  });

  for (const [given, expected] of [
    [{}, 'EVERYONE'],
    [{ implicitAssignment: true }, 'EVERYONE'],
    [{ implicitAssignment: false }, 'ASSIGNED'],
    [{ implicitAssignment: true, assignment: 'ASSIGNED' }, 'ASSIGNED'],
    [{ implicitAssignment: false, assignment: 'EVERYONE' }, 'EVERYONE'],
  ] as const) {
    it(`is assigned to ${expected} with ${JSON.stringify(given)}`, async () => {
      const { implicitAssignment, ...rest } = { assignment: undefined, implicitAssignment: undefined, ...given };
      const { label, settings } = withSettings(rest);
      const { body } = await api.call<App>('POST', '/apps', { label, settings: { ...settings, implicitAssignment } });
      assert.deepEqual([body.settings.implicitAssignment, body.settings.oauthClient.assignment], [expected === 'EVERYONE', expected]);
      // Whoever knows only Okta's word sends back what he was shown.
      const { assignment: _, ...oauthClient } = body.settings.oauthClient;
      const sentBack = { label: 'Changed', settings: { implicitAssignment: body.settings.implicitAssignment, oauthClient } };
      const { body: after } = await api.call<App>('PUT', `/apps/${body.id}`, sentBack);
      assert.equal(after.settings.oauthClient.assignment, expected);
    });
  }

  it('tells the secret once, keeps it sealed, and leaves it out of the audit log', async () => {
    const secret = 'a secret of thirty-two characters or more';
    const { body: created } = await api.call<App>('POST', '/apps', withSettings({}, { client_id: 'my-app_1.~', client_secret: secret }));
    assert.equal(created.id, 'my-app_1.~');
    assert.equal(created.credentials.oauthClient.client_secret, secret);
    const { body: read } = await api.call<App>('GET', '/apps/my-app_1.~');
    const { client_secret: _, ...credentials } = created.credentials.oauthClient;
    assert.deepEqual(read, { ...created, credentials: { oauthClient: credentials } });

    const { knex } = api.services.database;
    const stored = await findApplicationWithSecrets(knex, created.id);
    const [sealed] = stored?.sealedSecrets ?? [];
    assert.equal(api.services.keyring.open(sealed?.sealed ?? '', applicationSecretContext(sealed?.id ?? '')), secret);
    const rows = [await knex('audit_events').select('*'), await knex('application_secrets').select('*')];
    assert.doesNotMatch(JSON.stringify(rows), /thirty-two/);
  });

  it('tells every process, and this one at once', async () => {
    const told: Change[] = [];
    // What PostgreSQL tells of the applications made before may still come in between.
    api.services.notifications.subscribe((change) => void (change !== 'everything' && change.id === 'announced' && told.push(change)));
    await createApplication(api.services, { id: 'announced', label: 'x', settings: { application_type: 'service' } }, SYSTEM);
    assert.deepEqual(told[0], { kind: 'application', id: 'announced' });
    await eventually(() => told.length === 2, 'PostgreSQL tells of it, too');
    assert.deepEqual(told[1], told[0]);
  });

  const completed: [what: string, settings: object, expected: object][] = [
    ['response types in any order of words', { response_types: ['token code id_token'] }, { response_types: ['code id_token token'] }],
    [
      'the grants that the response types run on',
      { response_types: ['code token'], grant_types: ['refresh_token'] },
      { grant_types: ['refresh_token', 'authorization_code', 'implicit'] },
    ],
    ['only the grant that is needed', { response_types: ['id_token'] }, { grant_types: ['implicit'], response_types: ['id_token'] }],
    [
      'client credentials for a service',
      { application_type: 'service', redirect_uris: [] },
      { grant_types: ['client_credentials'], response_types: [] },
    ],
    ['no response type without a grant for it', { grant_types: ['password'] }, { response_types: [] }],
    ['one of two equal addresses', { redirect_uris: [CALLBACK, CALLBACK] }, { redirect_uris: [CALLBACK] }],
    ['half of a refresh token setting', { refresh_token: { leeway: 0 } }, { refresh_token: { rotation_type: 'ROTATE', leeway: 0 } }],
  ];
  for (const [what, settings, expected] of completed) {
    it(`settles ${what}`, async () => {
      const { status, body } = await api.call<App>('POST', '/apps', withSettings(settings));
      assert.equal(status, 200);
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(body.settings.oauthClient[name], value);
    });
  }

  for (const application_type of ['browser', 'native']) {
    it(`makes a ${application_type} application public, with PKCE and without a secret (RFC 9700 section 2.1.1)`, async () => {
      const { body } = await api.call<App>('POST', '/apps', withSettings({ application_type }));
      const { client_id: _, ...credentials } = body.credentials.oauthClient;
      assert.deepEqual(credentials, { token_endpoint_auth_method: 'none', pkce_required: true });
    });
  }

  const accepted: [type: string, uri: string][] = [
    ['web', 'http://localhost:8080/cb'],
    ['web', 'http://127.0.0.1/cb?x=1'],
    ['web', 'http://[::1]:1/'],
    ['native', 'com.example.app:/cb'],
    ['native', 'http://127.0.0.1/cb'],
    ['native', 'https://app.example/cb'],
  ];
  for (const [application_type, uri] of accepted) {
    it(`accepts ${uri} for a ${application_type} application (RFC 8252 section 7)`, async () => {
      assert.equal((await api.call('POST', '/apps', withSettings({ application_type, redirect_uris: [uri] }))).status, 200);
    });
  }

  const uriMessage = 'settings.oauthClient.redirect_uris.0: must be';
  const refusedUris: [uri: string, cause: string, type?: string][] = [
    ['/cb', `${uriMessage} an absolute URI`],
    ['https://', `${uriMessage} an absolute URI`],
    ['https:app.example/cb', `${uriMessage} an absolute URI`],
    ['https://app.example\\@evil.example/', `${uriMessage} an absolute URI`],
    ['https://app.example/a b', `${uriMessage} an absolute URI`],
    ['https://app.example/cb\nX-Header: 1', `${uriMessage} an absolute URI`],
    ['https://app.example/#', 'settings.oauthClient.redirect_uris.0: must not have a fragment'],
    ['https://good.example@evil.example/', 'settings.oauthClient.redirect_uris.0: must not contain a user name or password'],
    ['http://app.example/cb', 'settings.oauthClient.redirect_uris.0: must use https, or http on a loopback address'],
    ['http://localhost.evil.example/cb', 'settings.oauthClient.redirect_uris.0: must use https, or http on a loopback address'],
    ['http://app.example/cb', 'settings.oauthClient.redirect_uris.0: must use https, or http on a loopback address', 'native'],
    ['javascript:alert(1)', 'settings.oauthClient.redirect_uris.0: must not use a script, data or file scheme', 'native'],
    ['com.example.app:/cb', 'settings.oauthClient.redirect_uris: must begin with https:// or http://, unless the application is native'],
    [
      'https://localhost/cb',
      'settings.oauthClient.redirect_uris: must use http on localhost, 127.0.0.1 or [::1], https on other hosts, or a custom scheme',
      'native',
    ],
  ];
  for (const [uri, cause, application_type = 'web'] of refusedUris) {
    it(`refuses ${JSON.stringify(uri)} for a ${application_type} application (RFC 6749 section 3.1.2)`, async () => {
      const answer = await api.call('POST', '/apps', withSettings({ application_type, redirect_uris: [uri] }));
      assert.deepEqual([answer.status, causes(answer)], [400, [cause]]);
    });
  }

  const ec = {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  };
  const refused: [why: string, body: unknown, expected: string[]][] = [
    ['no label', { settings: {} }, ['label: is required']],
    ['a response type without an address', { label: 'x' }, ['settings.oauthClient.redirect_uris: is required with a response type']],
    [
      'unknown values',
      withSettings({
        grant_types: ['device'],
        response_types: ['none', 'code code'],
        application_type: 'tv',
        refresh_token: { leeway: 61 },
      }),
      [
        'settings.oauthClient.application_type: must be web or native or browser or service',
        'settings.oauthClient.grant_types.0: must be authorization_code or implicit or password or client_credentials or refresh_token or urn:ietf:params:oauth:grant-type:device_code or urn:openid:params:grant-type:ciba or urn:ietf:params:oauth:grant-type:token-exchange or urn:ietf:params:oauth:grant-type:jwt-bearer',
        'settings.oauthClient.refresh_token.leeway: must be at most 60',
        'settings.oauthClient.response_types.0: must be a combination of code, token and id_token',
        'settings.oauthClient.response_types.1: must be a combination of code, token and id_token',
      ],
    ],
    [
      'a public application with a secret, without PKCE, with client credentials',
      withSettings(
        { grant_types: ['client_credentials'] },
        { token_endpoint_auth_method: 'none', pkce_required: false, client_secret: 'x'.repeat(32) },
      ),
      [
        'credentials.oauthClient.client_secret: cannot be used with token_endpoint_auth_method none',
        'credentials.oauthClient.pkce_required: must be true with token_endpoint_auth_method none',
        'credentials.oauthClient.token_endpoint_auth_method: must not be none with grant type client_credentials',
      ],
    ],
    [
      'private_key_jwt without a key',
      withSettings({}, { token_endpoint_auth_method: 'private_key_jwt' }),
      ['settings.oauthClient.jwks: is required with token_endpoint_auth_method private_key_jwt, unless jwks_uri or federated is set'],
    ],
    ['a private key', withSettings({ jwks: { keys: [{ ...ec, d: 'AQ' }] } }), ['settings.oauthClient.jwks.keys.0: must be a public key']],
    [
      'a key twice told',
      withSettings({ jwks: { keys: [ec] }, jwks_uri: 'https://app.example/keys' }),
      ['settings.oauthClient.jwks_uri: cannot be combined with jwks. Remove one of them'],
    ],
    [
      'addresses that the service would call in the clear',
      withSettings({ jwks_uri: 'http://app.example/keys', backchannel_logout_uri: 'http://app.example/out' }),
      [
        'settings.oauthClient.backchannel_logout_uri: must use https, or http on a loopback address',
        'settings.oauthClient.jwks_uri: must use https, or http on a loopback address',
      ],
    ],
    [
      'a logo that is a script',
      withSettings({ logo_uri: 'javascript:alert(1)' }),
      ['settings.oauthClient.logo_uri: must begin with https:// or http://'],
    ],
    [
      'an origin with a path',
      withSettings({ allowed_origins: ['https://app.example/'] }),
      ['settings.oauthClient.allowed_origins.0: must be an origin: scheme, host and port'],
    ],
    [
      'a client_id that is a path, and a short secret',
      withSettings({}, { client_id: '..', client_secret: 'short' }),
      ['credentials.oauthClient.client_id: must not be . or ..', 'credentials.oauthClient.client_secret: must have at least 32 characters'],
    ],
  ];
  for (const [why, body, expected] of refused) {
    it(`refuses ${why}, with a cause for each field`, async () => {
      const answer = await api.call('POST', '/apps', body);
      assert.deepEqual([answer.status, answer.body.errorCode, causes(answer)], [400, 'E0000001', expected]);
    });
  }

  it('keeps the public members of a key and drops what it does not know (RFC 7517 section 4)', async () => {
    const { body } = await api.call<App>('POST', '/apps', withSettings({ jwks: { keys: [{ ...ec, kid: '1', colour: '\u0000' }] } }));
    assert.deepEqual(body.settings.oauthClient.jwks, { keys: [{ ...ec, kid: '1' }] });
  });

  it('takes fields of an answer back and ignores them ("Conventions")', async () => {
    const { body } = await api.call<App>('POST', '/apps', withSettings({}));
    const again = await api.call<App>('POST', '/apps', {
      ...body,
      credentials: { oauthClient: { token_endpoint_auth_method: 'client_secret_post' } },
    });
    assert.equal(again.status, 200);
    assert.notEqual(again.body.id, body.id);
  });

  for (const client_id of ['playground', 'console']) {
    it(`keeps the id ${client_id} for the service itself`, async () => {
      const answer = await api.call('POST', '/apps', {
        label: 'x',
        credentials: { oauthClient: { client_id } },
        settings: { oauthClient: { redirect_uris: ['https://a.example/'] } },
      });
      assert.deepEqual([answer.status, answer.body.errorCode], [409, 'E0000014']);
    });
  }

  it('lets a single-page application call from the origins of its redirect URIs unless it names others', async () => {
    const redirect_uris = ['https://app.example/a', 'https://app.example/b', 'http://localhost:8080/'];
    for (const [given, expected] of [
      [{}, ['https://app.example', 'http://localhost:8080']],
      [{ allowed_origins: [] }, []],
      [{ allowed_origins: ['https://other.example'] }, ['https://other.example']],
    ] as const) {
      const settings = { application_type: 'browser', redirect_uris, ...given };
      const { status, body } = await api.call<App>('POST', '/apps', withSettings(settings, { token_endpoint_auth_method: 'none' }));
      assert.deepEqual([status, body.settings.oauthClient.allowed_origins], [200, expected]);
    }
  });

  it('lets one of twenty have a client_id and tells the others 409', async () => {
    const body = withSettings({}, { client_id: 'wanted' });
    const statuses = (await Promise.all(Array.from({ length: 20 }, () => api.call('POST', '/apps', body)))).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [200, ...Array(19).fill(409)]);
    const { rows } = await api.services.database.knex.raw("SELECT count(*) FROM application_secrets WHERE application_id = 'wanted'");
    assert.equal(rows[0].count, 1);
  });

  for (const id of ['nothing', '%00', 'a%2Fb']) {
    it(`answers 404 for ${id}`, async () => {
      const answer = await api.call('GET', `/apps/${id}`);
      assert.deepEqual([answer.status, answer.body.errorCode], [404, 'E0000007']);
    });
  }
});
