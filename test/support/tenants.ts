/** Organizations of customers for tests: with a verified domain, and an identity provider for it. */
import assert from 'node:assert/strict';
import type { TestDns } from './dns.ts';
import type { ServiceCalls } from './service.ts';

export async function createOrg(service: ServiceCalls, name: string): Promise<string> {
  const { status, body } = await service.api('POST', `/account/org?orgName=${encodeURIComponent(name)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.orgId;
}

/** Adds and verifies a domain. */
export async function verifyDomainOf(service: ServiceCalls, dns: TestDns, orgId: string, domain: string): Promise<void> {
  const added = await service.api('POST', `/account/org/${orgId}/domain`, { domain });
  assert.equal(added.status, 200, JSON.stringify(added.body));
  dns.records.set(added.body.verification.name, [added.body.verification.value]);
  const verified = await service.api('POST', `/account/org/${orgId}/domain/${added.body.domain}/verify`);
  assert.equal(verified.body.status, 'VERIFIED', JSON.stringify(verified.body));
}

/** Connects a provider with an organization. */
export async function connect(service: ServiceCalls, orgId: string, idpId: string, body: Record<string, unknown>): Promise<void> {
  const answer = await service.api('PUT', `/account/org/${orgId}/idp/${idpId}`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
}
