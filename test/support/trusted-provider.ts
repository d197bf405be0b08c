/** An identity provider whose assertions the service trusts. */
import assert from 'node:assert/strict';
import type { ServiceCalls } from './service.ts';

interface Trusted {
  /** Of the provider. */
  readonly id: string;
  readonly user: { readonly id: string; readonly login: string; readonly password: string };
}

/** @param subject of the user there @returns the provider, and a user who is linked to it */
export async function trustProvider(service: ServiceCalls, issuer: string, subject: string): Promise<Trusted> {
  const { body, status } = await service.api('POST', '/idps', {
    type: 'OIDC',
    name: 'Partner',
    protocol: { issuer: { url: issuer }, credentials: { client: { client_id: 'us-at-partner', client_secret: 'x'.repeat(40) } } },
    policy: { trust: { assertions: true } },
  });
  assert.equal(status, 200, JSON.stringify(body));
  const user = await service.createUser();
  const linked = await service.api('POST', `/idps/${body.id}/users/${user.id}`, { externalId: subject });
  assert.ok(linked.status < 300, JSON.stringify(linked.body));
  return { id: body.id, user };
}
