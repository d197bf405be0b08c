/**
 * Does home-realm discovery tell who has an account (CWE-208)? 300 known and 300 unknown user names in turns: of a domain that nobody has, of one that requires a
 * provider, and of one whose users try a password all the same.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csrfIn, type Door, EACH, tellsApart, timed } from '../support/answer-times.ts';
import { startDns } from '../support/dns.ts';
import { dataDirectory, runService } from '../support/process.ts';
import { connect, createOrg, verifyDomainOf } from '../support/tenants.ts';
import { createIdp, idpBody, startUpstream } from '../support/upstream.ts';
import { UserAgent } from '../support/user-agent.ts';

test('300 known and 300 unknown names: the same page and time, whether the domain is known, required or not', async (t) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const env = { RATE_LIMITS: 'off', LOG_LEVEL: 'fatal', ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server };
  const service = await runService(t, { DATA_DIR: dataDirectory(t), ...env });
  await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
  const orgId = await createOrg(service, 'Acme');
  await verifyDomainOf(service, dns, orgId, 'acme.example');
  const idpId = await createIdp(service, idpBody(await startUpstream(t), { accountLink: { action: 'AUTO' } }));
  await connect(service, orgId, idpId, { domains: ['acme.example'], mode: 'REQUIRED' });

  const people = async (domain: string): Promise<string[]> => {
    const made: string[] = [];
    for (let n = 0; n < EACH; n += 1) {
      const login = `${crypto.randomUUID()}@${domain}`;
      await service.createUser({ login, email: login });
      made.push(login);
    }
    return made;
  };
  const posts =
    (name: string, path: string, fields: Record<string, string>): Door =>
    async (username) => {
      const agent = new UserAgent(service.baseUrl);
      const csrf = csrfIn((await agent.visit(path)).text);
      const { sample } = await timed(agent, path, { csrf, username, ...fields }, username);
      // State, nonce and challenges are new each time.
      const text = sample.text
        .replace(/(state|nonce|code_challenge|login_hint)=[^&]*/g, '')
        .replace(/(challenge&#34;:&#34;)[^&]*|(name="challenge" value=)"[^"]*"/g, '$1$2');
      return { [name]: { ...sample, text } };
    };

  const doors: readonly (readonly [door: Door, domain: string])[] = [
    [posts('name, domain unknown', '/signin', {}), 'example.com'],
    [posts('name, provider required', '/signin', {}), 'acme.example'],
    [posts('password, provider required', '/signin?choose=', { password: 'a wrong password' }), 'acme.example'],
  ];
  const told: string[] = [];
  for (const [door, domain] of doors)
    told.push(...(await tellsApart(t, door, await people(domain), () => `${crypto.randomUUID()}@${domain}`)));
  assert.deepEqual(told, []);
});
