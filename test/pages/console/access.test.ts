/** Whom every page of the console lets in, and whose forms it takes (OWASP ASVS 5.0 V8.2, RFC 6749 section 10.12). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserAgent } from '../../support/user-agent.ts';
import { createAdministrator, createOrganization, enter } from './administrators.ts';
import { pageAt, startOnTour } from './tours.ts';

test('whom every page of the console lets in', async (t) => {
  const { service, stops } = await startOnTour(t);
  const pageOf = new Map(stops.map((stop) => [stop, pageAt(stop)]));
  const orgId = await createOrganization(service, 'Empty');
  const reader = await createAdministrator(service, 'READ_ONLY_ADMIN');
  const orgAdmin = await createAdministrator(service, 'ORG_ADMIN', orgId);
  const nobody = await service.createUser();
  const post = (agent: UserAgent, stop: string, csrf: string, origin = service.baseUrl) =>
    agent.send(`/admin${stop}`, { method: 'POST', body: new URLSearchParams({ csrf }), headers: { origin } });
  const csrfOf = (text: string): string => /name="csrf" value="([^"]*)"/.exec(text)?.[1] ?? '';
  const withForm = stops.filter((stop) => pageOf.get(stop)?.receive !== undefined);

  await t.test('sends whoever is not signed in to the sign-in, and takes no form of his', async () => {
    const agent = new UserAgent(service.baseUrl);
    for (const stop of stops) {
      const answer = await agent.send(`/admin${stop}`);
      assert.equal(answer.status, 303, stop);
      assert.match(answer.headers.get('location') ?? '', /\/oauth\/v1\/authorize\?/, stop);
    }
    for (const stop of withForm) assert.equal((await post(agent, stop, 'x')).status, 303, stop);
  });

  await t.test('is closed to whoever has no role', async () => {
    const { agent, page } = await enter(service, nobody);
    assert.equal(page.status, 403);
    for (const stop of stops) assert.equal((await agent.send(`/admin${stop}`)).status, 403, stop);
    for (const stop of withForm) assert.equal((await post(agent, stop, csrfOf(page.text))).status, 403, stop);
  });

  await t.test('changes nothing for a read-only administrator but what is his own', async () => {
    const { agent, page } = await enter(service, reader);
    for (const stop of stops) {
      const { access, verb = 'read' } = pageOf.get(stop) ?? { access: 'service' };
      const expected = verb === 'read' || access === 'own' ? 200 : 403;
      const { status } = await agent.send(`/admin${stop}`);
      if (access === 'own' && verb === 'write') assert.ok([200, 403].includes(status), stop);
      else assert.equal(status, expected, stop);
    }
    const before = (await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body;
    for (const stop of withForm.filter((one) => pageOf.get(one)?.access !== 'own'))
      assert.equal((await post(agent, stop, csrfOf(page.text))).status, 403, stop);
    assert.deepEqual((await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body, before);
  });

  await t.test('shows an administrator of an empty organization nothing of the others', async () => {
    const { agent, page } = await enter(service, orgAdmin);
    for (const stop of stops) {
      const { access, path } = pageOf.get(stop) ?? { access: 'service', path: '' };
      const { status } = await agent.send(`/admin${stop}`);
      if (access === 'service') assert.equal(status, 403, stop);
      // What is somebody else's he must not even know of.
      else if (access === 'organizations' && path.includes(':')) assert.equal(status, 404, stop);
      else assert.ok([200, 403, 404].includes(status), stop);
    }
    for (const stop of withForm.filter((one) => pageOf.get(one)?.access === 'service'))
      assert.equal((await post(agent, stop, csrfOf(page.text))).status, 403, stop);
    for (const stop of withForm.filter((one) => pageOf.get(one)?.access === 'organizations' && pageOf.get(one)?.path.includes(':')))
      assert.ok([400, 403, 404].includes((await post(agent, stop, csrfOf(page.text))).status), stop);
  });

  await t.test('takes no form from another site, nor one that it did not give to this browser', async () => {
    const { agent, page } = await enter(service);
    const before = (await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body;
    for (const stop of withForm) {
      assert.equal((await post(agent, stop, csrfOf(page.text), 'https://evil.example')).status, 403, stop);
      assert.equal((await post(agent, stop, 'another-browser')).status, 403, stop);
    }
    assert.deepEqual((await service.api('GET', '/logs?limit=1&sortOrder=DESCENDING')).body, before);
  });
});
