/** The log of an organization, narrowed by event, parties, outcome and time: by the API and on the tab Activity. What its reader is not shown is not searched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization, enter } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';

interface LogEvent {
  readonly uuid: string;
  readonly published: string;
  readonly eventType: string;
  readonly actor: { readonly id: string };
  readonly client: { readonly ipAddress?: string };
  readonly target: readonly { readonly id: string }[];
}

test('the log of an organization is narrowed by event, actor, target, time and outcome', async (t) => {
  const service = await startService(t);
  const [orgId, other] = [await createOrganization(service, 'Own'), await createOrganization(service, 'Other')];
  const reader = await service.createUser({ login: 'reader' });
  const role = { name: 'READ_LOG', permissions: ['READ_LOG'] };
  assert.equal((await service.api('POST', `/account/org/${orgId}/role`, role)).status, 201);
  for (const org of [orgId, other]) await service.api('POST', `/account/org/${org}/department`, { name: `Sales of ${org}` });
  await service.api('PUT', `/account/org/${orgId}/member/${reader.id}`, {});
  assert.equal((await service.api('PUT', `/account/org/${orgId}/member/${reader.id}/role`, { roles: ['READ_LOG'] })).status, 200);
  const ask = async (query: Record<string, string>, org = orgId) =>
    service.api('GET', `/account/org/${org}/log?${new URLSearchParams({ limit: '200', ...query })}`);
  const find = async (filter: string, more: Record<string, string> = {}): Promise<readonly LogEvent[]> => {
    const { status, body } = await ask({ filter, ...more });
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  const all: readonly LogEvent[] = (await ask({})).body;
  assert.ok(all.length > 4);
  const uuids = (events: readonly LogEvent[]) => events.map(({ uuid }) => uuid);

  const { eventType } = all.find(({ eventType: type }) => type.includes('role')) ?? assert.fail(JSON.stringify(all));
  const ofType = all.filter((event) => event.eventType === eventType);
  assert.ok(ofType.length < all.length);
  assert.deepEqual(uuids(await find(`eventType eq "${eventType}"`)), uuids(ofType));
  const aboutReader = all.filter(({ target }) => target.some(({ id }) => id === reader.id));
  assert.ok(aboutReader.length > 0);
  assert.deepEqual(uuids(await find(`target.id eq "${reader.id}"`)), uuids(aboutReader));
  assert.deepEqual(
    uuids(await find('target.displayName co "eader"')),
    uuids(all.filter((one) => JSON.stringify(one.target).includes('eader'))),
  );
  assert.deepEqual(uuids(await find(`actor.id eq "${all[0]?.actor.id}"`)), uuids(all));
  assert.deepEqual(await find(`actor.id eq "${reader.id}"`), []);
  assert.deepEqual(uuids(await find('outcome.result eq "SUCCESS"')), uuids(all));
  assert.deepEqual(await find('outcome.result eq "FAILURE"'), []);
  assert.deepEqual(await find(`target.id eq "${other}"`), [], 'of another organization');
  const middle = all[Math.floor(all.length / 2)]?.published ?? '';
  assert.deepEqual(uuids((await ask({ since: middle })).body), uuids(all.filter(({ published }) => published >= middle)));
  assert.deepEqual(uuids((await ask({ until: middle })).body), uuids(all.filter(({ published }) => published < middle)));

  // Page by page, with a filter.
  const pages: string[] = [];
  let next: string | undefined = `/account/org/${orgId}/log?${new URLSearchParams({ limit: '1', filter: 'outcome.result eq "SUCCESS"' })}`;
  while (next !== undefined) {
    const { body, headers }: { body: readonly LogEvent[]; headers: Headers } = await service.api('GET', next);
    pages.push(...uuids(body));
    next = /<[^>]*\/api\/v1([^>]*)>; *rel="next"/.exec(headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(pages, uuids(all));

  // Clients are hidden from readers whose organization the actor is not in, so nobody searches for them here.
  for (const filter of ['client.ipAddress eq "127.0.0.1"', 'client.ipAddress sw "1"', 'debugContext pr', 'not (client.ipAddress pr)']) {
    const { status, body } = await ask({ filter });
    assert.equal(status, 400, filter);
    assert.match(body.errorCauses[0].errorSummary, /^filter: /);
  }
  assert.equal((await ask({ since: 'yesterday' })).status, 400);

  await t.test('on the tab Activity, also without a right to the system log', async () => {
    const { agent } = await enter(service, reader);
    const tab = `/admin/organizations/${orgId}/activity`;
    const rows = (text: string) => [...text.matchAll(/<tr[\s>]/g)].length - 1;
    const whole = await agent.visit(tab);
    assert.equal(whole.status, 200);
    for (const name of ['type', 'outcome', 'actor', 'target', 'application', 'since', 'until'])
      assert.match(whole.text, new RegExp(`name="${name}"`));
    assert.doesNotMatch(whole.text, /id="q"/);
    const narrowed = await agent.visit(`${tab}?type=${eventType}`);
    assert.equal(rows(narrowed.text), ofType.length);
    assert.ok(rows(narrowed.text) < rows(whole.text));
    assert.equal(rows((await agent.visit(`${tab}?target=reader`)).text), aboutReader.length);
    assert.match((await agent.visit(`${tab}?outcome=FAILURE`)).text, /No matches\./);
    assert.match((await agent.visit(`${tab}?since=nonsense`)).text, /must be a date with a time/);
    assert.equal((await agent.visit(`${tab}?q=127.0.0.1`)).text.includes('No matches.'), false, 'words are not searched here');
  });
});
