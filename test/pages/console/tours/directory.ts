/** Organizations with departments and members. */
import { onServer } from '../../../support/database.ts';
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
  const domains: string[] = [];
  for (const name of ['a.example', 'xn--bcher-kva.example'])
    domains.push((await service.api('POST', `/account/org/${orgId}/domain`, { domain: name })).body.domain);
  await onServer(service.database.url, (client) =>
    client.query('UPDATE organization_domains SET verified = now() WHERE domain = $1', [domains[0]]),
  );
  const client = { client_id: 'at-the-provider', client_secret: 'a-secret-of-the-provider' };
  const policy = { accountLink: { action: 'AUTO' } };
  const { body: idp } = await service.api('POST', '/idps', {
    name: 'A customer',
    type: 'GOOGLE',
    protocol: { credentials: { client } },
    policy,
  });
  await service.api('PUT', `/account/org/${orgId}/idp/${idp.id}`, { domains: [domains[0]], mode: 'REQUIRED', defaultDepId: depId });
  const organization = `/organizations/${orgId}`;
  return [
    '/organizations',
    '/organizations?page=2',
    '/organizations?q=no-such-name',
    '/organizations/new',
    `${organization}/access`,
    `${organization}/activity`,
    `${organization}/administrators`,
    `${organization}/administrators/new`,
    `${organization}/branding`,
    `${organization}/branding/edit`,
    `${organization}/branding/preview`,
    organization,
    `${organization}/policy`,
    `${organization}/policy/edit`,
    `${organization}/rename`,
    `${organization}/delete`,
    `${organization}/departments/new`,
    `${organization}/departments/${depId}`,
    `${organization}/departments/${depId}/edit`,
    `${organization}/departments/${depId}/delete`,
    `${organization}/domains`,
    `${organization}/domains/new`,
    ...domains.flatMap((domain) => [`${organization}/domains/${domain}`, `${organization}/domains/${domain}/remove`]),
    `${organization}/sign-in`,
    `${organization}/sign-in/new`,
    `${organization}/sign-in/${idp.id}`,
    `${organization}/sign-in/${idp.id}/remove`,
    `${organization}/members`,
    `${organization}/members?department=${depId}`,
    `${organization}/members/new`,
    `${organization}/members/${userId}`,
    `${organization}/members/${userId}/remove`,
    `${organization}/members/${userId}/roles`,
    `${organization}/setup-link`,
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
