/** What decides about a sign-in is kept by each process, and a change made in one counts in the other ("A change made in one process reaches the others within a second"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { afterwards } from '../../support/afterwards.ts';
import { onServer, startedDatabase } from '../../support/database.ts';
import { eventually } from '../../support/process.ts';
import { type Service, STARTED, startService } from '../../support/service.ts';
import { createIdp, idpBody, startUpstream } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

/** By itself a process would look again in ten minutes (support/short-waits.ts): only the telling can be faster. */
const soon = eventually;

test('the sign-in page and the sign-in follow settings, providers and applications that were changed at another process', async (t) => {
  const beside = { database: await startedDatabase(), secretKey: STARTED.SECRET_KEY };
  afterwards(t, () => beside.database.drop());
  const env = { ALLOW_PRIVATE_NETWORK: 'true' };
  const [first, second] = [await startService(t, { beside, env }), await startService(t, { beside, env })];
  const user = await first.createUser();
  const client = await createClient(first);
  const visit = (service: Service): Promise<[UserAgent, Page]> => {
    const browser = new UserAgent(service.baseUrl);
    return browser.visit(authorizeUrl(service, 'built-in', { client_id: client.clientId })).then((page) => [browser, page]);
  };
  const shown = async () => (await visit(second))[1].text;
  const signedIn = async (): Promise<string> => {
    const [browser, page] = await visit(second);
    return (await browser.signIn(page, user)).text;
  };
  const set = async (path: string, body: object) => assert.equal((await first.api('PUT', path, body)).status, 200, path);

  assert.match(await shown(), /type="password"/);
  await set('/settings/sign-in', { identifierFirst: true });
  await soon(async () => !(await shown()).includes('type="password"'), 'the name alone is asked for');
  await set('/settings/sign-in', {});
  await soon(async () => (await shown()).includes('type="password"'), 'and the password again');

  assert.equal(await signedIn(), '', 'the password is enough');
  await set('/settings/sign-in', { mfa: 'EVERYONE' });
  await soon(async () => (await signedIn()).includes('enroll-form'), 'everybody needs a second factor');
  await set('/settings/sign-in', {});
  await soon(async () => (await signedIn()) === '', 'and nobody');

  const settings = (await first.api('GET', `/apps/${client.clientId}`)).body;
  settings.settings.oauthClient.mfa_required = true;
  await set(`/apps/${client.clientId}`, settings);
  await soon(async () => (await signedIn()).includes('enroll-form'), 'the application asks a second factor of all its users');
  settings.settings.oauthClient.mfa_required = false;
  await set(`/apps/${client.clientId}`, settings);
  await soon(async () => (await signedIn()) === '', 'and of nobody');

  const changed = new Date(Date.now() - 2 * 86_400_000);
  await onServer(first.database.url, (sql) => sql.query('UPDATE users SET password_changed = $1 WHERE id = $2', [changed, user.id]));
  assert.equal(await signedIn(), '', 'a password may be old');
  await set('/settings/password', { maxAgeDays: 1 });
  await soon(async () => (await signedIn()) !== '', 'and from now on not so old');
  await set('/settings/password', {});
  await soon(async () => (await signedIn()) === '', 'and may again');

  const upstream = await startUpstream(t);
  const idp = await createIdp(first, idpBody(upstream, {}, {}, { name: 'Acme' }));
  await soon(async () => (await shown()).includes('Acme'), 'a new provider is offered');
  assert.equal((await first.api('POST', `/idps/${idp}/lifecycle/deactivate`)).status, 200);
  await soon(async () => !(await shown()).includes('Acme'), 'one that is not active is not');
  assert.equal((await first.api('POST', `/idps/${idp}/lifecycle/activate`)).status, 200);
  await soon(async () => (await shown()).includes('Acme'), 'it is again');
  assert.equal((await first.api('DELETE', `/idps/${idp}`)).status, 204);
  await soon(async () => !(await shown()).includes('Acme'), 'a deleted one is not');
});
