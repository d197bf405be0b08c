/** "Organization" in its three forms, and "Organization endpoints". */

import { jsonOf } from '../http-client.ts';
import type { Json } from '../responses.ts';
import { must, mustEqual, type Rule, section } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';

const orgId = (visit: RuleContext): Promise<string> => visit.once('an organization', () => visit.fixtures.makeOrganization());

const call = async (visit: RuleContext, method: string, path: string) =>
  visit.fixtures.api.call(method, `/account/org${path}`, undefined, visit.wire);

/** The organization in the list, which can have many pages; the newest come last. */
async function item(visit: RuleContext): Promise<Json> {
  const id = await orgId(visit);
  return visit.once('the organization in the list', async () => {
    const { count } = jsonOf(await call(visit, 'GET', '?limit=1'));
    const last = Math.max(1, Math.ceil(Number(count) / 200));
    const { organizations } = jsonOf(await call(visit, 'GET', `?page=${last}&limit=200`)) as { organizations?: Json[] };
    const found = organizations?.find((organization) => organization.orgId === id);
    must(found !== undefined, 'the new organization must be in the list');
    return found;
  });
}

const detail = async (visit: RuleContext): Promise<Json> => {
  const id = await orgId(visit);
  return visit.once('the organization', async () => jsonOf(await call(visit, 'GET', `/${id}`)));
};

const tree = async (visit: RuleContext): Promise<Json> => {
  const id = await orgId(visit);
  return visit.once('the department tree', async () => jsonOf(await call(visit, 'GET', `/${id}/tree`)));
};

async function departments(visit: RuleContext): Promise<readonly [upper: Json, lower: Json]> {
  const [upper, lower] = (await tree(visit)).treeStruct as Json[];
  must(upper !== undefined && lower !== undefined, 'there must be two departments');
  return [upper, lower];
}

export const organizationItem: readonly Rule<RuleContext>[] = section('Organization (list item)', [
  {
    id: 'organization-item.orgId',
    sentence: 'orgId | string | Unique organization id',
    async run(visit) {
      mustEqual((await item(visit)).orgId, await orgId(visit), 'orgId');
    },
  },
  {
    id: 'organization-item.name',
    sentence: 'name | string | Organization name',
    async run(visit) {
      mustEqual((await item(visit)).name, visit.fixtures.name, 'name');
    },
  },
  {
    id: 'organization-item.originId',
    sentence: 'originId | string | External name / external id',
    async run(visit) {
      mustEqual((await item(visit)).originId, `origin of ${visit.fixtures.name}`, 'originId');
    },
  },
]);

export const organizationDetail: readonly Rule<RuleContext>[] = section('Organization detail', [
  {
    id: 'organization-detail.orgId',
    sentence: 'orgId | string | Unique id',
    async run(visit) {
      mustEqual((await detail(visit)).orgId, await orgId(visit), 'orgId');
    },
  },
  {
    id: 'organization-detail.name',
    sentence: 'name | string | Name',
    async run(visit) {
      mustEqual((await detail(visit)).name, visit.fixtures.name, 'name');
    },
  },
  {
    id: 'organization-detail.originId',
    sentence: 'originId | string | External id',
    async run(visit) {
      mustEqual((await detail(visit)).originId, `origin of ${visit.fixtures.name}`, 'originId');
    },
  },
  {
    id: 'organization-detail.type',
    sentence: 'type | string | Local, or another identity source',
    async run(visit) {
      mustEqual((await detail(visit)).type, 'LOCAL', 'type');
    },
  },
  {
    id: 'organization-detail.memberCount',
    sentence: 'memberCount | number (declared string; a numeric value is returned) | Number of user members',
    async run(visit) {
      mustEqual((await detail(visit)).memberCount, 0, 'memberCount');
    },
  },
  {
    id: 'organization-detail.editable',
    sentence: 'editable | boolean | Whether the organization may be edited',
    async run(visit) {
      mustEqual((await detail(visit)).editable, true, 'editable');
    },
  },
]);

