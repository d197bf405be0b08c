/** How much an authorization server can have: a token reads all of it (management API, "authorizationServers/{id}/scopes", "claims", "policies[/{id}/rules]"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onServer } from '../../support/database.ts';
import { startService } from '../../support/service.ts';

test('a server has 1,000 scopes, 100 claims, 100 policies and 100 rules in each; one more is refused, also of twenty at once', async (t) => {
  const service = await startService(t);
  const server = '/authorizationServers/default';
  const [policy] = (await service.api('GET', `${server}/policies`)).body;
  const rules = `${server}/policies/${policy.id}/rules`;
  const fill = (sql: string) => onServer(service.database.url, (client) => client.query(sql));
  // Up to one less than there may be.
  await fill(`INSERT INTO scopes (id, server_id, name, consent) SELECT 'scp_' || n, 'default', 'scope.' || n, 'IMPLICIT'
    FROM generate_series(1, 999 - (SELECT count(*) FROM scopes WHERE server_id = 'default')::int) n`);
  await fill(`INSERT INTO claims (id, server_id, name, claim_type, value_type, value) SELECT 'clm_' || n, 'default', 'claim.' || n, 'RESOURCE', 'STATIC', 'x'
    FROM generate_series(1, 99) n`);
  await fill(`INSERT INTO policies (id, server_id, name, priority, clients, created, last_updated)
    SELECT 'pol_' || n, 'default', 'policy ' || n, n + 1, '{ALL_CLIENTS}', now(), now() FROM generate_series(1, 98) n`);
  await fill(`INSERT INTO policy_rules (id, policy_id, name, priority, conditions, actions, created, last_updated)
    SELECT 'rul_' || n, '${policy.id}', 'rule ' || n, n + 1, '{}', '{}', now(), now() FROM generate_series(1, 98) n`);

  const clients = { include: ['ALL_CLIENTS'] };
  const kinds: [what: string, path: string, body: (name: string) => unknown, most: number][] = [
    ['scopes', `${server}/scopes`, (name) => ({ name }), 1000],
    ['claims', `${server}/claims`, (name) => ({ name, claimType: 'RESOURCE', valueType: 'STATIC', value: 'x' }), 100],
    ['policies', `${server}/policies`, (name) => ({ name, conditions: { clients } }), 100],
    ['rules', rules, (name) => ({ name, conditions: {} }), 100],
  ];
  for (const [what, path, body, most] of kinds) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => service.api('POST', path, body(`one-more-${n}`))));
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual([statuses.filter((one) => one === 201).length, statuses.filter((one) => one === 403).length], [1, 19], what);
    const refused = answers.find(({ status }) => status === 403)?.body;
    assert.equal(refused.errorCode, 'E0000038');
    assert.match(refused.errorSummary, new RegExp(`the limit of ${most} ${what} is reached`));
  }
});
