/** SCIM as others test it and use it: scim2-tester and scim2-client from PyPI. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scimClient } from '../support/scim.ts';
import { startService } from '../support/service.ts';
import { folderWith, mustRun, pipInstall } from './foreign/setting.ts';

const CONNECT = `import os
from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient

http = Client(base_url=os.environ['SCIM'], headers={'Authorization': 'Bearer ' + os.environ['TOKEN']}, timeout=60)
scim = SyncSCIMClient(http)
`;

const TESTER = `${CONNECT}
from scim2_tester import check_server, Status

results = check_server(scim)
failed = [r for r in results if r.status not in (Status.SUCCESS, Status.SKIPPED)]
skipped = [r for r in results if r.status == Status.SKIPPED]
for r in failed:
    print('FAILED', r.title, r.resource_type, r.reason)
for r in skipped:
    print('SKIPPED', r.title, r.resource_type, r.reason)
print('checked', len(results), 'failed', len(failed), 'skipped', len(skipped))
`;

const CLIENT = `${CONNECT}
from scim2_models import SearchRequest

scim.discover()
User = scim.get_resource_model('User')
Group = scim.get_resource_model('Group')
user = scim.create(User(user_name='ada@example.com', external_id='7', name=User.Name(given_name='Ada', family_name='Lovelace'), active=True))
found = scim.query(User, query_parameters=SearchRequest(filter='externalId eq "7"'))
assert found.total_results == 1 and found.resources[0].id == user.id, found
user.display_name = 'Countess'
assert scim.replace(user).display_name == 'Countess'
group = scim.create(Group(display_name='Engineers', members=[Group.Members(value=user.id)]))
assert scim.query(User, user.id).groups[0].value == group.id
scim.delete(Group, group.id)
scim.delete(User, user.id)
print('used', user.id)
`;

const PACKAGES = ['scim2-tester==0.5.2', 'scim2-client==0.13.2', 'httpx2==2.16.2'];

test('scim2-tester finds nothing wrong, with attributes of the operator’s own', async (t) => {
  const cwd = folderWith(t, { 'tester.py': TESTER });
  const { python, missing } = await pipInstall(cwd, ...PACKAGES);
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const properties = { badge: { title: 'Badge', type: 'string' }, floor: { title: 'Floor', type: 'integer' } };
  await service.api('POST', '/meta/schemas/user/default', { definitions: { custom: { properties } } });
  const { token } = await scimClient(service);
  const output = await mustRun(cwd, { SCIM: `${service.baseUrl}/scim/v2`, TOKEN: token }, python, 'tester.py');
  t.diagnostic(output.trim());
  assert.match(output, /checked \d{2,} failed 0 skipped/, output);
});

test('scim2-client discovers the server, and creates, finds, replaces and deletes with its models', async (t) => {
  const cwd = folderWith(t, { 'client.py': CLIENT });
  const { python, missing } = await pipInstall(cwd, ...PACKAGES);
  if (missing !== undefined) return t.skip(missing);
  const service = await startService(t);
  const { token } = await scimClient(service);
  const output = await mustRun(cwd, { SCIM: `${service.baseUrl}/scim/v2`, TOKEN: token }, python, 'client.py');
  assert.match(output, /used usr_/, output);
});
