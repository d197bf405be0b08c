/** Where new rows stand among the old ones: side by side, by the minute of their issue; what was issued without a minute stays of use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { digest, randomToken } from '../../../src/platform/crypto/secrets.ts';
import { rowKey, withMinute } from '../../../src/protocol/storage/row-keys.ts';
import { moveClock } from '../../support/clock.ts';
import { onServer } from '../../support/database.ts';
import { type Service, startService } from '../../support/service.ts';
import { UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, challengeOf, createClient, post, tokensFor, verifier } from '../servers/relying-party.ts';

const ISSUED = /^([0-9a-f]{7})[\w-]{43}$/;
const minute = (value: string): number => Number.parseInt(ISSUED.exec(value)?.[1] ?? assert.fail(value), 16);
const present = (): number => Math.floor(Date.now() / 60_000);

async function storedKeys(service: Service): Promise<{ readonly id: string; readonly grantId: string | null }[]> {
  let rows: { id: string; grantId: string | null }[] = [];
  await onServer(service.database.url, async (client) => {
    ({ rows } = await client.query(
      `SELECT id, grant_id AS "grantId" FROM oidc_payload WHERE model IN (2, 3, 4, 5) ORDER BY id COLLATE "C"`,
    ));
  });
  return rows;
}

test('codes, tokens and grants begin with the minute of their issue, and so do the keys of their rows, in the order of time', async (t) => {
  const service = await startService(t);
  const [user, client, browser] = [await service.createUser(), await createClient(service), new UserAgent(service.baseUrl)];
  const seen: string[] = [];
  const minutes: number[] = [];
  for (const serverId of ['built-in', 'default']) {
    const before = present();
    const { body } = await tokensFor(service, browser, user, client, { serverId, scope: 'openid offline_access' });
    const proof = verifier();
    const url = authorizeUrl(service, serverId, { client_id: client.clientId, scope: 'openid', code_challenge: challengeOf(proof) });
    const { code = '' } = answerOf(await browser.visit(url));
    const issued = [serverId === 'default' ? String(decodeJwt(body.access_token).jti) : body.access_token, body.refresh_token, code];
    for (const value of issued) assert.ok(minute(value) >= before && minute(value) <= present(), value);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof };
    assert.equal((await post(service, serverId, 'token', client, exchange)).status, 200);
    seen.push(...issued);
    minutes.push(before);
    // A quarter of an hour on: what comes then stands behind all that is there.
    moveClock(t, 900);
  }
  const rows = await storedKeys(service);
  assert.ok(rows.length >= 8);
  for (const { id, grantId } of rows) {
    assert.match(id, /^[0-9a-f]{7}[\w-]{43}$/);
    assert.ok(grantId !== null && minute(grantId) >= Number(minutes[0]));
  }
  const [first, last] = [rows[0], rows.at(-1)].map((row) => Number.parseInt(row?.id.slice(0, 7) ?? '', 16));
  assert.ok(Number(last) - Number(first) >= 15);
  assert.ok(
    rows.every(({ id }) => seen.every((value) => !id.includes(value.slice(-43)))),
    'of the value itself nothing is kept',
  );
});

test('what was issued without a minute is found as ever, and a minute that somebody made up finds nothing', async (t) => {
  const plain = randomToken();
  assert.equal(rowKey(plain), digest(plain));
  assert.equal(rowKey(`jwt:${plain}`), digest(`jwt:${plain}`));
  const issued = withMinute(plain);
  assert.equal(rowKey(issued), issued.slice(0, 7) + digest(issued));
  assert.equal(rowKey(`jwt:${issued}`), issued.slice(0, 7) + digest(`jwt:${issued}`));

  const service = await startService(t);
  const client = await createClient(service);
  const { body } = await tokensFor(service, new UserAgent(service.baseUrl), await service.createUser(), client);
  const isActive = async (token: string) => (await post(service, 'built-in', 'introspect', client, { token })).body.active;
  const token: string = body.access_token;
  assert.equal(await isActive(token), true);
  const another = (minute(token) + 1).toString(16).padStart(7, '0') + token.slice(7);
  const changed = token.slice(0, 7) + (token[7] === 'A' ? 'B' : 'A') + token.slice(8);
  for (const made of [another, token.slice(7), token.slice(0, 7) + token, changed]) assert.equal(await isActive(made), false, made);
});
