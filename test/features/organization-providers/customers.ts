/** Two customers with identity providers of their own, and an application. */
import { authorizeUrl, createClient } from '../../protocol/servers/relying-party.ts';
import { startDns } from '../../support/dns.ts';
import { type Service, startService } from '../../support/service.ts';
import { connect, createOrg, verifyDomainOf } from '../../support/tenants.ts';
import { createIdp, idpBody, startUpstream, throughUpstream, type UpstreamServer } from '../../support/upstream.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';

export const LINKING = { provisioning: { action: 'AUTO' }, accountLink: { action: 'AUTO' } };

/** A customer with a required provider, one with an offered one, and an application. */
export async function twoCustomers(service: Service, upstream: UpstreamServer, dns: Awaited<ReturnType<typeof startDns>>) {
  await service.api('PUT', '/settings/sign-in', { identifierFirst: true });
  const { clientId, clientSecret } = await createClient(service, { grant_types: ['authorization_code', 'password'] });
  const customer = async (name: string, domain: string, mode: string) => {
    const orgId = await createOrg(service, name);
    await verifyDomainOf(service, dns, orgId, domain);
    const idpId = await createIdp(service, { ...idpBody(upstream, LINKING), name: `${name} Login` });
    await connect(service, orgId, idpId, { domains: [domain], mode });
    return { orgId, idpId, domain };
  };
  const acme = await customer('Acme', 'acme.example', 'REQUIRED');
  const beta = await customer('Beta', 'beta.example', 'OFFERED');
  const request = (more: Record<string, string> = {}) => authorizeUrl(service, 'default', { client_id: clientId, ...more });
  /** Types a user name on the first page of a sign-in. */
  const type = async (username: string, agent = new UserAgent(service.baseUrl)): Promise<Page> =>
    agent.submit(await agent.visit(request()), 'sign-in-form', { username });
  /** By the button of a customer's provider, which the typed domain has led to. */
  const come = async (
    { idpId, domain }: { idpId: string; domain: string },
    subject: string,
    email: string,
    agent = new UserAgent(service.baseUrl),
  ): Promise<Page> => {
    upstream.behaviour.subject = subject;
    upstream.behaviour.claims = { email, email_verified: true };
    const { pathname } = (await agent.visit(request())).url;
    return throughUpstream(agent, (await agent.visit(`${pathname.replace(/\/login$/, '')}/upstream/${idpId}?domain=${domain}`)).url);
  };
  return { client: { clientId, clientSecret }, acme, beta, request, type, come };
}

export const startCustomers = async (t: Parameters<typeof startService>[0]) => {
  const dns = await startDns();
  t.after(() => dns.close());
  const service = await startService(t, { env: { ALLOW_PRIVATE_NETWORK: 'true', DNS_SERVERS: dns.server, RATE_LIMITS: 'off' } });
  const upstream = await startUpstream(t);
  return { service, upstream, dns, ...(await twoCustomers(service, upstream, dns)) };
};
