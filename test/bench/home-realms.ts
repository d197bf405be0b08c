/** Identity providers of many organizations in the bench of the directory, and the page of a sign-in that asks for the user name first. */
import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { findDomainProviders } from '../../src/features/organization-providers/home-realm.store.ts';
import { signInForm } from './authorization.ts';
import { type Row, timed } from './directory-calls.ts';
import type { GatehouseProcess } from './gatehouse.ts';
import { Browser } from './http.ts';
import { CALLBACK } from './target.ts';

async function call<T>({ base, apiToken }: GatehouseProcess, method: string, path: string, body: unknown): Promise<T> {
  const response = await fetch(`${base}/api/v1${path}`, {
    method,
    headers: { authorization: `SSWS ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Issuer of all the providers, on loopback. It only says where users are to be sent. */
export async function startIssuer(): Promise<{ readonly issuer: string; close(): void }> {
  const server = createServer((_, res) => {
    const at = (path: string) => `${issuer}/${path}`;
    const endpoints = { authorization_endpoint: at('authorize'), token_endpoint: at('token'), jwks_uri: at('jwks') };
    const supported = {
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    };
    res.setHeader('content-type', 'application/json').end(JSON.stringify({ issuer, ...endpoints, ...supported }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, close: () => void server.close() };
}

/** @returns the ID of a provider with settings like those of customers */
export async function createTemplate(service: GatehouseProcess, issuer: string): Promise<string> {
  const { id } = await call<{ id: string }>(service, 'POST', '/idps', {
    name: 'Template',
    type: 'OIDC',
    protocol: {
      type: 'OIDC',
      issuer: { url: issuer },
      credentials: { client: { client_id: 'gatehouse', client_secret: 'a-secret-that-only-both-know' } },
    },
    policy: { provisioning: { action: 'AUTO' }, accountLink: { action: 'AUTO' } },
  });
  return id;
}

/** Each provider is another organization's, for a verified domain; every other one is required. The first is the template, whose secret can be opened. */
export const fillProviders = (size: { readonly organizations: number; readonly providers: number }, templateId: string): string => `
  CREATE TEMP TABLE customers AS SELECT n, CASE n WHEN 1 THEN '${templateId}' ELSE 'idp_' || n END AS idp_id, 'org_' || n * ${Math.floor(size.organizations / size.providers)} AS org_id,
    'customer' || n || '.example' AS domain, n % 2 = 1 AS required FROM generate_series(1, ${size.providers}) n;
  INSERT INTO organization_domains (org_id, domain, challenge, created, verified) SELECT org_id, domain, '', now(), now() FROM customers ORDER BY n;
  INSERT INTO identity_providers (id, name, type, status, protocol, policy, client_secret_sealed, of_organization, created, last_updated)
    SELECT idp_id, 'Provider ' || n, type, status, protocol, policy, client_secret_sealed, true, now(), now()
    FROM customers, identity_providers WHERE n > 1 AND id = '${templateId}' ORDER BY n;
  UPDATE identity_providers SET name = 'Provider 1', of_organization = true WHERE id = '${templateId}';
  INSERT INTO organization_providers (org_id, idp_id, mode, auto_join, created, last_updated)
    SELECT org_id, idp_id, CASE WHEN required THEN 'REQUIRED' ELSE 'OFFERED' END, true, now(), now() FROM customers ORDER BY n;
  INSERT INTO organization_provider_domains (org_id, idp_id, domain, spelling, required)
    SELECT org_id, idp_id, domain, domain, required FROM customers ORDER BY n;`;

/** @returns the plan that PostgreSQL keeps for the service's own statement */
export async function planOfDiscovery(client: pg.Client): Promise<string> {
  for (let times = 0; times < 10; times += 1)
    if ((await findDomainProviders(client, 'customer1.example')).length !== 1) throw new Error('the domain has no provider');
  const explained = await client.query<{ 'QUERY PLAN': string }>(
    `EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE "find-domain-providers" ('customer1.example')`,
  );
  return explained.rows.map((row) => row['QUERY PLAN']).join('\n');
}

/** The answer to the typed user name, in a browser that was never here. */
export async function measureDiscovery(service: GatehouseProcess, templateId: string): Promise<Row[]> {
  const { base } = service;
  await call(service, 'PUT', '/settings/sign-in', { identifierFirst: true });
  const oauthClient = { redirect_uris: [CALLBACK], grant_types: ['authorization_code'] };
  const { credentials } = await call<{ credentials: { oauthClient: { client_id: string } } }>(service, 'POST', '/apps', {
    label: 'Discovery',
    settings: { oauthClient },
  });
  // Also tells the service that there are other providers than it knows.
  for (const step of ['deactivate', 'activate']) await call(service, 'POST', `/idps/${templateId}/lifecycle/${step}`, {});
  const { client_id } = credentials.oauthClient;
  const query = { client_id, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid', state: 'state', nonce: 'nonce' };
  const begin = async () => {
    const browser = new Browser();
    const page = await browser.visit(new URL(`${base}/oauth/v1/authorize?${new URLSearchParams(query)}`));
    return { browser, ...signInForm(page) };
  };
  const typed = (name: string, address: string, expected: number) =>
    timed(
      name,
      async ({ browser, action, form }: Awaited<ReturnType<typeof begin>>) => {
        form.set('username', address);
        const { status, text } = await browser.send(action, form.toString());
        if (status !== expected) throw new Error(`${name}: ${status} ${STATUS_CODES[status]} ${text.slice(0, 500)}`);
        return Buffer.byteLength(text);
      },
      begin,
    );
  return [
    await typed('discovery, required provider', 'ada@customer1.example', 303),
    await typed('discovery, offered provider', 'ada@customer2.example', 200),
    await typed('discovery, unknown domain', 'ada@elsewhere.example', 200),
    await typed('discovery, no domain', 'ada', 200),
  ];
}
