/** The pages of an organization of 10,000 departments, deep or wide, are shown in well under a second: on a machine that does nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertDepartments } from '../features/organizations/many-departments.ts';
import { enter } from '../pages/console/administrators.ts';
import { startService } from '../support/service.ts';

test('10,000 departments, deep or wide, are shown in well under a second', async (t) => {
  const service = await startService(t);
  const { paths } = await insertDepartments(service);
  const { agent } = await enter(service);
  for (const path of paths) {
    await agent.visit(`/admin/organizations/${path}`);
    const begun = performance.now();
    assert.equal((await agent.visit(`/admin/organizations/${path}`)).status, 200);
    const elapsed = performance.now() - begun;
    t.diagnostic(`${path}: ${Math.round(elapsed)} ms`);
    assert.ok(elapsed < 1000, `${path}: ${elapsed} ms`);
  }
});
