/** The digest of an authorization server is another one after any change of what it is built from, and only then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { findServerDigests } from '../../src/store/server-digests.ts';
import { afterwards } from '../support/afterwards.ts';
import { startService } from '../support/service.ts';

test('every change of what a server is built from changes its digest', async (t) => {
  const service = await startService(t);
  const pool = new pg.Pool(service.database.connection);
  afterwards(t, () => pool.end());
  const digests = async () => {
    const found = await findServerDigests(pool, ['default', 'built-in', 'nowhere']);
    assert.deepEqual([...found.keys()].sort(), ['built-in', 'default']);
    return { own: found.get('default'), other: found.get('built-in') };
  };
  const server = '/authorizationServers/default';
  const { body: policies } = await service.api('GET', `${server}/policies`);
  const change = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body?.id;
  };
  const policy = `${server}/policies/${policies[0].id}`;
  const rule = {
    type: 'RESOURCE_ACCESS',
    name: 'Another',
    conditions: { grantTypes: { include: ['client_credentials'] }, scopes: { include: ['*'] } },
    actions: { token: { accessTokenLifetimeMinutes: 5 } },
  };
  const changes: [what: string, both: boolean, change: () => Promise<unknown>][] = [
    ['the server', false, () => change('PUT', server, { name: 'Another name', audiences: ['api://default'] })],
    ['a scope', false, () => change('POST', `${server}/scopes`, { name: 'orders:read' })],
    ['a claim', false, () => change('POST', `${server}/claims`, { name: 'login', claimType: 'RESOURCE', valueType: 'STATIC', value: 'x' })],
    ['a key', false, () => change('POST', `${server}/credentials/lifecycle/keyRotate`, { use: 'sig' })],
    ['a policy', false, () => change('POST', `${policy}/lifecycle/deactivate`)],
    ['a rule', false, () => change('POST', `${policy}/rules`, rule)],
    ['the settings of sign-in', true, () => change('PUT', '/settings/sign-in', { identifierFirst: true })],
  ];
  for (const [what, both, make] of changes) {
    const before = await digests();
    assert.deepEqual(await digests(), before);
    await make();
    const after = await digests();
    assert.notEqual(after.own, before.own, what);
    assert.equal(after.other !== before.other, both, what);
  }
});
