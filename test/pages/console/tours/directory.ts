/** Organizations with departments and members. */
import { createOrganization } from '../administrators.ts';
import { LONG, type Tour } from '../tour.ts';

export const directory: Tour = async (service) => {
  const orgId = await createOrganization(service, LONG);
  const add = async (name: string, parentId?: string): Promise<string> =>
    (await service.api('POST', `/account/org/${orgId}/department`, { name, ...(parentId && { parentId }) })).body.depId;
  let depId = '';
  for (let depth = 0; depth < 7; depth += 1) depId = await add(depth === 2 ? LONG : `Department ${depth}`, depId);
  const { id: userId } = await service.createUser();
  await service.api('PUT', `/account/org/${orgId}/member/${userId}`, { depId });
  const role = { name: LONG.slice(0, 100), permissions: ['READ_LOG'] };
  const { id: roleId } = (await service.api('POST', `/account/org/${orgId}/role`, role)).body;
  const { id: invitationId } = (await service.api('POST', `/account/org/${orgId}/invitation`, { email: 'ada@example.com' })).body;
  for (let n = 0; n < 21; n += 1) await createOrganization(service, `Organization ${n}`);
  const organization = `/organizations/${orgId}`;
  return [
    '/organizations',
    '/organizations?page=2',
    '/organizations?q=no-such-name',
    '/organizations/new',
    `${organization}/activity`,
    `${organization}/administrators`,
    organization,
    `${organization}/rename`,
    `${organization}/delete`,
    `${organization}/departments/new`,
    `${organization}/departments/${depId}`,
    `${organization}/departments/${depId}/edit`,
    `${organization}/departments/${depId}/delete`,
    `${organization}/members`,
    `${organization}/members?department=${depId}`,
    `${organization}/members/new`,
    `${organization}/members/${userId}`,
    `${organization}/members/${userId}/remove`,
    `${organization}/members/${userId}/roles`,
    `${organization}/invitations`,
    `${organization}/invitations/new`,
    `${organization}/invitations/${invitationId}/resend`,
    `${organization}/invitations/${invitationId}/revoke`,
    `${organization}/roles`,
    `${organization}/roles/new`,
    `${organization}/roles/${roleId}`,
    `${organization}/roles/${roleId}/delete`,
  ];
};
