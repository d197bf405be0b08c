import assert from 'node:assert/strict';
import { after, before, describe, it, test } from 'node:test';
import { answerOf, authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { moveClock } from '../../support/clock.ts';
import { causes, type ManagementApi, startManagementApi } from '../../support/management-api.ts';
import { eventually } from '../../support/process.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';

const DEFAULTS = {
  'sign-in': {
    sessionIdleMinutes: 720,
    sessionLifetimeDays: 30,
    identifierFirst: false,
    methods: ['password', 'passkey'],
    mfa: 'OPTIONAL',
    mfaFrom: null,
    messageFactors: [],
    rememberBrowserDays: 0,
    passkeyOffer: false,
    passwordOptional: false,
    rules: [],
  },
  password: { minLength: 8, historyCount: 4, maxAgeDays: null, breached: 'OFF', breachedRangeUrl: null },
  branding: {
    ...{ name: 'Gatehouse', logoUrl: null, primaryColorHex: null, primaryColorDarkHex: null },
    ...{ supportUrl: null, privacyUrl: null, termsUrl: null },
    ...{ footerLinks: [], faviconUrl: null, backgroundUrl: null, css: null },
  },
  audit: { retentionDays: null },
  bots: { signUp: 'ADAPTIVE', passwordReset: 'OFF', signIn: 'OFF' },
};

describe('settings (management API, "Resources")', () => {
  let api: ManagementApi;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const accepted: [name: keyof typeof DEFAULTS, set: object][] = [
    ['sign-in', { sessionIdleMinutes: 1, sessionLifetimeDays: 365, mfa: 'EVERYONE' }],
    ['sign-in', { sessionIdleMinutes: 43_200 }],
    ['sign-in', { identifierFirst: true }],
    ['sign-in', { mfa: 'ADMINISTRATORS', mfaFrom: '2030-01-01T00:00:00.000Z' }],
    ['password', { minLength: 128 }],
    ['password', { historyCount: 0, maxAgeDays: 1 }],
    ['password', { historyCount: 24, maxAgeDays: 3650 }],
    ['password', { maxAgeDays: null }],
    ['branding', { name: '<b>Haus</b> بيت' }],
    ['branding', { supportUrl: 'https://help.example/#contact', privacyUrl: 'https://example.com/privacy', termsUrl: null }],
    ['branding', { logoUrl: 'https://cdn.example/logo.svg', primaryColorHex: '#0f5c5c', primaryColorDarkHex: '#6fd0c4' }],
    ['branding', { primaryColorHex: '#7a1f5c' }],
    ['audit', { retentionDays: 1 }],
    ['audit', { retentionDays: null }],
  ];
  for (const [name, set] of accepted) {
    it(`replaces ${name} by ${JSON.stringify(set)}; what is absent returns to its default`, async () => {
      const expected = { ...DEFAULTS[name], ...set };
      assert.deepEqual((await api.call('PUT', `/settings/${name}`, set)).body, expected);
      const read = await api.call('GET', `/settings/${name}`);
      assert.deepEqual([read.status, read.body], [200, expected]);
      const again = await api.call('PUT', `/settings/${name}`, read.body);
      assert.deepEqual(again.body, expected, 'an answer may be sent back');
      assert.deepEqual((await api.call('PUT', `/settings/${name}`, {})).body, DEFAULTS[name]);
    });
  }

  it('records a change with what was before', async () => {
    await api.call('PUT', '/settings/password', { minLength: 9 });
    await api.call('PUT', '/settings/password', { minLength: 10 });
    const event = await api.services.database
      .knex('audit_events')
      .where({ event_type: 'system.settings.update' })
      .orderBy('seq', 'desc')
      .first();
    assert.deepEqual(
      [event.actor.id, event.target[0].id, event.debug_context],
      [api.admin.userId, 'password', { before: { ...DEFAULTS.password, minLength: 9 }, after: { ...DEFAULTS.password, minLength: 10 } }],
    );
  });

  it('leaves one of twenty as the last, and every event begins where the one before ended', async () => {
    const sizes = Array.from({ length: 20 }, (_, turn) => 20 + turn);
    const answers = await Promise.all(sizes.map((minLength) => api.call('PUT', '/settings/password', { minLength })));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const { body: last } = await api.call<{ minLength: number }>('GET', '/settings/password');
    const rows = await api.services.database
      .knex('audit_events')
      .where({ event_type: 'system.settings.update' })
      .orderBy('seq')
      .select<{ debug_context: { before: object; after: object } }[]>('debug_context');
    const steps = rows.slice(-20).map(({ debug_context }) => debug_context);
    assert.deepEqual(steps.at(-1)?.after, last);
    for (const [turn, step] of steps.slice(1).entries()) assert.deepEqual(step.before, steps[turn]?.after);
    await api.call('PUT', '/settings/password', {});
  });

  const refused: [name: string, set: unknown, expected: string[]][] = [
    ['sign-in', { sessionIdleMinutes: 0 }, ['sessionIdleMinutes: must be at least 1']],
    ['sign-in', { sessionIdleMinutes: 43_201 }, ['sessionIdleMinutes: must be at most 43200']],
    ['sign-in', { sessionLifetimeDays: 1.5 }, ['sessionLifetimeDays: must be a whole number']],
    [
      'sign-in',
      { sessionLifetimeDays: 366, mfa: true },
      ['mfa: must be OPTIONAL or ADMINISTRATORS or EVERYONE', 'sessionLifetimeDays: must be at most 365'],
    ],
    ['sign-in', { identifierFirst: 'yes' }, ['identifierFirst: must be of type boolean']],
    ['password', { minLength: 7 }, ['minLength: must be at least 8']],
    ['password', { minLength: 129 }, ['minLength: must be at most 128']],
    ['password', { minLength: '10' }, ['minLength: must be of type number']],
    ['branding', { name: ' ' }, ['name: must not be empty']],
    ['branding', { name: 'x'.repeat(101) }, ['name: must have at most 100 characters']],
    ['branding', { name: 'a\u0000b' }, ['name: must not contain control characters']],
    ['branding', { supportUrl: 'http://example.com' }, ['supportUrl: must be a URL that begins with https://']],
    ['branding', { privacyUrl: 'javascript:alert(1)' }, ['privacyUrl: must be a URL that begins with https://']],
    ['branding', { termsUrl: 'https://user:pass@example.com/' }, ['termsUrl: must be a URL that begins with https://']],
    ['branding', { logo: 'x' }, ['logo: is not a field of this resource']],
    ['branding', { logoUrl: 'data:image/png;base64,AA' }, ['logoUrl: must be a URL that begins with https://']],
    ['branding', { primaryColorHex: 'red' }, ['primaryColorHex: must be a colour like #0f5c5c']],
    ['branding', { primaryColorHex: '#0f5c5c;}' }, ['primaryColorHex: must be a colour like #0f5c5c']],
    [
      'branding',
      { primaryColorHex: '#ff0000', primaryColorDarkHex: '#7a1f5c' },
      [
        'primaryColorDarkHex: is hard to read in dark: links in notices would have a contrast of 1.43:1, but 4.5:1 is required (WCAG 2.2, 1.4.3). The nearest readable colour is #b786a7',
        'primaryColorHex: is hard to read in light: links in notices would have a contrast of 3.51:1, but 4.5:1 is required (WCAG 2.2, 1.4.3). The nearest readable colour is #db0000',
      ],
    ],
    ['audit', { retentionDays: 0 }, ['retentionDays: must be at least 1']],
    ['audit', { retentionDays: 36_501 }, ['retentionDays: must be at most 36500']],
  ];
  for (const [name, set, expected] of refused) {
    it(`refuses ${name} ${JSON.stringify(set).slice(0, 60)}`, async () => {
      const answer = await api.call('PUT', `/settings/${name}`, set);
      assert.deepEqual([answer.status, causes(answer)], [400, expected]);
    });
  }

  it('knows no other settings', async () => {
    for (const name of ['first-start', 'nothing', '']) assert.equal((await api.call('GET', `/settings/${name}`)).status, 404);
  });

  it('asks the length of every new password, counted in characters, and of none that is kept', async () => {
    const old = { profile: { login: 'old' }, credentials: { password: { value: 'nineq8xq' } } };
    assert.equal((await api.call('POST', '/users', old)).status, 200);
    await api.call('PUT', '/settings/password', { minLength: 12 });
    const create = (login: string, value: string) =>
      api.call('POST', '/users', { profile: { login }, credentials: { password: { value } } });
    const short = await create('short', 'elevenchars');
    const cause = 'credentials.password.value: must have at least 12 characters';
    assert.deepEqual([short.status, causes(short)], [400, [cause]]);
    assert.equal((await api.call('GET', '/users/short')).status, 404);
    assert.deepEqual(causes(await create('composed', 'e\u0301'.repeat(11))), [cause]);
    assert.equal((await create('long enough', '🔑'.repeat(12))).status, 200);
    const changed = await api.call('POST', '/users/old', { credentials: { password: { value: 'elevenchars' } } });
    assert.deepEqual([changed.status, causes(changed)], [400, [cause]]);
    assert.equal((await api.call('POST', '/users/old', { profile: { nickName: 'O' } })).status, 200);
    await api.call('PUT', '/settings/password', {});
  });
});

test('settings/sign-in: a session ends when it was idle for so long, and at the latest so long after its sign-in', async (t) => {
  const service = await startService(t);
  const user = await service.createUser();
  const client = await createClient(service);
  const silently = async (browser: UserAgent) =>
    answerOf(await browser.visit(authorizeUrl(service, 'default', { client_id: client.clientId, prompt: 'none' })));
  // Servers are built with the settings of before, so that the change has to reach them.
  assert.equal((await silently(new UserAgent(service.baseUrl))).error, 'login_required');
  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 10, sessionLifetimeDays: 1 });

  const minutes = (count: number) => moveClock(t, count * 60);
  const byApplication = new UserAgent(service.baseUrl);
  await byApplication.signIn(await byApplication.visit(authorizeUrl(service, 'default', { client_id: client.clientId })), user);
  const alone = new UserAgent(service.baseUrl);
  await alone.signIn(await alone.visit('/signin'), user);

  minutes(9);
  assert.ok((await silently(byApplication)).code);
  assert.ok((await silently(alone)).code);
  minutes(9);
  assert.ok((await silently(byApplication)).code, 'its use has prolonged it');
  assert.ok((await silently(alone)).code);
  minutes(11);
  assert.equal((await silently(byApplication)).error, 'login_required');
  assert.equal((await silently(alone)).error, 'login_required');

  await service.api('PUT', '/settings/sign-in', { sessionIdleMinutes: 1200, sessionLifetimeDays: 1 });
  const long = new UserAgent(service.baseUrl);
  await long.signIn(await long.visit('/signin'), user);
  minutes(19 * 60);
  assert.ok((await silently(long)).code);
  minutes(6 * 60);
  assert.equal((await silently(long)).error, 'login_required');
});

