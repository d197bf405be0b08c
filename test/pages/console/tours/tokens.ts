/** The first page, API tokens, and what is not a page. */
import { LONG, type Tour } from '../tour.ts';

export const tokens: Tour = async (service) => {
  for (let n = 0; n < 20; n += 1) await service.api('POST', '/api-tokens', { name: n === 0 ? LONG : `Token ${n}` });
  const { body } = await service.api('POST', '/api-tokens', { name: 'Short', expiresAt: '2099-01-01T00:00:00.000Z' });
  const { body: organization } = await service.api('POST', '/account/org', { orgName: `${LONG} of the directory`.slice(-255) });
  await service.api('POST', '/api-tokens', { name: 'Okta production', type: 'SCIM', orgId: organization.orgId });
  await service.api('POST', '/api-tokens', { name: 'Okta everywhere', type: 'SCIM' });
  return ['', '/api/tokens', '/api/tokens?page=2', '/api/tokens/new', `/api/tokens/${body.id}/revoke`];
};
