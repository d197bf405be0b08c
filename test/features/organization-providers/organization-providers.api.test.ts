import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiToken } from '../../../src/features/api-tokens/api-tokens.service.ts';
import { SYSTEM } from '../../../src/features/audit/audit-event.policy.ts';
import { type Answer, causes, type ErrorObject, type ManagementApi, startManagementApi } from '../../support/management-api.ts';

interface Connection {
  idpId: string;
  name: string;
  status: string;
  domains: string[];
  mode: string;
  autoJoin: boolean;
  defaultDepId: string;
}

describe('identity providers of an organization (management API, "account/org…/idp")', () => {
  let api: ManagementApi;
  let made = 0;
  before(async () => {
    api = await startManagementApi();
  });
  after(() => api.close());

  const next = () => {
    made += 1;
    return made;
  };
  const newOrg = async () => (await api.call<{ orgId: string }>('POST', `/account/org?orgName=Org%20${next()}`)).body.orgId;
  const newIdp = async (policy: object = { accountLink: { action: 'AUTO' } }): Promise<string> => {
    const client = { client_id: 'gatehouse', client_secret: 'known to the provider' };
    const protocol = { issuer: { url: 'https://idp.example' }, credentials: { client } };
    return (await api.call<{ id: string }>('POST', '/idps', { name: `Provider ${next()}`, type: 'OIDC', protocol, policy })).body.id;
  };
  const newDomain = async (orgId: string): Promise<string> => {
    const { body } = await api.call<{ domain: string; verification: { name: string; value: string } }>(
      'POST',
      `/account/org/${orgId}/domain`,
      {
        domain: `customer${next()}.example`,
      },
    );
    api.dns.records.set(body.verification.name, [body.verification.value]);
    assert.equal((await api.call('POST', `/account/org/${orgId}/domain/${body.domain}/verify`)).status, 200);
    return body.domain;
  };
  const put = <T = Connection>(orgId: string, idpId: string, body: object, headers?: Record<string, string>): Promise<Answer<T>> =>
    api.call<T>('PUT', `/account/org/${orgId}/idp/${idpId}`, body, headers);
  const list = async (orgId: string) => (await api.call<Connection[]>('GET', `/account/org/${orgId}/idp`)).body;
  const administratorOf = async (orgId: string): Promise<Record<string, string>> => {
    const profile = { login: `orgadmin${next()}` };
    const { id } = (await api.call<{ id: string }>('POST', '/users?activate=true', { profile, orgId })).body;
    await api.call('POST', `/users/${id}/roles`, { type: 'ORG_ADMIN', orgId });
    const { value } = await createApiToken(api.services, { name: `of ${id}`, userId: id }, SYSTEM);
    return { authorization: `SSWS ${value}`, 'content-type': 'application/json' };
  };

  it('is connected with defaults, changed, listed and removed, with one event for each; the same again changes nothing', async () => {
    const [orgId, idpId] = [await newOrg(), await newIdp()];
    const [first, second] = [await newDomain(orgId), await newDomain(orgId)];
    const connected = await put(orgId, idpId, {});
    assert.equal(connected.status, 200);
    const { idpId: id, domains, mode, autoJoin, defaultDepId, status } = connected.body;
    assert.deepEqual([id, domains, mode, autoJoin, defaultDepId, status], [idpId, [], 'OFFERED', true, '', 'ACTIVE']);
    const { depId } = (await api.call<{ depId: string }>('POST', `/account/org/${orgId}/department?name=Sales`)).body;
    const settings = { domains: [second, first, second], mode: 'REQUIRED', autoJoin: false, defaultDepId: depId };
    const changed = await put(orgId, idpId, settings);
    assert.deepEqual(changed.body.domains, [first, second].sort());
    assert.deepEqual((await put(orgId, idpId, settings)).body, changed.body);
    assert.deepEqual(await list(orgId), [changed.body]);
    assert.deepEqual((await api.call('GET', `/account/org/${orgId}/idp/${idpId}`)).body, changed.body);
    // What it leads nobody to any more is set free.
    assert.equal((await api.call('DELETE', `/account/org/${orgId}/domain/${first}`)).status, 403);
    assert.equal((await api.call('DELETE', `/account/org/${orgId}/department/${depId}`)).status, 200);
    assert.equal((await list(orgId))[0]?.defaultDepId, '', 'a deleted department is nobody’s default');
    assert.equal((await api.call('DELETE', `/account/org/${orgId}/idp/${idpId}`)).status, 204);
    assert.equal((await api.call('DELETE', `/account/org/${orgId}/domain/${first}`)).status, 204);
    const events = await api.services.database
      .knex('audit_events')
      .whereRaw("target->0->>'id' = ?", [idpId])
      .orderBy('seq')
      .pluck('event_type');
    assert.deepEqual(events.slice(1), ['org.idp.add', 'org.idp.update', 'org.idp.remove']);
  });

  it('many to many: a provider of two organizations, an organization with two providers; a domain requires one', async () => {
    const [one, other] = [await newOrg(), await newOrg()];
    const [idpId, second] = [await newIdp(), await newIdp()];
    const [mine, theirs] = [await newDomain(one), await newDomain(other)];
    assert.equal((await put(one, idpId, { domains: [mine], mode: 'REQUIRED' })).status, 200);
    assert.equal((await put(other, idpId, { domains: [theirs], mode: 'REQUIRED' })).status, 200);
    assert.equal((await put(one, second, { domains: [mine] })).status, 200);
    const refused = await put<ErrorObject>(one, second, { domains: [mine], mode: 'REQUIRED' });
    assert.deepEqual(
      [refused.status, causes(refused)],
      [409, [`domains: another identity provider is already required for ${mine}. Remove the domain there first`]],
    );
    assert.equal((await list(one)).length, 2);
    assert.equal((await list(one)).find((connection) => connection.idpId === second)?.mode, 'OFFERED');
    // The provider goes, and takes its connections along.
    assert.equal((await api.call('DELETE', `/idps/${idpId}`)).status, 204);
    assert.deepEqual(await list(other), []);
    assert.equal((await api.call('DELETE', `/account/org/${other}`)).status, 200, 'domains do not keep an organization');
  });

  it('refuses domains that are not verified or are another organization’s, and a requirement that lets nobody in', async () => {
    const [orgId, other] = [await newOrg(), await newOrg()];
    const idpId = await newIdp();
    const foreign = await newDomain(other);
    const { body: pending } = await api.call<{ domain: string }>('POST', `/account/org/${orgId}/domain`, { domain: 'pending.example' });
    for (const domain of [foreign, pending.domain, 'nobodys.example']) {
      const refused = await put<ErrorObject>(orgId, idpId, { domains: [domain] });
      assert.deepEqual(
        [refused.status, causes(refused)],
        [400, [`domains: ${domain} is not a verified domain of the organization. Verify it first`]],
      );
    }
    assert.deepEqual(causes(await put<ErrorObject>(orgId, idpId, { mode: 'REQUIRED' })), ['domains: must not be empty with mode REQUIRED']);
    const own = await newDomain(orgId);
    const unusable = await put<ErrorObject>(orgId, await newIdp({}), { domains: [own], mode: 'REQUIRED' });
    assert.match(causes(unusable)[0] ?? '', /^mode: must be OFFERED/);
    assert.deepEqual(causes(await put<ErrorObject>(orgId, idpId, { defaultDepId: 'dep_unknown' })), ['defaultDepId: does not exist']);
    assert.deepEqual(await list(orgId), []);
  });

  it('wall: an administrator of one organization connects nothing new, learns of no provider, and reaches no other organization', async () => {
    const [own, other] = [await newOrg(), await newOrg()];
    const headers = await administratorOf(own);
    const [connected, foreign] = [await newIdp(), await newIdp()];
    const domain = await newDomain(own);
    await put(own, connected, {});
    await put(other, foreign, {});
    const known = await put<ErrorObject>(own, foreign, {}, headers);
    const unknown = await put<ErrorObject>(own, 'idp_unknown', {}, headers);
    assert.deepEqual([known.status, unknown.status], [404, 404]);
    assert.equal(known.body.errorSummary.replace(foreign, 'idp_unknown'), unknown.body.errorSummary);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', `/${foreign}`],
      ['PUT', `/${foreign}`],
      ['DELETE', `/${foreign}`],
    ] as const) {
      const refused = await api.call(method, `/account/org/${other}/idp${path}`, method === 'PUT' ? {} : undefined, headers);
      assert.equal(refused.status, 404, `${method} ${path}`);
    }
    // What the service has connected is theirs to set.
    assert.equal((await put(own, connected, { domains: [domain], mode: 'REQUIRED' }, headers)).status, 200);
    assert.equal((await api.call('DELETE', `/account/org/${own}/idp/${connected}`, undefined, headers)).status, 204);
    assert.equal((await put(own, connected, {}, headers)).status, 404, 'and not to connect again');
    assert.equal((await list(other)).length, 1);
  });

  it('wall: nobody prepares accounts in another organization’s connected domain', async () => {
    const [own, other] = [await newOrg(), await newOrg()];
    const headers = await administratorOf(own);
    const theirs = await newDomain(other);
    const create = (email: string) => api.call('POST', '/users', { profile: { login: `login${next()}`, email }, orgId: own }, headers);
    assert.equal((await create(`ada@${theirs}`)).status, 200, 'a domain that leads nowhere is no secret, and nobody’s');
    await put(other, await newIdp(), { domains: [theirs] });
    const refused = await create(`bob@${theirs.toUpperCase()}`);
    assert.deepEqual(
      [refused.status, causes(refused)],
      [409, ['profile.email: is not available. Choose another one, or invite the user to the organization']],
    );
  });
});
