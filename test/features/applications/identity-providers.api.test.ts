/** `settings.oauthClient.identity_providers`: which providers an application offers; what is unknown is refused, and what is deleted opens nothing. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorizeUrl } from '../../protocol/servers/relying-party.ts';
import { startService } from '../../support/service.ts';
import { createIdp } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';

test('the identity providers of an application', async (t) => {
  const service = await startService(t);
  let count = 0;
  const provider = () => {
    count += 1;
    return createIdp(service, {
      ...{ name: `Provider ${count}`, type: 'OIDC' },
      protocol: {
        issuer: { url: 'https://idp.example' },
        credentials: { client: { client_id: 'us', token_endpoint_auth_method: 'none' } },
      },
    });
  };
  const body = (identity_providers?: string[]) => ({
    label: 'Shop',
    settings: { oauthClient: { redirect_uris: ['https://shop.example/callback'], identity_providers } },
  });
  const listOf = async (id: string) => (await service.api('GET', `/apps/${id}`)).body.settings.oauthClient.identity_providers;
  const buttonsOf = async (clientId: string) => {
    const page = await new UserAgent(service.baseUrl).visit(
      authorizeUrl(service, 'default', { client_id: clientId, redirect_uri: 'https://shop.example/callback' }),
    );
    assert.match(page.text, /id="sign-in-form"/);
    return [...page.text.matchAll(/\/upstream\/(idp_\w+)/g)].map(([, id]) => id);
  };
  const [one, two] = [await provider(), await provider()];

  await t.test('one that there is not is refused with the name of the field, at creation and at change', async () => {
    const created = await service.api('POST', '/apps', body([one]));
    assert.equal(created.status, 200, JSON.stringify(created.body));
    const { id } = created.body;
    for (const [method, path] of [['POST', '/apps'] as const, ['PUT', `/apps/${id}`] as const]) {
      const refused = await service.api(method, path, body([one, 'idp_none']));
      assert.equal(refused.status, 400);
      assert.deepEqual(
        refused.body.errorCauses.map(({ errorSummary }: { errorSummary: string }) => errorSummary),
        ['settings.oauthClient.identity_providers: idp_none does not exist'],
      );
    }
    assert.deepEqual(await listOf(id), [one]);
    assert.equal((await service.api('PUT', `/apps/${id}`, body([two, one, two]))).status, 200);
    assert.deepEqual(await buttonsOf(id), [one, two]);
    await service.api('POST', `/idps/${two}/lifecycle/deactivate`);
    assert.equal((await service.api('PUT', `/apps/${id}`, body([two]))).status, 200, 'an inactive one may be named');
    await service.api('POST', `/idps/${two}/lifecycle/activate`);
  });

  await t.test('a deleted one is taken out of the list; an emptied list offers none, and is told in the audit log', async () => {
    const three = await provider();
    const both = (await service.api('POST', '/apps', body([three, one]))).body.id;
    const alone = (await service.api('POST', '/apps', body([three]))).body.id;
    const all = (await service.api('POST', '/apps', body())).body.id;
    assert.deepEqual(await buttonsOf(alone), [three]);
    assert.equal((await service.api('DELETE', `/idps/${three}`)).status, 204);
    assert.deepEqual([await listOf(both), await listOf(alone), await listOf(all)], [[one], [], undefined]);
    assert.deepEqual([await buttonsOf(both), await buttonsOf(alone), await buttonsOf(all)], [[one], [], [one, two]]);
    const { body: events } = await service.api(
      'GET',
      `/logs?limit=200&filter=${encodeURIComponent(`eventType eq "application.lifecycle.update" and target.id eq "${alone}"`)}`,
    );
    const { before, after } = events.at(-1).debugContext;
    assert.deepEqual([before.settings.identity_providers, after.settings.identity_providers], [[three], []]);
  });

  await t.test('applications that name it and its deletion at once: no list keeps what is gone, and nothing waits for ever', async () => {
    const four = await provider();
    const apps: string[] = [];
    for (let n = 0; n < 5; n += 1) apps.push((await service.api('POST', '/apps', body([four]))).body.id);
    const statuses = await Promise.all([
      ...apps.flatMap((id) => [service.api('PUT', `/apps/${id}`, body([four])), service.api('PUT', `/apps/${id}`, body([one, four]))]),
      service.api('DELETE', `/idps/${four}`),
      ...Array.from({ length: 5 }, () => service.api('POST', '/apps', body([four]))),
    ]);
    for (const { status, body: answer } of statuses) assert.ok([200, 204, 400].includes(status), JSON.stringify(answer));
    for (const { id, settings } of (await service.api('GET', '/apps?limit=200')).body)
      assert.ok(!settings.oauthClient.identity_providers?.includes(four), id);
  });
});
