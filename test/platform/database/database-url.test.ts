/** A database URL with several servers, taken apart (PostgreSQL manual, "Connection URIs" and "Specifying Multiple Hosts"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serversIn, shouldTakeWrites } from '../../../src/platform/database/writable-server.ts';

test('each server gets a URL with all that is said besides', () => {
  assert.deepEqual(serversIn('postgresql://id:p,a@ss@a.example:5432,[::1]:5433,c/db?sslmode=no-verify'), [
    'postgresql://id:p,a@ss@a.example:5432/db?sslmode=no-verify',
    'postgresql://id:p,a@ss@[::1]:5433/db?sslmode=no-verify',
    'postgresql://id:p,a@ss@c/db?sslmode=no-verify',
  ]);
});

for (const url of ['postgres://a.example', 'postgres://u:a,b@a.example/db?host=/run', 'postgres:///db?host=/run/a,b']) {
  test(`one server stays as it is: ${url}`, () => {
    assert.deepEqual(serversIn(url), [url]);
    assert.equal(shouldTakeWrites(url), false);
  });
}

test('several are asked whether they take writes, one where it is wanted', () => {
  assert.equal(shouldTakeWrites('postgres://a,b/db'), true);
  assert.equal(shouldTakeWrites('postgres://a/db?target_session_attrs=read-write'), true);
});
