/** Identity providers with their users, the policies of sign-ins and passwords, event hooks, branding, mail. */
import assert from 'node:assert/strict';
import { onServer } from '../../../support/database.ts';
import { LONG, type Tour } from '../tour.ts';

export const security: Tour = async (service) => {
  const made = async (path: string, body: unknown) => {
    const answer = await service.api('POST', path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const client = { client_id: 'at-the-provider', client_secret: 'a-secret-of-the-provider' };
  const google = { type: 'GOOGLE', protocol: { credentials: { client } } };
  const { id: groupId } = await made('/groups', { profile: { name: 'Guests from elsewhere' } });
  for (let n = 0; n < 20; n += 1) await made('/idps', { ...google, name: `Workspace ${n}` });
  const idp = await made('/idps', {
    ...{ name: `Provider${LONG}`, type: 'GITHUB', protocol: { credentials: { client } } },
    policy: {
      provisioning: { action: 'AUTO', groups: { action: 'ASSIGN', assignments: [groupId] } },
      accountLink: { action: 'AUTO', filter: { groups: { include: [groupId] } } },
      subject: { emailDomains: ['example.com', `${'a'.repeat(60)}.example`] },
    },
  });
  const off = await made('/idps', { ...google, name: 'Switched off' });
  await made(`/idps/${off.id}/lifecycle/deactivate`, undefined);
  const linked = await service.createUser();
  await made(`/idps/${idp.id}/users/${linked.id}`, { externalId: 'x'.repeat(255) });
  for (let n = 0; n < 20; n += 1) {
    const { id } = await service.createUser();
    await made(`/idps/${idp.id}/users/${id}`, { externalId: `person ${n}` });
  }
  const hook = (name: string) => ({
    name,
    events: { type: 'EVENT_TYPE', items: ['user.lifecycle.create', 'user.session.start'] },
    channel: {
      type: 'HTTP',
      version: '1.0.0',
      config: {
        uri: `http://127.0.0.1:9/${'path'.repeat(40)}`,
        headers: [{ key: 'X-Where', value: 'here' }],
        authScheme: { type: 'HEADER', key: 'Authorization', value: 'Bearer of-the-receiver' },
      },
    },
  });
  for (let n = 0; n < 20; n += 1) await made('/eventHooks', hook(`Hook ${n}`));
  const { id: hookId } = await made('/eventHooks', hook(LONG));
  await onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO event_hook_deliveries (hook_id, id, event_id, event_type, attempts, last_attempt, latency, status, response, error)
        SELECT $1, 'delivery-' || n, (SELECT uuid FROM audit_events ORDER BY seq LIMIT 1), 'user.lifecycle.create', n, now(), n * 400,
          CASE n WHEN 1 THEN 200 WHEN 2 THEN 500 END, CASE n WHEN 3 THEN '' ELSE repeat('x', 1024) END, CASE n WHEN 3 THEN 'fetch failed' END
        FROM generate_series(1, 3) n`,
      [hookId],
    ),
  );
  await made(`/eventHooks/${hookId}/credentials/secret`, undefined);
  const inlineHook = (name: string, type: string) => ({
    ...{ name, type },
    channel: { type: 'HTTP', version: '1.0.0', config: hook('').channel.config },
  });
  const { id: inlineId } = await made('/inlineHooks', inlineHook(LONG, 'com.okta.oauth2.tokens.transform'));
  const { id: passwordHookId } = await made('/inlineHooks', inlineHook('Old shop', 'com.okta.user.credential.password.import'));
  await made(`/inlineHooks/${passwordHookId}/lifecycle/deactivate`, undefined);
  await made(`/inlineHooks/${passwordHookId}/execute`, {});
  await made(`/inlineHooks/${inlineId}/credentials/secret`, undefined);
  const branding = {
    name: 'Haus & Hof',
    primaryColorHex: '#7a1f5c',
    supportUrl: 'https://help.example/',
    privacyUrl: 'https://example.com/',
    footerLinks: [{ url: 'https://example.com/imprint', labels: { en: 'Imprint', de: 'Impressum' } }],
    css: { version: 1, light: { ground: '#fff7ed' }, radius: 4 },
  };
  assert.equal((await service.api('PUT', '/settings/branding', branding)).status, 200);
  const { clientId } = await service.createApp({ redirect_uris: ['https://app.example/cb'], brand_color: '#1a5fb4' });
  // To whom a test mail would go.
  assert.equal(
    (await service.api('POST', '/users/admin', { profile: { email: `${'a'.repeat(60)}@${'b'.repeat(60)}.example` } })).status,
    200,
  );

  const zone = await made('/zones', {
    ...{ type: 'IP', name: LONG.slice(0, 100) },
    gateways: ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map((value) => ({ type: 'CIDR', value })),
  });
  const conditions = { zones: { include: [zone.name], exclude: [zone.name] }, newBrowser: true, daysSinceLastSignIn: 30 };
  const signIn = (await service.api('GET', '/settings/sign-in')).body;
  const rules = [
    { name: 'Nobody by night', conditions, action: 'DENY' },
    { name: 'All by day', conditions: {}, action: 'ALLOW' },
  ];
  assert.equal((await service.api('PUT', '/settings/sign-in', { ...signIn, rules })).status, 200);

  const providers = '/security/identity-providers';
  const hooks = '/api/event-hooks';
  const inlineHooks = '/api/inline-hooks';
  const streams = '/api/signal-streams';
  const signals = {
    applicationId: clientId,
    events: ['https://schemas.openid.net/secevent/caep/event-type/session-revoked'],
    delivery: { method: 'PUSH', endpointUrl: 'https://receiver.example/events', authorizationHeader: 'Bearer 4711' },
  };
  const { id: streamId } = await made('/ssf/streams', { ...signals, description: LONG });
  const { id: pausedId } = await made('/ssf/streams', { ...signals, delivery: { method: 'POLL' } });
  await made(`/ssf/streams/${pausedId}/lifecycle/pause`, { reason: 'Maintenance' });
  return [
    providers,
    `${providers}?q=Workspace&type=GOOGLE`,
    `${providers}?q=nothing-is-called-so`,
    `${providers}/new`,
    ...['oidc', 'google', 'github', 'microsoft'].map((type) => `${providers}/new/${type}`),
    `${providers}/${idp.id}`,
    `${providers}/${off.id}`,
    ...['edit', 'activate', 'deactivate', 'delete', 'users', 'users/new'].map((page) => `${providers}/${idp.id}/${page}`),
    `${providers}/${idp.id}/users/${linked.id}/unlink`,
    `${providers}/${off.id}/users`,
    '/security/sign-in-policy',
    '/security/sign-in-policy/edit',
    ...['new', 'Nobody%20by%20night', 'Nobody%20by%20night/delete'].map((page) => `/security/sign-in-policy/rules/${page}`),
    '/security/bots',
    '/security/bots/edit',
    '/security/sign-up',
    '/security/sign-up/edit',
    '/security/zones',
    ...['new', zone.id, `${zone.id}/delete`].map((page) => `/security/zones/${page}`),
    '/security/passwords',
    '/security/passwords/edit',
    hooks,
    streams,
    `${streams}/new`,
    ...['', '/edit', '/verify', '/pause', '/disable', '/delete'].map((page) => `${streams}/${streamId}${page}`),
    ...['', '/edit', '/enable'].map((page) => `${streams}/${pausedId}${page}`),
    inlineHooks,
    `${inlineHooks}/new`,
    ...['', '/edit', '/secret', '/test', '/activate', '/deactivate', '/delete'].map((page) => `${inlineHooks}/${inlineId}${page}`),
    `${inlineHooks}/${passwordHookId}`,
    `${hooks}/new`,
    `${hooks}/${hookId}`,
    ...['deliveries', 'deliveries?outcome=FAILED', ...[1, 2, 3].map((n) => `deliveries/delivery-${n}`), 'deliveries/delivery-1/again'].map(
      (page) => `${hooks}/${hookId}/${page}`,
    ),
    ...['edit', 'secret', 'verify', 'test', 'activate', 'deactivate', 'delete'].map((page) => `${hooks}/${hookId}/${page}`),
    '/settings/branding',
    '/settings/branding/edit',
    '/settings/branding/preview',
    '/settings/branding/style',
    '/settings/branding/style/edit',
    ...['', '/new', '/0/edit', '/0/remove'].map((page) => `/settings/branding/links${page}`),
    '/settings/branding/applications',
    `/settings/branding/applications/${clientId}`,
    '/settings/mail',
    '/settings/mail/edit',
    '/settings/mail/test',
    '/settings/telephony',
    '/settings/telephony/edit',
    '/settings/telephony/test',
    '/settings/mail/templates',
    ...['', '/preview', '/test', '/reset'].map((page) => `/settings/mail/templates/invitation/de${page}`),
    '/settings/texts',
    '/settings/texts?q=nothing-is-called-so',
    '/settings/texts/de/consent.title',
  ];
};
