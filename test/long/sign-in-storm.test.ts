/** Two hundred sign-ins at once: whoever is right gets in, whoever is not does not, and the token endpoint goes on answering (decisions, "Users sign in"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { post } from '../protocol/servers/relying-party.ts';
import { holdHashes } from '../support/held-hashes.ts';
import { type Service, startService, startTwo } from '../support/service.ts';
import { withProductionTimings } from '../support/short-waits.ts';

for (const processes of [1, 2]) {
  test(`a storm of sign-ins, at ${processes} process${processes === 1 ? '' : 'es'}`, async (t) => {
    withProductionTimings(t, 'passwordHash');
    const services: readonly Service[] =
      processes === 1 ? [await startService(t, { env: { TRUST_PROXY: '1' } })] : await startTwo(t, { TRUST_PROXY: '1' });
    const [first] = services;
    assert.ok(first);
    const users = await Promise.all(Array.from({ length: 20 }, () => first.createUser()));
    const client = await first.createApp({ grant_types: ['client_credentials'], response_types: [] });
    const signIn = async (n: number, username: string, password: string): Promise<number> => {
      const at = services[n % services.length] ?? first;
      const answer = await fetch(`${at.listensAt}/api/v1/authn`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': `198.51.100.${n % 250}` },
        body: JSON.stringify({ username, password }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    // Every user is signed in five times and guessed at three times; forty names are nobody's.
    const attempts = [
      ...users.flatMap(({ login, password }) => Array.from({ length: 5 }, () => ({ login, password, expected: 200 }))),
      ...users.flatMap(({ login }) => Array.from({ length: 3 }, () => ({ login, password: 'wrong', expected: 401 }))),
      ...Array.from({ length: 40 }, (_, n) => ({ login: `nobody-${n}`, password: 'wrong', expected: 401 })),
    ].sort((a, b) => (a.login + a.expected).localeCompare(b.login + b.expected));
    let storming = true;
    const tokens: number[] = [];
    const ask = async () => {
      for (const at of services) tokens.push((await post(at, 'built-in', 'token', client, { grant_type: 'client_credentials' })).status);
    };
    // First no hash ends at all, and then they come one after the other.
    const release = holdHashes(t);
    const storm = Promise.all(attempts.map(({ login, password }, n) => signIn(n, login, password)));
    while (tokens.length < 20) await ask();
    await release();
    const asking = (async () => {
      while (storming) await ask();
    })();
    const answers = await storm;
    storming = false;
    await asking;
    assert.deepEqual(
      answers,
      attempts.map(({ expected }) => expected),
    );
    assert.deepEqual(new Set(tokens), new Set([200]));
  });
}
