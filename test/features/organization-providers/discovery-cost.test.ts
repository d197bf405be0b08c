/** What home-realm discovery costs: each request that answers a typed user name reads the domain once, whatever it is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterwards } from '../../support/afterwards.ts';
import { countingProxy } from '../../support/counting-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { startDns } from '../../support/dns.ts';
import { newSecretKey, startService } from '../../support/service.ts';
import { startUpstream } from '../../support/upstream.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { twoCustomers } from './customers.ts';

const ROUNDS = 4;

test('home-realm discovery costs one statement, the same whatever is typed and whoever has it', async (t) => {
  const own = await testDatabase();
  afterwards(t, () => own.drop());
  const database = await countingProxy(t, own);
  const dns = await startDns();
  t.after(() => dns.close());
  const env = { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server };
  const service = await startService(t, { beside: { database, secretKey: newSecretKey() }, env });
  const { request } = await twoCustomers(service, await startUpstream(t), dns);
  await service.createUser({ login: 'known@elsewhere.example', email: 'known@elsewhere.example' });

  /** The fewest statements of all rounds, up to the page that is shown or the provider that is gone to: what is cached is read once. */
  const cost = async (username: string): Promise<string[]> => {
    const rounds: string[][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const agent = new UserAgent(service.baseUrl);
      const page = await agent.visit(request());
      database.taken();
      await agent.submit(page, 'sign-in-form', { username });
      rounds.push(database.taken());
    }
    return rounds.toSorted((one, other) => one.length - other.length)[0] ?? [];
  };
  const costs = {
    'no domain': await cost('nobody'),
    'unknown domain, nobody': await cost('nobody@elsewhere.example'),
    'unknown domain, a user': await cost('known@elsewhere.example'),
    offered: await cost('ada@beta.example'),
    required: await cost('ada@acme.example'),
  };
  const all = JSON.stringify(costs, undefined, 2);
  const counts = Object.fromEntries(Object.entries(costs).map(([kind, statements]) => [kind, statements.length]));
  t.diagnostic(JSON.stringify(counts));
  const discoveries = Object.values(costs).map(
    (statements) => statements.filter((text) => text.includes('organization_provider_domains')).length,
  );
  // Two requests lead to a required provider, and each asks by itself.
  assert.deepEqual(discoveries, [1, 1, 1, 1, 2], all);
  const { required = 0, ...shown } = counts;
  assert.deepEqual([...new Set(Object.values(shown))], [2], all);
  assert.ok(required <= 4, all);
});
