/** Applications of every kind, one with all there is to set, one with nothing; in three tours, for one would take too long. */
import { digest } from '../../../../src/platform/crypto/secrets.ts';
import { onServer } from '../../../support/database.ts';
import type { ServiceCalls } from '../../../support/service.ts';
import { LONG, type Tour } from '../tour.ts';

const create = async (
  service: ServiceCalls,
  label: string,
  settings: Record<string, unknown>,
  credentials: Record<string, unknown> = {},
): Promise<string> => {
  const sent = { label, credentials: { oauthClient: credentials }, settings: { oauthClient: settings } };
  const { body } = await service.api('POST', '/apps', sent);
  return body.id;
};

const WORKLOAD = { issuer: 'https://workloads.example', subject: `workload:${'long:'.repeat(30)}*`, audience: 'https://service.example' };

/** @returns the id of an application in which everything is set */
const createFull = (service: ServiceCalls): Promise<string> => {
  const settings = {
    redirect_uris: ['http://localhost:8080/callback', `https://${'long.'.repeat(30)}example/callback`],
    post_logout_redirect_uris: ['http://localhost:8080/'],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    response_types: ['code'],
    assignment: 'ASSIGNED',
    logo_uri: 'http://localhost/logo.png',
    tos_uri: 'https://app.example/terms',
    id_token_claims: ['email'],
    backchannel_logout_uri: 'https://app.example/logout',
    jwks_uri: 'https://app.example/keys',
    id_token_encrypted_response_alg: 'ECDH-ES',
  };
  return create(service, LONG.slice(0, 255), settings, { federated: [WORKLOAD] });
};

/** @returns the id of an inactive application that can do nothing */
async function createEmpty(service: ServiceCalls): Promise<string> {
  const id = await create(service, 'Nothing', { grant_types: [], response_types: [] });
  await service.api('POST', `/apps/${id}/lifecycle/deactivate`);
  return id;
}

/** The list, the creation, and Connect with each snippet. */
export const applications: Tour = async (service) => {
  const [id, nothing] = [await createFull(service), await createEmpty(service)];
  const browser = await create(service, 'Single page', { application_type: 'browser', redirect_uris: ['http://localhost:8080/callback'] });
  const machine = await create(service, 'Machine', { application_type: 'service' });
  for (let n = 0; n < 18; n += 1) await create(service, `Application ${n}`, { application_type: 'service' });
  return [
    '/applications',
    '/applications?q=nothing-is-called-so&kind=native&status=INACTIVE',
    '/applications/new',
    '/applications/new/web',
    '/applications/new/service',
    `/applications/${id}`,
    `/applications/${id}?server=built-in&with=curl`,
    ...['spring-boot', 'authlib', 'mod-auth-openidc'].map((snippet) => `/applications/${id}?with=${snippet}`),
    `/applications/${browser}`,
    `/applications/${machine}`,
    `/applications/${nothing}`,
    '/applications/console',
  ];
};

/** Settings, credentials and branding. */
export const applicationSettings: Tour = async (service) => {
  await service.api('POST', '/idps', {
    type: 'OIDC',
    name: 'Partner of applications',
    protocol: { issuer: { url: 'https://partner.example' }, credentials: { client: { client_id: 'us', client_secret: 'x'.repeat(40) } } },
  });
  const [id, nothing] = [await createFull(service), await createEmpty(service)];
  const { body: secret } = await service.api('POST', `/apps/${id}/credentials/secrets`);
  const application = `/applications/${id}`;
  return [
    `${application}/settings`,
    ...['general', 'flow', 'sign-in', 'tokens', 'responses', 'subjects', 'logout', 'authentication', 'branding'].map(
      (group) => `${application}/settings/${group}`,
    ),
    `${application}/credentials`,
    `${application}/credentials/new`,
    ...['activate', 'deactivate', 'remove'].map((step) => `${application}/credentials/${secret.id}/${step}`),
    `${application}/credentials/federated/new`,
    `${application}/credentials/federated/${digest(JSON.stringify(Object.values(WORKLOAD))).slice(0, 16)}/remove`,
    `${application}/branding`,
    `/applications/${nothing}/settings`,
    `/applications/${nothing}/branding`,
  ];
};

/** Assignments and life cycle. */
export const applicationLife: Tour = async (service) => {
  const [id, nothing] = [await createFull(service), await createEmpty(service)];
  const groupIds: string[] = [];
  for (let n = 0; n < 21; n += 1) {
    const { body: group } = await service.api('POST', '/groups', { profile: { name: n === 0 ? `A${LONG}` : `Assigned ${n}` } });
    await service.api('PUT', `/apps/${id}/groups/${group.id}`);
    groupIds.push(group.id);
  }
  const user = await service.createUser();
  await service.api('PUT', `/apps/${id}/users/${user.id}`);
  const application = `/applications/${id}`;
  const oauth = { type: 'OAUTH', tokenUrl: 'http://127.0.0.1:9/token', clientId: LONG.slice(0, 255), secret: 'known-to-the-target' };
  const mapping = { nickName: null, userName: 'email' };
  await service.api('PUT', `/apps/${id}/provisioning`, { baseUrl: `http://127.0.0.1:9/${'long/'.repeat(30)}`, auth: oauth, mapping });
  await onServer(service.database.url, (client) =>
    client.query(
      `INSERT INTO provisioned_resources (application_id, kind, id, name, state, last_attempt, error)
        SELECT $1, 'user', 'usr_' || n, 'pushed ' || n, CASE n % 2 WHEN 0 THEN 'PROVISIONED' ELSE 'FAILED' END, now(), CASE n % 2 WHEN 1 THEN $2 END
        FROM generate_series(1, 21) n`,
      [id, LONG],
    ),
  );
  return [
    `${application}/provisioning`,
    `${application}/provisioning?state=FAILED&q=pushed`,
    `${application}/provisioning/edit`,
    `${application}/provisioning/plan`,
    `${application}/provisioning/push`,
    `${application}/provisioning/remove`,
    `${application}/provisioning/user/${user.id}/retry`,
    `/applications/${nothing}/provisioning`,
    `/applications/${nothing}/provisioning/edit`,
    `${application}/access`,
    `${application}/assignments`,
    `/applications/${nothing}/assignments`,
    `${application}/assignments/groups`,
    `${application}/assignments/groups/new`,
    `${application}/assignments/users/new`,
    `${application}/assignments/users/${user.id}/remove`,
    `${application}/assignments/groups/${groupIds[0]}/remove`,
    `${application}/activity`,
    `/applications/${nothing}/activity`,
    `${application}/activate`,
    `${application}/deactivate`,
    `${application}/delete`,
  ];
};
