/** What breaks the protocol is findable by its request ID: in the log, and where the application is known in the audit log, and on its page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_OF_APPLICATION } from '../../../src/features/audit/refusal-limits.policy.ts';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { authorizeUrl, createClient } from '../servers/relying-party.ts';

test('a refused request of each endpoint is logged with its reason, noted with its request ID, and shown on the application’s page', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const service = await startService(t, { env: { LOG_LEVEL: 'info' }, onLog: (line) => lines.push(JSON.parse(line)) });
  const { clientId, clientSecret = '' } = await createClient(service, {
    grant_types: ['authorization_code', 'client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
    post_logout_redirect_uris: ['https://app.example/out'],
  });
  const basic = (secret: string) => `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const authorize = (more: Record<string, string | undefined>) =>
    fetch(authorizeUrl(service, 'default', { client_id: clientId, ...more }), { redirect: 'manual' });
  const token = (authorization: string, form: Record<string, string>) =>
    fetch(`${service.issuer('default')}/token`, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  const post = (path: string, form: Record<string, string> | string, authorization = basic(clientSecret)) =>
    fetch(`${service.issuer('default')}/${path}`, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  const code = { grant_type: 'authorization_code', code: 'nonsense', redirect_uri: 'https://app.example/callback' };
  const PUSHED = new URL(authorizeUrl(service, 'default', { client_id: clientId, scope: 'openid nonsense' })).search;
  const ELSEWHERE = new URLSearchParams({ client_id: clientId, post_logout_redirect_uri: 'https://evil.example/' });
  const ownToken = async (): Promise<string> =>
    ((await (await post('token', { grant_type: 'client_credentials', scope: 'own.read' })).json()) as { access_token: string })
      .access_token;
  const userinfo = (bearer: string) => fetch(`${service.issuer('default')}/userinfo`, { headers: { authorization: `Bearer ${bearer}` } });
  await service.api('POST', '/authorizationServers/default/scopes', { name: 'own.read' });
  const table: [what: string, send: () => Promise<Response>, error: string, reason: RegExp, isNoted?: false][] = [
    ['a redirect URI of somebody else', () => authorize({ redirect_uri: 'https://evil.example/' }), 'invalid_redirect_uri', /redirect_uri/],
    ['an unknown application', () => authorize({ client_id: 'nobody' }), 'invalid_client', /client/, false],
    ['a state with a blank', () => authorize({ state: 'a b' }), 'invalid_request', /state .*set the profile of .* to openid/],
    ['an unknown scope', () => authorize({ scope: 'openid nonsense' }), 'invalid_scope', /does not have the scope nonsense\./],
    ['a wrong secret', () => token(basic(`${clientSecret}x`), code), 'invalid_client', /client/],
    ['a wrong code', () => token(basic(clientSecret), code), 'invalid_grant', /./],
    ['the same again', () => token(basic(clientSecret), code), 'invalid_grant', /./],
    ['a parameter twice', () => post('token', 'scope=a&scope=b'), 'invalid_request', /must not appear twice/],
    ['a pushed unknown scope', () => post('par', PUSHED), 'invalid_scope', /nonsense/],
    ['an unknown scope of a device', () => post('device_authorization', { scope: 'nonsense' }), 'invalid_scope', /nonsense/],
    ['no token to introspect', () => post('introspect', {}), 'invalid_request', /token/],
    ['no token to revoke', () => post('revoke', {}), 'invalid_request', /token/],
    ['a token without a user', async () => userinfo(await ownToken()), 'insufficient_scope', /does not belong to a user/],
    [
      'another place after the logout',
      () => fetch(`${service.issuer('default')}/logout?${ELSEWHERE}`),
      'invalid_request',
      /is not registered/,
    ],
  ];
  const noted = async (): Promise<{ uuid: string; outcome: { reason: string; result: string }; actor: { id: string } }[]> =>
    (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent('outcome.result eq "FAILURE"')}`)).body;
  for (const [what, send, error, reason, isNoted = true] of table) {
    const requestId = (await send()).headers.get('x-request-id');
    const line = await eventually(() => lines.find((one) => one.requestId === requestId && one.msg === 'request'), `the line of ${what}`);
    assert.equal(line.error, error, what);
    assert.match(String(line.reason), reason, what);
    if (!isNoted) continue;
    const found = await service.api('GET', `/logs?filter=${encodeURIComponent(`transaction.id eq "${requestId}"`)}`);
    assert.equal(found.body.length, 1, what);
    const [event] = found.body;
    assert.ok(event.outcome.reason.startsWith(`${error}: `), `${what}: ${event.outcome.reason}`);
    assert.equal(event.actor.id, clientId, what);
    assert.match(event.outcome.reason, reason, what);
  }
  const before = await noted();
  assert.equal(before.length, table.filter(([, , , , isNoted = true]) => isNoted).length);

  // That somebody has to sign in is no refusal.
  await authorize({ prompt: 'none' });
  const { length } = await noted();
  assert.equal(length, before.length);
  await authorize({ redirect_uri: 'https://evil.example/' });
  assert.ok(!JSON.stringify(lines).includes(clientSecret), 'no secret');
  const { agent } = await enter(service);
  const connect = await agent.visit(`${service.baseUrl}/admin/applications/${clientId}`);
  const { text } = connect;
  assert.match(text, /Refused requests/);
  const shown = [...text.matchAll(/<bdi[^>]*>([a-z_]+): /g)].map(([, error]) => error);
  assert.equal(shown.length, 10, 'the latest');
  assert.deepEqual(shown.slice(0, 3), ['invalid_redirect_uri', 'invalid_request', 'insufficient_scope']);
  assert.equal(shown.filter((error) => error === 'invalid_redirect_uri').length, 1, 'one of each kind');
  const all = /href="([^"]+reports\/log\?application=[^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? assert.fail('no link to all');
  assert.match(wordsOf(await agent.visit(all)), /invalid_redirect_uri.*invalid_grant/);

  // The address that was not known: shown, explained, and one click and one submit from being known.
  const refused = 'https://evil.example/';
  assert.ok(text.includes(`<code><bdi>${refused}</bdi></code>`));
  const { uuid } = (await noted()).find(({ outcome }) => outcome.reason.startsWith('invalid_redirect_uri')) ?? assert.fail();
  assert.match(
    wordsOf(await agent.visit(`/admin/reports/log/${uuid}/explain`)),
    /The request named the redirect URI “?https:\/\/evil\.example\/”?\. The application does not have it\./,
  );
  const address = /href="([^"]+settings\/general\?redirect_uri=[^"]+)"/.exec(text)?.[1] ?? assert.fail('no link to add it');
  const form = await agent.visit(address);
  assert.match(wordsOf(form), /Save “?https:\/\/evil\.example\/”? only if it belongs to the application/);
  const elsewhere = await agent.visit(address.replace('general', 'flow').replace('evil', 'other'));
  assert.doesNotMatch(wordsOf(elsewhere), /other\.example/);
  const saved = await agent.submit(form, 'console-form');
  assert.equal(saved.status, 200, saved.text);
  const { body: app } = await service.api('GET', `/apps/${clientId}`);
  assert.deepEqual(app.settings.oauthClient.redirect_uris, ['https://app.example/callback', refused]);
  assert.doesNotMatch((await agent.visit(connect.url.pathname)).text, /Add redirect URI/);
});

test('of many refused requests of an application, sixty a minute have an event each, and the others are counted', async (t) => {
  const service = await startService(t, { sendsOutbox: true });
  const { clientId } = await createClient(service);
  const ask = (parameters: Record<string, string>) =>
    fetch(authorizeUrl(service, 'default', { client_id: clientId, ...parameters }), { redirect: 'manual' });
  const refused = () => ask({ redirect_uri: 'https://evil.example/' });
  const events = async (type: string): Promise<{ outcome: { reason: string }; debugContext: { after?: object } }[]> => {
    const filter = `eventType eq "${type}" and application.id eq "${clientId}"`;
    return (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent(filter)}`)).body;
  };
  const { clientId: other } = await createClient(service);
  for (let n = 0; n < 7; n += 1) await Promise.all(Array.from({ length: 10 }, refused));
  assert.equal((await events('app.oauth2.as.authorize')).length, MOST_OF_APPLICATION);
  await ask({ scope: 'openid nonsense' });
  const reasons = (await events('app.oauth2.as.authorize')).map(({ outcome }) => outcome.reason.split(':')[0]);
  assert.deepEqual(reasons.slice(MOST_OF_APPLICATION), ['invalid_scope'], 'the first of another kind');
  const requestId = (await ask({ client_id: other, scope: 'nonsense' })).headers.get('x-request-id');
  const { body } = await service.api('GET', `/logs?filter=${encodeURIComponent(`transaction.id eq "${requestId}"`)}`);
  assert.equal(body.length, 1, 'another application has its own limit');

  const further = await eventually(async () => {
    const counts = (await events('app.oauth2.as.requests.refuse')).map(({ debugContext }) => debugContext.after as { requests: number });
    return counts.reduce((sum, { requests }) => sum + requests, 0) === 10 ? counts : undefined;
  }, 'the number of the others');
  assert.ok(JSON.stringify(further).includes('"authorize invalid_redirect_uri":'));
});