export const departmentNode: readonly Rule<RuleContext>[] = section('Department node (in the organization tree)', [
  {
    id: 'department.depId',
    sentence: 'depId | string | Department id',
    async run(visit) {
      const [upper, lower] = await departments(visit);
      must(typeof upper.depId === 'string' && upper.depId !== lower.depId, 'each department must have its own depId');
    },
  },
  {
    id: 'department.name',
    sentence: 'name | string | Department name',
    async run(visit) {
      mustEqual((await departments(visit)).map(({ name }) => name).join(' '), 'Upper Lower', 'the names');
    },
  },
  {
    id: 'department.originId',
    sentence: 'originId | string | External id',
    async run(visit) {
      for (const { originId } of await departments(visit)) must(typeof originId === 'string', 'originId must be a string');
    },
  },
  {
    id: 'department.parentId',
    sentence: 'parentId | string | Id of the parent department; empty string for a top-level department',
    async run(visit) {
      const [upper, lower] = await departments(visit);
      mustEqual(upper.parentId, '', 'parentId at the top');
      mustEqual(lower.parentId, upper.depId, 'parentId below it');
    },
  },
]);

export const organizationRules: readonly Rule<RuleContext>[] = section('Organization endpoints', [
  {
    id: 'organizations.header',
    sentence: 'Header `Authorization: SSWS <API_TOKEN>` and `accept: application/json` are sent on every call.',
    async run(visit) {
      mustEqual((await visit.wire.send(`${visit.baseUrl}/api/v1/account/org`)).status, 401, 'status without an Authorization header');
    },
  },
  {
    id: 'organizations.create',
    sentence:
      'Create organization | `POST {base_url}/api/v1/account/org` (the heading of the reference states GET; the request example uses POST) | query `orgName` (string) | `orgId` (string), `success` (boolean)',
    async run(visit) {
      const name = `${visit.fixtures.name}-${visit.isBuiltIn ? 'one' : 'two'}`;
      visit.fixtures.removals.noteOrganization(name);
      const made = jsonOf(await call(visit, 'POST', `?orgName=${name}`));
      must(typeof made.orgId === 'string' && made.success === true, 'the response must have orgId and success');
    },
  },
  {
    id: 'organizations.list',
    sentence:
      'List organizations | `GET {base_url}/api/v1/account/org` | query `page` (integer), `limit` (integer) | `count` (integer), `organizations` (array of organization list items)',
    async run(visit) {
      await orgId(visit);
      const { count, organizations } = jsonOf(await call(visit, 'GET', '?page=1&limit=1'));
      must(Number.isInteger(count) && Number(count) >= 1, 'count must be the number of all organizations');
      must(Array.isArray(organizations) && organizations.length === 1, 'organizations must have as many entries as limit');
    },
  },
  {
    id: 'organizations.detail',
    sentence: 'Organization detail | `GET {base_url}/api/v1/account/org/<orgId>` | path orgId | organization detail object',
    async run(visit) {
      const fields = Object.keys(await detail(visit))
        .sort()
        .join(' ');
      mustEqual(fields, 'editable memberCount name orgId originId type', 'the fields');
    },
  },
  {
    id: 'organizations.rename',
    sentence:
      'Rename organization | `PUT {base_url}/api/v1/account/org/<orgId>` (the heading of the reference states GET; the request example uses PUT) | path orgId; query `name` (string) | Response: not shown',
    async run(visit) {
      const id = await orgId(visit);
      const name = `${visit.fixtures.name}-renamed`;
      mustEqual((await call(visit, 'PUT', `/${id}?name=${name}`)).status, 200, 'status');
      mustEqual(jsonOf(await call(visit, 'GET', `/${id}`)).name, name, 'the new name');
      mustEqual((await call(visit, 'PUT', `/${id}?name=${visit.fixtures.name}`)).status, 200, 'status of the way back');
    },
  },
  {
    id: 'organizations.tree',
    sentence:
      'Department tree | `GET {base_url}/api/v1/account/org/<orgId>/tree` | path orgId | `levelCount` (department count; declared string, numeric value returned), `treeStruct` (array of department nodes, departments only, no members)',
    async run(visit) {
      const { levelCount, treeStruct } = await tree(visit);
      mustEqual(levelCount, 2, 'levelCount');
      must(Array.isArray(treeStruct) && treeStruct.length === 2, 'treeStruct must contain both departments');
    },
  },
]);
