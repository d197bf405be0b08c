/** Forms offer the roles that their reader may give, and no others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOrganization, enter } from '../../pages/console/administrators.ts';
import { startService } from '../../support/service.ts';

test('who manages members is offered neither admin nor owner, nor a role that allows more, but sees what a member has', async (t) => {
  const service = await startService(t);
  const orgId = await createOrganization(service, 'Acme');
  const path = `/account/org/${orgId}`;
  const define = async (name: string, permissions: readonly string[]) =>
    assert.equal((await service.api('POST', `${path}/role`, { name, permissions })).status, 201);
  await define('manager', ['MANAGE_MEMBERS', 'MANAGE_INVITATIONS']);
  await define('reader', ['READ_LOG']);
  const [manager, member, owner] = [await service.createUser(), await service.createUser(), await service.createUser()];
  for (const [{ id }, roles] of [
    [manager, ['manager']],
    [member, []],
    [owner, ['owner', 'reader']],
  ] as const) {
    assert.equal((await service.api('PUT', `${path}/member/${id}`, {})).status, 200);
    assert.equal((await service.api('PUT', `${path}/member/${id}/role`, { roles })).status, 200);
  }
  const { agent } = await enter(service, manager);
  const offered = async (page: string) =>
    [...(await agent.visit(`/admin/organizations/${orgId}/${page}`)).text.matchAll(/value="(owner|admin|manager|reader)"/g)].map(
      ([, name]) => name,
    );
  assert.deepEqual(await offered(`members/${member.id}/roles`), ['manager']);
  assert.deepEqual(await offered(`members/${owner.id}/roles`), ['owner', 'manager', 'reader'], 'with those that the member has');
  assert.deepEqual(await offered('invitations/new'), ['manager']);
});
