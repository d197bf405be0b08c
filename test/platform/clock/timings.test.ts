/** What operators get is what docs/reference/failures.md promises, and what belongs together fits (tests have other waiting times: support/short-waits.ts). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PRODUCTION } from '../../../src/platform/clock/timings.ts';
import { MAIL_LEASE_SECONDS } from '../../../src/platform/mail/transport.ts';

test('a password costs what OWASP names first (Password Storage Cheat Sheet)', () => {
  assert.deepEqual(PRODUCTION.passwordHash, { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 });
});

test('a change whose news was lost counts after three seconds, and who asks an application or a provider waits five', () => {
  assert.deepEqual([PRODUCTION.cache, PRODUCTION.outbound], [3000, 5000]);
});

test('an audit event is sealed within ten seconds, the silence of a sealer that died included', () => {
  assert.ok(PRODUCTION.sealPause + PRODUCTION.sealerSilence < 10_000);
});

test('a database that hangs is told of after 5 to 10 seconds, on a page after 12 at most (docs/reference/failures.md)', () => {
  const { databaseConnection, databaseTurn, databaseStatement, databaseAnswer, databasePing, optional } = PRODUCTION;
  assert.deepEqual([databaseConnection, databaseTurn, databaseAnswer], [5000, 5000, 10_000]);
  assert.equal(databaseAnswer + 2 * optional, 12_000);
  assert.ok(databaseStatement < databaseAnswer, 'the server’s own limit comes first');
  assert.ok(databasePing < databaseConnection);
});

test('a server that takes writes is found behind three that are silent within the time for a connection', () => {
  assert.ok(3 * PRODUCTION.serverHeadStart + PRODUCTION.serverLook < PRODUCTION.databaseConnection);
});

test('what a process has taken from the outbox is another’s only when no delivery takes longer', () => {
  assert.ok(PRODUCTION.outboxClaim * 1000 > 2 * PRODUCTION.outbound);
  assert.ok(MAIL_LEASE_SECONDS * 1000 > PRODUCTION.mail.mail + PRODUCTION.mail.connection);
});

test('somebody waits for a test mail: for 20 seconds at most', () => {
  assert.ok(PRODUCTION.testMail.mail <= 20_000 && PRODUCTION.testMail.silence < PRODUCTION.testMail.mail);
});
