/** What breaks the protocol is findable: in the log by its request id, in the audit log and on the application's page where the application is known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enter, wordsOf } from '../../pages/console/administrators.ts';
import { eventually } from '../../support/process.ts';
import { startService } from '../../support/service.ts';
import { authorizeUrl, createClient } from '../servers/relying-party.ts';

test('a refused request is logged with its reason, noted once a minute, and shown on the application’s page', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const service = await startService(t, { env: { LOG_LEVEL: 'info' }, onLog: (line) => lines.push(JSON.parse(line)) });
  const { clientId, clientSecret = '' } = await createClient(service);
  const basic = (secret: string) => `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
  const authorize = (more: Record<string, string | undefined>) =>
    fetch(authorizeUrl(service, 'default', { client_id: clientId, ...more }), { redirect: 'manual' });
  const token = (authorization: string, form: Record<string, string>) =>
    fetch(`${service.issuer('default')}/token`, { method: 'POST', headers: { authorization }, body: new URLSearchParams(form) });
  const code = { grant_type: 'authorization_code', code: 'nonsense', redirect_uri: 'https://app.example/callback' };
  const table: [what: string, send: () => Promise<Response>, error: string, reason: RegExp, isNoted?: false][] = [
    ['a redirect URI of somebody else', () => authorize({ redirect_uri: 'https://evil.example/' }), 'invalid_redirect_uri', /redirect_uri/],
    ['an unknown application', () => authorize({ client_id: 'nobody' }), 'invalid_client', /client/, false],
    ['a state with a blank', () => authorize({ state: 'a b' }), 'invalid_request', /state .*set the profile of .* to openid/],
    ['an unknown scope', () => authorize({ scope: 'openid nonsense' }), 'invalid_scope', /does not have the scope nonsense\./],
    ['a wrong secret', () => token(basic(`${clientSecret}x`), code), 'invalid_client', /client/],
    ['a wrong code', () => token(basic(clientSecret), code), 'invalid_grant', /./],
  ];
  const noted = async (): Promise<{ uuid: string; outcome: { reason: string; result: string }; actor: { id: string } }[]> =>
    (await service.api('GET', `/logs?limit=200&filter=${encodeURIComponent('outcome.result eq "FAILURE"')}`)).body;
  for (const [what, send, error, reason, isNoted = true] of table) {
    const requestId = (await send()).headers.get('x-request-id');
    const line = await eventually(() => lines.find((one) => one.requestId === requestId && one.msg === 'request'), `the line of ${what}`);
    assert.equal(line.error, error, what);
    assert.match(String(line.reason), reason, what);
    if (!isNoted) continue;
    const event = await eventually(
      async () => (await noted()).find(({ outcome }) => outcome.reason.startsWith(`${error}: `)),
      `the event of ${what}`,
    );
    assert.equal(event.actor.id, clientId, what);
    assert.match(event.outcome.reason, reason, what);
  }
  const before = await noted();
  assert.equal(before.length, table.filter(([, , , , isNoted = true]) => isNoted).length);

  // A loop of requests writes nothing more; that somebody has to sign in is no refusal.
  for (const [, send] of table) await send();
  await authorize({ prompt: 'none' });
  assert.ok(!JSON.stringify(lines).includes(clientSecret), 'no secret');
  const { agent } = await enter(service);
  const connect = await agent.visit(`${service.baseUrl}/admin/applications/${clientId}`);
  const { text } = connect;
  assert.match(text, /Refused requests/);
  for (const [, , error, , isNoted = true] of table) if (isNoted) assert.ok(text.includes(error), error);
  assert.equal((await noted()).length, before.length);

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