test('settings/branding: name and links stand on the pages of every process, in their language, as text', async (t) => {
  const secretKey = newSecretKey();
  const service = await startService(t, { env: { SECRET_KEY: secretKey } });
  const other = await startService(t, { beside: { database: service.database, secretKey } });
  const page = async (at: typeof service, language = 'en', path = '/signin') =>
    (await fetch(at.baseUrl + path, { headers: { 'accept-language': language } })).text();

  for (const at of [service, other]) {
    assert.match(await page(at), /<title>[^<]* – Gatehouse<\/title>/);
    assert.doesNotMatch(await page(at), /<footer/);
  }
  const name = '<b>Haus</b> & Hof';
  const links = { supportUrl: 'https://help.example/?a=1&b=2', privacyUrl: 'https://example.com/privacy' };
  assert.equal((await service.api('PUT', '/settings/branding', { name, ...links })).status, 200);
  const changed = await page(service);
  assert.match(changed, /<title>Sign in – &lt;b&gt;Haus&lt;\/b&gt; &amp; Hof<\/title>/);
  assert.match(changed, /<span>&lt;b&gt;Haus&lt;\/b&gt; &amp; Hof<\/span>/);
  assert.doesNotMatch(changed, /Gatehouse/);
  assert.deepEqual(
    [...changed.matchAll(/<a href="([^"]*)" rel="noreferrer">([^<]*)</g)].map(([, href, text]) => [href, text]),
    [
      ['https://help.example/?a=1&amp;b=2', 'Help'],
      ['https://example.com/privacy', 'Privacy policy'],
    ],
  );
  for (const [language, text] of [
    ['de', 'Datenschutzerklärung'],
    ['es', 'Política de privacidad'],
    ['zh-CN', '隐私政策'],
  ]) {
    assert.ok((await page(service, language)).includes(`>${text}</a>`), language);
  }
  assert.match(await page(service, 'en', '/no-such-page'), /<footer/);
  await eventually(async () => (await page(other)).includes('&lt;b&gt;Haus'), 'the other process shows it too');
  await service.api('PUT', '/settings/branding', {});
  assert.match(await page(service), /<span>Gatehouse<\/span>/);
});
