/** Memory under clients that strangers make up (draft-ietf-oauth-client-id-metadata-document section 8): a process meets 10,000 of them, each once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { authorizeUrl, CALLBACK, challengeOf, verifier } from '../protocol/servers/relying-party.ts';
import { listenSecurely } from '../support/https-host.ts';
import { startService } from '../support/service.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const CLIENTS = 10_000;
const AT_ONCE = 20;
/** The caches are full by then. */
const FULL = 3000;
const MOST_GROWTH_MB = 10;
const MOST_MB = 60;

/** Megabytes of the heap that are reachable. */
function heap(): number {
  for (let turn = 0; turn < 3; turn += 1) collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

test(`the heap of a process that meets ${CLIENTS} different clients stays bounded`, async (t) => {
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', RATE_LIMITS: 'false' } });
  await service.api('PUT', '/authorizationServers/default', { name: 'Default', clientIdMetadata: { enabled: true } });
  const padding = 'x'.repeat(1500);
  const origin = await listenSecurely(t, (req, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=86400' });
    res.end(JSON.stringify({ client_id: `${origin}${req.url}`, redirect_uris: [CALLBACK], client_uri: `https://app.example/${padding}` }));
  });
  const proof = challengeOf(verifier());
  const meet = async (number: number): Promise<void> => {
    const client_id = `${origin}/client-${number}.json`;
    const response = await fetch(authorizeUrl(service, 'default', { client_id, code_challenge: proof }), { redirect: 'manual' });
    const text = await response.text();
    assert.match(
      response.headers.get('location') ?? '',
      /\/interaction\//,
      `${number}: ${/id="error-description"[^>]*>([^<]*)/.exec(text)?.[1]}`,
    );
  };
  await meet(0);
  const heaps = new Map([[0, heap()]]);
  for (let number = 1; number <= CLIENTS; number += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, (_, more) => meet(number + more)));
    const met = number + AT_ONCE - 1;
    if (met % 1000 === 0) heaps.set(met, heap());
  }
  const told = [...heaps].map(([met, megabytes]) => `${met}: ${megabytes.toFixed(1)} MB`).join(', ');
  t.diagnostic(told);
  const [none = 0, full = 0, all = 0] = [0, FULL, CLIENTS].map((met) => heaps.get(met));
  assert.ok(all - full < MOST_GROWTH_MB, told);
  assert.ok(all - none < MOST_MB, told);
});
