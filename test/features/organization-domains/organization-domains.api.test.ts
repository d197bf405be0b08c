import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Domain {
  domain: string;
  status: string;
  verification: { type: string; name: string; value: string };
  created: string;
  verified: string | null;
}

describe('domains of an organization (management API, "account/org…/domain")', () => {
  let api: ManagementApi;
  let made = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const newDomain = (): string => {
    made += 1;
    return `customer${made}.example`;
  };
  const newOrg = async (): Promise<string> => {
    made += 1;
    return (await api.call<{ orgId: string }>('POST', `/account/org?orgName=Org%20${made}`)).body.orgId;
  };
  const add = <T = Domain>(orgId: string, domain: string, headers?: Record<string, string>) =>
    api.call<T>('POST', `/account/org/${orgId}/domain`, { domain }, headers);
  const verify = <T = Domain>(orgId: string, domain: string, headers?: Record<string, string>) =>
    api.call<T>('POST', `/account/org/${orgId}/domain/${domain}/verify`, undefined, headers);
  const list = async (orgId: string) => (await api.call<Domain[]>('GET', `/account/org/${orgId}/domain`)).body;
  const publish = ({ verification: { name, value } }: Domain): void => void api.dns.records.set(name, [value]);
  const eventsAbout = (domain: string): Promise<{ event_type: string; outcome: { result: string } }[]> =>
    api.services.database.knex('audit_events').whereRaw("target->0->>'id' = ?", [domain]).orderBy('seq');

  /** Calls as the administrator of one organization. */
  const administratorOf = async (orgId: string): Promise<Record<string, string>> => {
    made += 1;
    const { id } = (await api.call<{ id: string }>('POST', '/users?activate=true', { profile: { login: `orgadmin${made}` }, orgId })).body;
    await api.call('POST', `/users/${id}/roles`, { type: 'ORG_ADMIN', orgId });
    const { value } = await createApiToken(api.services, { name: `of ${id}`, userId: id }, SYSTEM);
    return { authorization: `SSWS ${value}` };
  };

  it('is added, verified by its TXT record, listed and removed, with one event for each', async () => {
    const orgId = await newOrg();
    const name = newDomain();
    const added = await add(orgId, name.toUpperCase());
    assert.equal(added.status, 200);
    const { domain, status, verification, verified } = added.body;
    assert.deepEqual([domain, status, verified], [name, 'PENDING', null]);
    assert.deepEqual([verification.type, verification.name], ['TXT', `_gatehouse-challenge.${name}`]);
    assert.match(verification.value, /^gatehouse-domain-verification=[\w-]{43}$/);
    assert.equal((await list(orgId))[0]?.status, 'PENDING');

    api.dns.records.set(verification.name, ['v=something else', [verification.value.slice(0, 20), verification.value.slice(20)]]);
    const proved = await verify(orgId, name);
    assert.deepEqual([proved.status, proved.body.status], [200, 'VERIFIED']);
    assert.ok(proved.body.verified);

    // The record is not needed any more.
    api.dns.records.clear();
    assert.deepEqual((await verify(orgId, name)).body, proved.body);
    assert.deepEqual((await api.call<Domain>('GET', `/account/org/${orgId}/domain/${name}`)).body, proved.body);

    assert.equal((await api.call('DELETE', `/account/org/${orgId}/domain/${name}`)).status, 204);
    assert.deepEqual(await list(orgId), []);
    const types = (await eventsAbout(name)).map(({ event_type }) => event_type);
    assert.deepEqual(types, ['org.domain.add', 'org.domain.verify', 'org.domain.remove']);
  });

  it('is not verified without the record, by another record, or while DNS does not answer', async (t) => {
    const orgId = await newOrg();
    const { domain, verification } = (await add(orgId, newDomain())).body;
    const none = await verify<ErrorObject>(orgId, domain);
    assert.deepEqual([none.status, none.body.errorCode], [403, 'E0000038']);
    assert.ok(none.body.errorSummary.includes(`${verification.name} with the value ${verification.value}`), none.body.errorSummary);
    for (const wrong of [`${verification.value}x`, verification.value.slice(0, -1), '']) {
      api.dns.records.set(verification.name, [wrong]);
      assert.equal((await verify<ErrorObject>(orgId, domain)).status, 403);
    }
    // At the domain itself it does not count: there it could be what others let their users write.
    api.dns.records.set(domain, [verification.value]);
    assert.equal((await verify<ErrorObject>(orgId, domain)).status, 403);
    api.dns.failure = 'SERVFAIL';
    t.after(() => {
      api.dns.failure = undefined;
    });
    assert.match((await verify<ErrorObject>(orgId, domain)).body.errorSummary, /DNS did not answer/);
    assert.equal((await list(orgId))[0]?.status, 'PENDING');
  });

  it('belongs, verified, to one organization; of many at once one gets it', async () => {
    const name = newDomain();
    const orgIds = await Promise.all(Array.from({ length: 6 }, newOrg));
    const claims = await Promise.all(orgIds.map(async (orgId) => (await add(orgId, name)).body));
    api.dns.records.set(
      `_gatehouse-challenge.${name}`,
      claims.map(({ verification }) => verification.value),
    );
    const answers = await Promise.all(orgIds.map((orgId) => verify<Domain & ErrorObject>(orgId, name)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
    const statuses = await Promise.all(orgIds.map(async (orgId) => (await list(orgId))[0]?.status));
    assert.equal(statuses.filter((status) => status === 'VERIFIED').length, 1);
    const events = (await eventsAbout(name)).filter(({ event_type }) => event_type === 'org.domain.verify');
    assert.equal(events.length, 1);
  });

  it('wall: until it proves the domain, nobody learns that another organization has it', async () => {
    const [owner, stranger] = [await newOrg(), await newOrg()];
    const free = newDomain();
    const taken = newDomain();
    publish((await add(owner, taken)).body);
    assert.equal((await verify(owner, taken)).status, 200);
    api.dns.records.clear();
    const told = async (domain: string) => {
      const added = await add(stranger, domain);
      const refused = await verify<ErrorObject>(stranger, domain);
      const without = (text: string) => text.replaceAll(domain, 'DOMAIN').replaceAll(added.body.verification.value, 'VALUE');
      return { added: added.status, status: added.body.status, refused: refused.status, words: without(refused.body.errorSummary) };
    };
    assert.deepEqual(await told(taken), await told(free));
    // Who proves it does learn it, and changes nothing.
    publish((await list(stranger)).find(({ domain }) => domain === taken) as Domain);
    const late = await verify<ErrorObject>(stranger, taken);
    assert.equal(late.status, 409);
    assert.deepEqual(causes(late), ['domain: another organization has verified this domain']);
    assert.equal((await list(owner))[0]?.status, 'VERIFIED');
  });

  it('wall: an administrator of one organization does nothing with the domains of another', async () => {
    const [own, other] = [await newOrg(), await newOrg()];
    const headers = await administratorOf(own);
    const { domain } = (await add(other, newDomain())).body;
    const asked = api.dns.asked.length;
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { domain: newDomain() }],
      ['GET', `/${domain}`, undefined],
      ['POST', `/${domain}/verify`, undefined],
      ['DELETE', `/${domain}`, undefined],
    ] as const) {
      const refused = await api.call(method, `/account/org/${other}/domain${path}`, body, headers);
      const unknown = await api.call(method, `/account/org/org_unknown/domain${path}`, body, headers);
      assert.deepEqual([refused.status, unknown.status], [404, 404], `${method} ${path}`);
      assert.equal(refused.body.errorSummary.replace(other, 'org_unknown'), unknown.body.errorSummary);
    }
    assert.equal(api.dns.asked.length, asked, 'no question went to DNS');
    assert.equal((await list(other)).length, 1);
    const mine = await add(own, newDomain(), headers);
    publish(mine.body);
    assert.equal((await verify(own, mine.body.domain, headers)).body.status, 'VERIFIED');
  });

  it('wall: a role that may read the log alone sees neither domains nor identity providers', async () => {
    const orgId = await newOrg();
    const { domain } = (await add(orgId, newDomain())).body;
    const statuses = async (permissions: string[]) => {
      const { id } = (await api.call<{ id: string }>('POST', '/users?activate=true', { profile: { login: crypto.randomUUID() }, orgId }))
        .body;
      const name = `Role ${permissions.join(' ')}`;
      await api.call('POST', `/account/org/${orgId}/role`, { name, permissions });
      assert.equal((await api.call('PUT', `/account/org/${orgId}/member/${id}/role`, { roles: [name] })).status, 200);
      const { value } = await createApiToken(api.services, { name: `of ${id}`, userId: id }, SYSTEM);
      const headers = { authorization: `SSWS ${value}` };
      const paths = ['domain', `domain/${domain}`, 'idp'];
      return Promise.all(paths.map(async (path) => (await api.call('GET', `/account/org/${orgId}/${path}`, undefined, headers)).status));
    };
    assert.deepEqual(await statuses(['READ_LOG']), [403, 403, 403]);
    assert.deepEqual(await statuses(['MANAGE_DOMAINS']), [200, 200, 403]);
    assert.deepEqual(await statuses(['MANAGE_PROVIDERS']), [403, 403, 200]);
  });

  it('refuses what cannot be a domain of one organization, with the field and the reason', async () => {
    const orgId = await newOrg();
    for (const [domain, message] of [
      ['co.uk', /^domain: is a public suffix/],
      ['192.0.2.1', /^domain: must be a domain/],
      ['no domain', /^domain: must be a domain/],
    ] as const) {
      const refused = await add<ErrorObject>(orgId, domain);
      assert.equal(refused.status, 400);
      assert.match(causes(refused)[0] ?? '', message);
    }
    const name = newDomain();
    await add(orgId, `münchen.${name}`);
    const twice = await add<ErrorObject>(orgId, `xn--mnchen-3ya.${name}`);
    assert.deepEqual([twice.status, causes(twice)], [409, ['domain: is already a domain of this organization']]);
  });
});
