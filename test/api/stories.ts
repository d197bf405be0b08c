/**
 * One valid call of every operation of the management API, on things made for it: what the tests of every operation vary. An operation without a
 * story fails them, so a new endpoint brings its own.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { SYSTEM } from '../../src/features/audit/audit-event.policy.ts';
import { rememberConsent } from '../../src/features/consents/consents.service.ts';
import { openCode } from '../../src/features/email-codes/email-codes.service.ts';
import { findCodeById } from '../../src/features/email-codes/email-codes.store.ts';
import { noteDelivery } from '../../src/features/event-hooks/event-hooks.store.ts';
import { newTotpFactor } from '../../src/features/second-factors/factors.service.ts';
import { insertFactor } from '../../src/features/second-factors/factors.store.ts';
import { newTotpSecret } from '../../src/features/second-factors/one-time-codes.service.ts';
import { authenticatePassword } from '../../src/features/sign-in/sign-in.service.ts';
import { insertTrustedBrowser } from '../../src/features/trusted-browsers/trusted-browsers.store.ts';
import { createUser } from '../../src/features/users/users.service.ts';
import { digest, newId } from '../../src/platform/crypto/secrets.ts';
import { answersChallenge, hookBody } from '../support/event-hooks.ts';
import { codeOf } from '../support/factors.ts';
import { inlineHookBody, TOKENS } from '../support/inline-hooks.ts';
import type { ManagementApi } from '../support/management-api.ts';

export interface ValidCall {
  /** Of the parameters in the path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

type Story = (make: Make) => Promise<ValidCall>;

/** Makes things to call operations on, each with a name of its own. */
export interface Make {
  org(): Promise<string>;
  department(orgId: string): Promise<string>;
  user(status?: 'STAGED' | 'ACTIVE' | 'SUSPENDED' | 'DEPROVISIONED', extra?: Record<string, unknown>): Promise<string>;
  /** Locked out by ten wrong passwords. */
  lockedUser(): Promise<string>;
  /** One that the organization has verified, or has yet to. */
  domain(orgId: string, isVerified?: boolean): Promise<string>;
  /** One that is connected with the organization. */
  orgIdp(orgId: string): Promise<string>;
  /** Signed up, and waits for approval. */
  waitingUser(): Promise<string>;
  group(): Promise<string>;
  app(): Promise<string>;
  /** A signal stream. */
  stream(): Promise<string>;
  server(): Promise<string>;
  token(): Promise<string>;
  idp(): Promise<string>;
  /** Its receiver answers challenges. */
  hook(): Promise<string>;
  /** A hook that receives events. */
  verifiedHook(): Promise<string>;
  /** An event that a hook received. @returns the ids of hook and delivery */
  delivery(): Promise<{ id: string; deliveryId: string }>;
  inlineHook(): Promise<string>;
  /** A user with an authenticator app of this secret, and a password. @returns the ids of user and factor */
  factor(secret?: string): Promise<{ id: string; factorId: string; login: string }>;
  /** A user with codes by e-mail. @param first do they wait for their first code? @returns the ids of user and factor, and the code where one waits */
  emailFactor(first: boolean): Promise<{ id: string; factorId: string; passCode: string }>;
  /** A browser that a user trusts. @returns the ids of user and browser */
  trustedBrowser(): Promise<{ id: string; browserId: string }>;
  /** What a user allows on the consent dialog. @returns the ids of user and grant */
  grant(): Promise<{ id: string; grantId: string }>;
  /** The administrator who calls has an address that mail can be sent to, and there is no mail server but the dev inbox. */
  ownAddress(): Promise<void>;
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

const unique = (what: string): string => `${what} ${randomBytes(6).toString('hex')}`;
const TEMPLATE = { kind: 'invitation', language: 'en' };
const TEXT = { language: 'en', key: 'sign-in.submit' };
const redirectUris = { settings: { oauthClient: { redirect_uris: ['https://app.example/callback'] } } };

const appRole = async (make: Make): Promise<{ id: string; roleId: string }> => {
  const id = await make.app();
  return { id, roleId: String((await make.call('POST', `/apps/${id}/roles`, { name: 'editor' })).id) };
};

const identityProvider = () => ({
  name: unique('Provider'),
  type: 'OIDC',
  protocol: {
    issuer: { url: 'https://idp.example' },
    credentials: { client: { client_id: 'gatehouse', client_secret: 'known to the provider' } },
  },
});

/** @returns the address of a receiver that is verified by whoever asks it; it ends with the process */
async function challengeable(): Promise<string> {
  const server = createServer(answersChallenge).listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

const aHook = () =>
  hookBody('https://receiver.example/hook', ['user.lifecycle.create'], {
    headers: [{ key: 'X-Tenant', value: 'tests' }],
    authScheme: { type: 'HEADER', key: 'Authorization', value: 'Bearer 4711' },
  });

/** Nobody listens there. */
const aTarget = () => ({ baseUrl: 'http://127.0.0.1:9/scim', auth: { type: 'BEARER', secret: 'known-to-the-target' } });
const onTarget = (): Story => async (make) => {
  const id = await make.app();
  await make.call('PUT', `/apps/${id}/provisioning`, aTarget());
  return { params: { id } };
};

const aStream = () => ({
  events: ['https://schemas.openid.net/secevent/caep/event-type/session-revoked'],
  delivery: { method: 'PUSH', endpointUrl: 'http://127.0.0.1:9/events', authorizationHeader: 'Bearer 4711' },
});

/** Nobody listens there. */
const anInlineHook = () => ({
  ...inlineHookBody(TOKENS, 'http://127.0.0.1:9/hook', {}, { headers: [{ key: 'X-Tenant', value: 'tests' }] }),
  name: unique('Inline hook'),
});

export function makeWith(api: ManagementApi): Make {
  const call: Make['call'] = async (method, path, body) => {
    const answer = await api.call<Record<string, unknown>>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const idOf = async (path: string, body: unknown): Promise<string> => String((await call('POST', path, body)).id);
  const make: Make = {
    call,
    async ownAddress() {
      await call('POST', `/users/${api.admin.userId}`, { profile: { email: 'caller@example.com' } });
      await call('PUT', '/settings/mail', {});
    },
    org: async () => String((await call('POST', `/account/org?orgName=${encodeURIComponent(unique('Org'))}`)).orgId),
    department: async (orgId) => String((await call('POST', `/account/org/${orgId}/department`, { name: unique('Department') })).depId),
    async user(status = 'ACTIVE', extra = {}) {
      const id = await idOf(`/users?activate=${status !== 'STAGED'}`, { profile: { login: unique('user') }, ...extra });
      if (status === 'SUSPENDED') await call('POST', `/users/${id}/lifecycle/suspend`);
      if (status === 'DEPROVISIONED') await call('POST', `/users/${id}/lifecycle/deactivate`);
      return id;
    },
    async lockedUser() {
      const login = unique('user');
      const id = await idOf('/users', { profile: { login }, ...PASSWORD });
      await Promise.all(
        Array.from({ length: 10 }, () => authenticatePassword(api.services, { username: login, password: 'wrong' }, SYSTEM)),
      );
      return id;
    },
    async domain(orgId, isVerified = true) {
      const { domain, verification } = await call('POST', `/account/org/${orgId}/domain`, {
        domain: `${randomBytes(6).toString('hex')}.example`,
      });
      const { name, value } = verification as Readonly<Record<'name' | 'value', string>>;
      api.dns.records.set(name, [value]);
      if (isVerified) await call('POST', `/account/org/${orgId}/domain/${domain}/verify`);
      return String(domain);
    },
    async orgIdp(orgId) {
      const idpId = await make.idp();
      await call('PUT', `/account/org/${orgId}/idp/${idpId}`, { domains: [await make.domain(orgId)] });
      return idpId;
    },
    async waitingUser() {
      const profile = { login: unique('user') };
      const { id } = await createUser(api.services, { profile, activate: false, awaitsApproval: true }, SYSTEM);
      return id;
    },
    group: () => idOf('/groups', { profile: { name: unique('Group') } }),
    app: () => idOf('/apps', { label: unique('App'), ...redirectUris }),
    // Keys for RS256 would take most of the time of the operations on servers.
    stream: async () => idOf('/ssf/streams', { applicationId: await make.app(), ...aStream() }),
    server: () => idOf('/authorizationServers', { name: unique('Server'), signingAlg: 'ES256' }),
    token: () => idOf('/api-tokens', { name: unique('Token') }),
    idp: () => idOf('/idps', identityProvider()),
    hook: async () => idOf('/eventHooks', hookBody(await challengeable(), ['user.lifecycle.create'])),
    async trustedBrowser() {
      const id = await make.user();
      await call('PUT', '/settings/sign-in', { rememberBrowserDays: 30 });
      const { knex } = api.services.database;
      const now = new Date();
      const browserId = newId('trb');
      const row = { id: browserId, userId: id, userAgent: 'Firefox/1', ipAddress: null, created: now, lastUsed: null };
      await insertTrustedBrowser(knex, { ...row, expiresAt: new Date(now.getTime() + 86_400_000) }, digest(browserId), 20);
      return { id, browserId };
    },
    async verifiedHook() {
      const id = await make.hook();
      await call('POST', `/eventHooks/${id}/lifecycle/verify`);
      return id;
    },
    async delivery() {
      const id = await make.verifiedHook();
      const { knex } = api.services.database;
      const [event] = await knex('audit_events').orderBy('published', 'desc').limit(1).select<{ uuid: string }[]>('uuid');
      const deliveryId = randomUUID();
      const sent = { hookId: id, id: deliveryId, eventId: event?.uuid ?? '', eventType: 'user.lifecycle.create', lastAttempt: new Date() };
      await noteDelivery(knex, { ...sent, latency: 12, status: 200, response: 'thanks', error: null });
      return { id, deliveryId };
    },
    inlineHook: () => idOf('/inlineHooks', anInlineHook()),
    async factor(secret = newTotpSecret()) {
      const login = unique('user');
      const id = await idOf('/users', { profile: { login }, ...PASSWORD });
      const factor = newTotpFactor(api.services.keyring, id, secret);
      await insertFactor(api.services.database.knex, factor, 0);
      return { id, factorId: factor.id, login };
    },
    async emailFactor(first) {
      const { services } = api;
      await call('PUT', '/settings/sign-in', { messageFactors: ['email'] });
      await call('PUT', '/settings/mail', {});
      const login = unique('user').replace(' ', '-');
      const id = await make.user('ACTIVE', { profile: { login, email: `${login}@example.com` } });
      const made = await call('POST', `/users/${id}/factors?activate=${!first}`, { factorType: 'email', provider: 'OKTA' });
      const row = await services.database.knex('email_codes').where({ user_id: id }).first<{ id: string } | undefined>('id');
      const found = row && (await findCodeById(services.database.knex, row.id, new Date()));
      return { id, factorId: String(made.id), passCode: found === undefined ? '' : openCode(services, found).content.code };
    },
    async grant() {
      const key = { userId: await make.user(), applicationId: await make.app(), serverId: await make.server() };
      await rememberConsent(api.services, key, { requested: ['email'], allowed: ['email'] }, SYSTEM);
      const { body } = await api.call<{ id: string }[]>('GET', `/users/${key.userId}/grants`);
      return { id: key.userId, grantId: body[0]?.id ?? '' };
    },
  };
  return make;
}

const PASSWORD = { credentials: { password: { value: 'correct horse battery' } } };
const none: Story = async () => ({});
const delivered: Story = async (make) => ({ params: await make.delivery() });
const onUser =
  (status?: Parameters<Make['user']>[0], rest: () => Omit<ValidCall, 'params'> = () => ({}), extra = {}): Story =>
  async (make) => ({ params: { id: await make.user(status, extra) }, ...rest() });
const on =
  (
    what: 'group' | 'app' | 'server' | 'token' | 'idp' | 'hook' | 'inlineHook' | 'stream',
    rest: (make: Make) => Omit<ValidCall, 'params'> = () => ({}),
  ): Story =>
  async (make) => ({ params: { id: await make[what]() }, ...rest(make) });

const inOrg =
  (rest: (make: Make, orgId: string) => Promise<ValidCall> = async () => ({})): Story =>
  async (make) => {
    const orgId = await make.org();
    const { params, ...more } = await rest(make, orgId);
    return { params: { orgId, ...params }, ...more };
  };

const assigned =
  (what: 'group' | 'app', whom: 'user' | 'group', before: boolean): Story =>
  async (make) => {
    const params = { id: await make[what](), [`${whom}Id`]: await make[whom]() };
    if (before) await make.call('PUT', `/${what}s/${params.id}/${whom}s/${params[`${whom}Id`]}`);
    return { params };
  };

/** Nobody listens there. */
const telephony = () => ({
  url: 'http://127.0.0.1:9/sms',
  secret: `whsec_${randomBytes(32).toString('base64')}`,
  prefixes: ['+49'],
  mostPerDay: 1000,
});

const zone = () => ({ type: 'IP', name: unique('Zone'), gateways: [{ type: 'CIDR', value: '192.0.2.0/24' }] });
const onZone =
  (rest: () => Omit<ValidCall, 'params'> = () => ({})): Story =>
  async (make) => ({ params: { id: String((await make.call('POST', '/zones', zone())).id) }, ...rest() });

/** @param one is it about one browser of the user? */
const trustedBrowser =
  (one: boolean): Story =>
  async (make) => {
    const { id, browserId } = await make.trustedBrowser();
    return { params: one ? { id, browserId } : { id } };
  };

/** @param one is it about one factor of the user? */
const withFactor =
  (one: boolean): Story =>
  async (make) => {
    const { id, factorId } = await make.factor();
    return { params: one ? { id, factorId } : { id } };
  };

const withRole: Story = async (make) => {
  const id = await make.user();
  const { id: roleId } = await make.call('POST', `/users/${id}/roles`, { type: 'READ_ONLY_ADMIN' });
  return { params: { id, roleId: String(roleId) } };
};

const withSecret: Story = async (make) => {
  const id = await make.app();
  const { id: secretId } = await make.call('POST', `/apps/${id}/credentials/secrets`);
  return { params: { id, secretId: String(secretId) } };
};

/** @param named is the user named in the path? */
const linkedTo =
  (named: boolean): Story =>
  async (make) => {
    const params = { id: await make.idp(), userId: await make.user() };
    await make.call('POST', `/idps/${params.id}/users/${params.userId}`, { externalId: unique('subject') });
    return { params: named ? params : { id: params.id } };
  };

const policyBody = () => ({ name: unique('Policy'), priority: 1, conditions: { clients: { include: ['ALL_CLIENTS'] } } });
const ruleBody = () => ({
  name: unique('Rule'),
  conditions: {
    people: { users: { include: [] }, groups: { include: ['EVERYONE'] } },
    grantTypes: { include: ['authorization_code'] },
    scopes: { include: ['openid'] },
  },
  actions: { token: { accessTokenLifetimeMinutes: 5, refreshTokenLifetimeMinutes: 60, refreshTokenWindowMinutes: 10 } },
});

const onPolicy =
  (rest: () => Omit<ValidCall, 'params'> = () => ({})): Story =>
  async (make) => {
    const id = await make.server();
    const { id: policyId } = await make.call('POST', `/authorizationServers/${id}/policies`, policyBody());
    return { params: { id, policyId: String(policyId) }, ...rest() };
  };

const onRule =
  (rest: () => Omit<ValidCall, 'params'> = () => ({})): Story =>
  async (make) => {
    const { params } = await onPolicy()(make);
    const path = `/authorizationServers/${params?.id}/policies/${params?.policyId}/rules`;
    const { id: ruleId } = await make.call('POST', path, ruleBody());
    return { params: { ...params, ruleId: String(ruleId) }, ...rest() };
  };

const tokenOf = () => ({ name: unique('Token') });
const scopeOf = (): Record<string, unknown> => ({ name: unique('scope').replace(' ', ':'), consent: 'REQUIRED' });
const detailTypeOf = (): Record<string, unknown> => ({ name: unique('type').replace(' ', '_'), template: 'Pay {amount}' });
const claimOf = (): Record<string, unknown> => ({
  name: unique('claim').replace(' ', '_'),
  claimType: 'RESOURCE',
  valueType: 'STATIC',
  value: 'x',
});

/** @param part of an authorization server, made for the story */
const onServerPart =
  (
    part: 'scopes' | 'claims' | 'registrationTokens' | 'authorizationDetailTypes',
    parameter: string,
    made: () => Record<string, unknown>,
    body?: () => Record<string, unknown>,
  ): Story =>
  async (make) => {
    const id = await make.server();
    const { id: partId } = await make.call('POST', `/authorizationServers/${id}/${part}`, made());
    return { params: { id, [parameter]: String(partId) }, ...(body && { body: body() }) };
  };

async function orgRole(make: Make, orgId: string) {
  const { id } = await make.call('POST', `/account/org/${orgId}/role`, { name: unique('role') });
  return { params: { roleId: String(id) } };
}

async function orgInvitation(make: Make, orgId: string) {
  const { id } = await make.call('POST', `/account/org/${orgId}/invitation`, { email: `${randomBytes(6).toString('hex')}@example.com` });
  return { params: { invitationId: String(id) } };
}

async function orgSetup(make: Make, orgId: string) {
  await make.call('POST', `/account/org/${orgId}/setup`, {});
  return {};
}

async function orgMember(make: Make, orgId: string) {
  const userId = await make.user();
  await make.call('PUT', `/account/org/${orgId}/member/${userId}`, {});
  return { params: { userId } };
}

export const STORIES: Readonly<Record<string, Story>> = {
  'POST /account/org': async () => ({ query: { orgName: unique('Org') } }),
  'GET /account/org': none,
  'GET /account/org/:orgId': inOrg(),
  'PUT /account/org/:orgId': inOrg(async () => ({ query: { name: unique('Org') } })),
  'DELETE /account/org/:orgId': inOrg(),
  'GET /account/org/:orgId/tree': inOrg(async (make, orgId) => {
    await make.department(orgId);
    return {};
  }),
  'POST /account/org/:orgId/department': inOrg(async () => ({ body: { name: unique('Department'), originId: 'D-1' } })),
  'PUT /account/org/:orgId/department/:depId': inOrg(async (make, orgId) => ({
    params: { depId: await make.department(orgId) },
    body: { name: unique('Department'), parentId: await make.department(orgId) },
  })),
  'DELETE /account/org/:orgId/department/:depId': inOrg(async (make, orgId) => ({ params: { depId: await make.department(orgId) } })),
  'POST /account/org/:orgId/invitation': inOrg(async (make, orgId) => ({
    body: { email: `${randomBytes(6).toString('hex')}@example.com`, role: 'admin', depId: await make.department(orgId) },
  })),
  'GET /account/org/:orgId/invitation': inOrg(async (make, orgId) => {
    await orgInvitation(make, orgId);
    return {};
  }),
  'GET /account/org/:orgId/invitation/:invitationId': inOrg(orgInvitation),
  'POST /account/org/:orgId/invitation/:invitationId/resend': inOrg(orgInvitation),
  'DELETE /account/org/:orgId/invitation/:invitationId': inOrg(orgInvitation),
  'GET /account/org/:orgId/branding': inOrg(),
  'PUT /account/org/:orgId/branding': inOrg(async () => ({ body: { name: 'Acme', primaryColorHex: '#0f5c5c' } })),
  'GET /account/org/:orgId/policy': inOrg(),
  'PUT /account/org/:orgId/policy': inOrg(async () => ({ body: { mfa: 'REQUIRED', sessionIdleMinutes: 15 } })),
  'GET /account/org/:orgId/log': inOrg(),
  'POST /account/org/:orgId/setup': inOrg(async () => ({ body: { mode: 'REQUIRED' } })),
  'GET /account/org/:orgId/setup': inOrg(orgSetup),
  'DELETE /account/org/:orgId/setup': inOrg(orgSetup),
  'POST /account/org/:orgId/role': inOrg(async () => ({ body: { name: unique('role'), permissions: ['READ_LOG'] } })),
  'GET /account/org/:orgId/role': inOrg(),
  'GET /account/org/:orgId/role/:roleId': inOrg(orgRole),
  'PUT /account/org/:orgId/role/:roleId': inOrg(async (make, orgId) => ({
    ...(await orgRole(make, orgId)),
    body: { name: unique('role') },
  })),
  'DELETE /account/org/:orgId/role/:roleId': inOrg(orgRole),
  'GET /account/org/:orgId/member/:userId/role': inOrg(orgMember),
  'PUT /account/org/:orgId/member/:userId/role': inOrg(async (make, orgId) => ({
    ...(await orgMember(make, orgId)),
    body: { roles: ['owner'] },
  })),
  'GET /account/org/:orgId/member': inOrg(async (make, orgId) => {
    await make.call('PUT', `/account/org/${orgId}/member/${await make.user()}`, {});
    return {};
  }),
  'PUT /account/org/:orgId/member/:userId': inOrg(async (make, orgId) => ({
    params: { userId: await make.user() },
    body: { depId: await make.department(orgId) },
  })),
  'POST /account/org/:orgId/domain': inOrg(async () => ({ body: { domain: `${randomBytes(6).toString('hex')}.example` } })),
  'GET /account/org/:orgId/domain': inOrg(async (make, orgId) => {
    await make.domain(orgId, false);
    return {};
  }),
  'GET /account/org/:orgId/domain/:domain': inOrg(async (make, orgId) => ({ params: { domain: await make.domain(orgId) } })),
  'POST /account/org/:orgId/domain/:domain/verify': inOrg(async (make, orgId) => ({ params: { domain: await make.domain(orgId, false) } })),
  'DELETE /account/org/:orgId/domain/:domain': inOrg(async (make, orgId) => ({ params: { domain: await make.domain(orgId) } })),
  'GET /account/org/:orgId/idp': inOrg(async (make, orgId) => {
    await make.orgIdp(orgId);
    return {};
  }),
  'GET /account/org/:orgId/idp/:idpId': inOrg(async (make, orgId) => ({ params: { idpId: await make.orgIdp(orgId) } })),
  'PUT /account/org/:orgId/idp/:idpId': inOrg(async (make, orgId) => ({
    params: { idpId: await make.idp() },
    body: { domains: [await make.domain(orgId)], mode: 'OFFERED', autoJoin: true, defaultDepId: await make.department(orgId) },
  })),
  'DELETE /account/org/:orgId/idp/:idpId': inOrg(async (make, orgId) => ({ params: { idpId: await make.orgIdp(orgId) } })),
  'DELETE /account/org/:orgId/member/:userId': inOrg(async (make, orgId) => {
    const userId = await make.user();
    await make.call('PUT', `/account/org/${orgId}/member/${userId}`, {});
    return { params: { userId } };
  }),

  'POST /users': async () => ({
    body: {
      profile: { login: unique('user'), email: 'a@example.com', firstName: '<b>Ada</b>', lastName: 'لوفليس' },
      credentials: { password: { value: 'correct horse battery' } },
    },
  }),
  'GET /users': async () => ({ query: { q: 'user' } }),
  'GET /users/:id': onUser(),
  'POST /users/:id': onUser('ACTIVE', () => ({ body: { profile: { nickName: 'Ada' } } })),
  'PUT /users/:id': onUser('ACTIVE', () => ({ body: { profile: { login: unique('user') } } })),
  'DELETE /users/:id': onUser(),
  'POST /users/:id/lifecycle/activate': onUser('STAGED'),
  'POST /users/:id/lifecycle/refuse': async (make) => ({ params: { id: await make.waitingUser() } }),
  'POST /users/:id/lifecycle/reactivate': async (make) => {
    const id = await make.user('STAGED');
    await make.call('POST', `/users/${id}/lifecycle/activate?sendEmail=false`);
    return { params: { id }, query: { sendEmail: 'false' } };
  },
  'POST /users/:id/lifecycle/deactivate': onUser(),
  'POST /users/:id/lifecycle/suspend': onUser(),
  'POST /users/:id/lifecycle/unsuspend': onUser('SUSPENDED'),
  'POST /users/:id/lifecycle/unlock': async (make) => ({ params: { id: await make.lockedUser() } }),
  'POST /users/:id/lifecycle/expire_password': onUser('ACTIVE', undefined, PASSWORD),
  'POST /users/:id/lifecycle/reset_factors': withFactor(false),
  'POST /users/:id/lifecycle/reset_password': onUser('ACTIVE', () => ({ query: { sendEmail: 'false' } })),
  'DELETE /users/:id/sessions': onUser(),
  'GET /users/:id/grants': onUser(),
  'DELETE /users/:id/grants': onUser(),
  'GET /users/:id/grants/:grantId': async (make) => ({ params: await make.grant() }),
  'DELETE /users/:id/grants/:grantId': async (make) => ({ params: await make.grant() }),
  'GET /users/:id/data': onUser(),
  'GET /users/:id/data/events': onUser(),
  'GET /users/:id/roles': onUser(),
  'POST /users/:id/roles': onUser('ACTIVE', () => ({ body: { type: 'READ_ONLY_ADMIN' } })),
  'GET /users/:id/roles/:roleId': withRole,
  'DELETE /users/:id/roles/:roleId': withRole,
  'GET /users/:id/groups': onUser(),
  'GET /users/:id/appLinks': onUser(),

  'POST /groups': async () => ({ body: { profile: { name: unique('Group'), description: 'People' } } }),
  'GET /groups': none,
  'GET /groups/:id': on('group'),
  'PUT /groups/:id': on('group', () => ({ body: { profile: { name: unique('Group') } } })),
  'DELETE /groups/:id': on('group'),
  'GET /groups/:id/users': async (make) => {
    const { params } = await assigned('group', 'user', true)(make);
    return { params: { id: params?.id ?? '' } };
  },
  'GET /groups/:id/apps': on('group'),
  'PUT /groups/:id/users/:userId': assigned('group', 'user', false),
  'DELETE /groups/:id/users/:userId': assigned('group', 'user', true),

  'POST /apps': async () => ({ body: { label: unique('App'), ...redirectUris } }),
  'GET /apps': none,
  'GET /apps/:id': on('app'),
  'PUT /apps/:id': on('app', () => ({ body: { label: unique('App'), ...redirectUris } })),
  'DELETE /apps/:id': on('app'),
  'POST /apps/:id/lifecycle/activate': async (make) => {
    const id = await make.app();
    await make.call('POST', `/apps/${id}/lifecycle/deactivate`);
    return { params: { id } };
  },
  'POST /apps/:id/lifecycle/deactivate': on('app'),
  'POST /apps/:id/credentials/secrets': on('app'),
  'GET /apps/:id/credentials/secrets': on('app'),
  'GET /apps/:id/credentials/secrets/:secretId': withSecret,
  'DELETE /apps/:id/credentials/secrets/:secretId': withSecret,
  'POST /apps/:id/credentials/secrets/:secretId/lifecycle/activate': withSecret,
  'POST /apps/:id/credentials/secrets/:secretId/lifecycle/deactivate': withSecret,
  'GET /apps/:id/users': on('app'),
  'POST /apps/:id/users': async (make) => ({ params: { id: await make.app() }, body: { id: await make.user() } }),
  'PUT /apps/:id/users/:userId': assigned('app', 'user', false),
  'GET /apps/:id/users/:userId': assigned('app', 'user', true),
  'DELETE /apps/:id/users/:userId': assigned('app', 'user', true),
  'GET /apps/:id/groups': on('app'),
  'PUT /apps/:id/groups/:groupId': assigned('app', 'group', false),
  'GET /apps/:id/groups/:groupId': assigned('app', 'group', true),
  'DELETE /apps/:id/groups/:groupId': assigned('app', 'group', true),

  'POST /authorizationServers': async () => ({ body: { name: unique('Server'), audiences: ['api://x'] } }),
  'GET /authorizationServers': none,
  'GET /authorizationServers/:id': on('server'),
  'PUT /authorizationServers/:id': on('server', () => ({ body: { name: unique('Server') } })),
  'GET /authorizationServers/:id/credentials/keys': on('server'),
  'GET /authorizationServers/:id/credentials/keys/:keyId': async (make) => {
    const { id, credentials } = await make.call('POST', '/authorizationServers', { name: unique('Server'), signingAlg: 'ES256' });
    return { params: { id: String(id), keyId: (credentials as { signing: { kid: string } }).signing.kid } };
  },
  'POST /authorizationServers/:id/credentials/lifecycle/keyRotate': on('server', () => ({ body: { use: 'sig' } })),
  'POST /authorizationServers/:id/registrationTokens': on('server', () => ({ body: { name: unique('Token') } })),
  'GET /authorizationServers/:id/registrationTokens': on('server'),
  'GET /authorizationServers/:id/registrationTokens/:tokenId': onServerPart('registrationTokens', 'tokenId', tokenOf),
  'DELETE /authorizationServers/:id/registrationTokens/:tokenId': onServerPart('registrationTokens', 'tokenId', tokenOf),
  'POST /authorizationServers/:id/scopes': on('server', () => ({ body: scopeOf() })),
  'GET /authorizationServers/:id/scopes': on('server'),
  'GET /authorizationServers/:id/scopes/:scopeId': onServerPart('scopes', 'scopeId', scopeOf),
  'PUT /authorizationServers/:id/scopes/:scopeId': onServerPart('scopes', 'scopeId', scopeOf, scopeOf),
  'DELETE /authorizationServers/:id/scopes/:scopeId': onServerPart('scopes', 'scopeId', scopeOf),
  'POST /authorizationServers/:id/authorizationDetailTypes': on('server', () => ({ body: detailTypeOf() })),
  'GET /authorizationServers/:id/authorizationDetailTypes': on('server'),
  'GET /authorizationServers/:id/authorizationDetailTypes/:typeId': onServerPart('authorizationDetailTypes', 'typeId', detailTypeOf),
  'PUT /authorizationServers/:id/authorizationDetailTypes/:typeId': onServerPart(
    'authorizationDetailTypes',
    'typeId',
    detailTypeOf,
    detailTypeOf,
  ),
  'DELETE /authorizationServers/:id/authorizationDetailTypes/:typeId': onServerPart('authorizationDetailTypes', 'typeId', detailTypeOf),
  'POST /authorizationServers/:id/claims': on('server', () => ({ body: claimOf() })),
  'GET /authorizationServers/:id/claims': async (make) => {
    const id = await make.server();
    await make.call('POST', `/authorizationServers/${id}/claims`, claimOf());
    return { params: { id } };
  },
  'GET /authorizationServers/:id/claims/:claimId': onServerPart('claims', 'claimId', claimOf),
  'PUT /authorizationServers/:id/claims/:claimId': onServerPart('claims', 'claimId', claimOf, claimOf),
  'DELETE /authorizationServers/:id/claims/:claimId': onServerPart('claims', 'claimId', claimOf),
  'POST /authorizationServers/:id/lifecycle/activate': on('server'),
  'POST /authorizationServers/:id/lifecycle/deactivate': on('server'),
  'DELETE /authorizationServers/:id': on('server'),

  'POST /authorizationServers/:id/simulate': async (make) => ({
    params: { id: await make.server() },
    body: {
      client_id: await make.app(),
      user: await make.user(),
      grant_type: 'authorization_code',
      scopes: ['openid', 'email'],
      prompt: 'login',
    },
  }),
  'POST /authorizationServers/:id/policies': on('server', () => ({ body: policyBody() })),
  'GET /authorizationServers/:id/policies': on('server'),
  'GET /authorizationServers/:id/policies/:policyId': onPolicy(),
  'PUT /authorizationServers/:id/policies/:policyId': onPolicy(() => ({ body: policyBody() })),
  'DELETE /authorizationServers/:id/policies/:policyId': onPolicy(),
  'POST /authorizationServers/:id/policies/:policyId/lifecycle/activate': onPolicy(),
  'POST /authorizationServers/:id/policies/:policyId/lifecycle/deactivate': onPolicy(),
  'POST /authorizationServers/:id/policies/:policyId/rules': onPolicy(() => ({ body: ruleBody() })),
  'GET /authorizationServers/:id/policies/:policyId/rules': onPolicy(),
  'GET /authorizationServers/:id/policies/:policyId/rules/:ruleId': onRule(),
  'PUT /authorizationServers/:id/policies/:policyId/rules/:ruleId': onRule(() => ({ body: ruleBody() })),
  'DELETE /authorizationServers/:id/policies/:policyId/rules/:ruleId': onRule(),
  'POST /authorizationServers/:id/policies/:policyId/rules/:ruleId/lifecycle/activate': onRule(),
  'POST /authorizationServers/:id/policies/:policyId/rules/:ruleId/lifecycle/deactivate': onRule(),

  'POST /idps': async () => ({ body: identityProvider() }),
  'GET /idps': none,
  'GET /idps/:id': on('idp'),
  'PUT /idps/:id': on('idp', () => ({ body: identityProvider() })),
  'DELETE /idps/:id': on('idp'),
  'POST /idps/:id/lifecycle/activate': on('idp'),
  'POST /idps/:id/lifecycle/deactivate': on('idp'),
  'GET /idps/:id/users': linkedTo(false),
  'GET /idps/:id/users/:userId': linkedTo(true),
  'POST /idps/:id/users/:userId': async (make) => ({
    params: { id: await make.idp(), userId: await make.user() },
    body: { externalId: unique('subject') },
  }),
  'DELETE /idps/:id/users/:userId': linkedTo(true),

  'GET /settings/telephony': none,
  'PUT /settings/telephony': async () => ({ body: telephony() }),
  'POST /settings/telephony/test': async (make) => {
    await make.call('PUT', '/settings/telephony', telephony());
    return { body: { phoneNumber: '+4930901820' } };
  },
  'GET /users/:id/factors': withFactor(false),
  'POST /users/:id/factors': async (make) => {
    const { id, factorId } = await make.emailFactor(true);
    await make.call('DELETE', `/users/${id}/factors/${factorId}`);
    return { params: { id }, body: { factorType: 'email', provider: 'OKTA' } };
  },
  'POST /users/:id/factors/:factorId/lifecycle/activate': async (make) => {
    const { id, factorId, passCode } = await make.emailFactor(true);
    return { params: { id, factorId }, body: { passCode } };
  },
  'POST /users/:id/factors/:factorId/verify': async (make) => {
    const { id, factorId } = await make.emailFactor(false);
    return { params: { id, factorId }, body: {} };
  },
  'DELETE /users/:id/factors': withFactor(false),
  'GET /users/:id/factors/:factorId': withFactor(true),
  'DELETE /users/:id/factors/:factorId': withFactor(true),
  'POST /zones': async () => ({ body: zone() }),
  'POST /zones/:id/lifecycle/activate': onZone(),
  'GET /mappings': none,
  'POST /internal/apps/:id/settings/oauth/idToken': on('app', () => ({ body: { issuerMode: 'ORG_URL' } })),
  'GET /zones': none,
  'GET /zones/:id': onZone(),
  'PUT /zones/:id': onZone(() => ({ body: zone() })),
  'DELETE /zones/:id': onZone(),
  'GET /users/:id/trustedBrowsers': trustedBrowser(false),
  'DELETE /users/:id/trustedBrowsers': trustedBrowser(false),
  'DELETE /users/:id/trustedBrowsers/:browserId': trustedBrowser(true),
  'POST /authn/factors/:id/verify': async (make) => {
    const secret = newTotpSecret();
    const { factorId, login } = await make.factor(secret);
    const { stateToken } = await make.call('POST', '/authn', { username: login, password: PASSWORD.credentials.password.value });
    return { params: { id: factorId }, body: { stateToken, passCode: codeOf(secret) } };
  },

  'GET /sessions/me': none,
  'DELETE /sessions/me': none,
  'POST /authn/credentials/change_password': async (make) => {
    const login = unique('user');
    const { id } = await make.call('POST', '/users', { profile: { login }, ...PASSWORD });
    await make.call('POST', `/users/${id}/lifecycle/expire_password`);
    const oldPassword = PASSWORD.credentials.password.value;
    const { stateToken } = await make.call('POST', '/authn', { username: login, password: oldPassword });
    return { body: { stateToken, oldPassword, newPassword: 'violet engines hum' } };
  },
  'POST /authn': async (make) => {
    const login = unique('user');
    await make.call('POST', '/users', { profile: { login }, ...PASSWORD });
    return { body: { username: login, password: PASSWORD.credentials.password.value } };
  },

  'POST /api-tokens': async () => ({ body: { name: unique('Token') } }),
  'GET /api-tokens': none,
  'GET /api-tokens/:id': on('token'),
  'DELETE /api-tokens/:id': on('token'),

  'POST /eventHooks': async () => ({ body: aHook() }),
  'GET /eventHooks': none,
  'GET /eventHooks/:id': on('hook'),
  'PUT /eventHooks/:id': on('hook', () => ({ body: aHook() })),
  'DELETE /eventHooks/:id': on('hook'),
  'POST /eventHooks/:id/lifecycle/activate': on('hook'),
  'POST /eventHooks/:id/lifecycle/deactivate': on('hook'),
  'POST /eventHooks/:id/lifecycle/verify': on('hook'),
  'POST /eventHooks/:id/credentials/secret': on('hook'),
  'POST /eventHooks/:id/test': async (make) => ({ params: { id: await make.verifiedHook() } }),
  'GET /eventHooks/:id/deliveries': on('hook'),
  'GET /eventHooks/:id/deliveries/:deliveryId': delivered,
  'POST /eventHooks/:id/deliveries/:deliveryId/repeat': delivered,

  'POST /inlineHooks': async () => ({ body: anInlineHook() }),
  'GET /inlineHooks': none,
  'GET /inlineHooks/:id': on('inlineHook'),
  'PUT /inlineHooks/:id': on('inlineHook', () => ({ body: anInlineHook() })),
  'DELETE /inlineHooks/:id': on('inlineHook'),
  'POST /inlineHooks/:id/lifecycle/activate': on('inlineHook'),
  'POST /inlineHooks/:id/lifecycle/deactivate': on('inlineHook'),
  'POST /inlineHooks/:id/execute': on('inlineHook', () => ({ body: {} })),
  'POST /inlineHooks/:id/credentials/secret': on('inlineHook'),

  'POST /ssf/streams': async (make) => ({ body: { applicationId: await make.app(), ...aStream() } }),
  'GET /ssf/streams': none,
  'GET /ssf/streams/:id': on('stream'),
  'PUT /ssf/streams/:id': on('stream', () => ({ body: aStream() })),
  'DELETE /ssf/streams/:id': on('stream'),
  'POST /ssf/streams/:id/lifecycle/enable': async (make) => {
    const id = await make.stream();
    await make.call('POST', `/ssf/streams/${id}/lifecycle/pause`);
    return { params: { id } };
  },
  'POST /ssf/streams/:id/lifecycle/pause': on('stream'),
  'POST /ssf/streams/:id/lifecycle/disable': on('stream'),
  'POST /ssf/streams/:id/verify': on('stream'),

  'GET /logs': none,
  'POST /apps/:id/roles': async (make) => ({ params: { id: await make.app() }, body: { name: 'editor' } }),
  'GET /apps/:id/roles': async (make) => ({ params: { id: await make.app() } }),
  'GET /apps/:id/roles/:roleId': async (make) => ({ params: await appRole(make) }),
  'PUT /apps/:id/roles/:roleId': async (make) => ({ params: await appRole(make), body: { name: 'editor', displayName: 'Editor' } }),
  'DELETE /apps/:id/roles/:roleId': async (make) => ({ params: await appRole(make) }),
  'GET /provisioning': none,
  'GET /apps/:id/provisioning': onTarget(),
  'PUT /apps/:id/provisioning': on('app', () => ({ body: aTarget() })),
  'DELETE /apps/:id/provisioning': onTarget(),
  'POST /apps/:id/provisioning/push': onTarget(),
  'GET /apps/:id/provisioning/resources': onTarget(),
  'GET /apps/:id/provisioning/plan': onTarget(),
  'GET /meta/schemas/user/default': none,
  'POST /meta/schemas/user/default': async () => ({
    body: { definitions: { custom: { properties: { [`story${randomBytes(6).toString('hex')}`]: { title: 'Story', type: 'string' } } } } },
  }),
  'PUT /meta/schemas/user/default': async () => ({
    body: { definitions: { custom: { properties: { [`story${randomBytes(6).toString('hex')}`]: { title: 'Story', type: 'string' } } } } },
  }),
  'GET /settings/sign-in': none,
  'PUT /settings/sign-in': async () => ({ body: { sessionIdleMinutes: 60 } }),
  'GET /settings/password': none,
  'PUT /settings/password': async () => ({ body: { minLength: 10 } }),
  'GET /settings/branding': none,
  'PUT /settings/branding': async () => ({ body: { name: 'Example' } }),
  'GET /settings/bots': none,
  'PUT /settings/bots': async () => ({ body: { signUp: 'ALWAYS', signIn: 'ADAPTIVE' } }),
  'GET /settings/registration': none,
  'PUT /settings/registration': async () => ({ body: { enabled: true, allowedDomains: ['example.com'] } }),
  'GET /settings/mail': none,
  'PUT /settings/mail': async () => ({ body: { host: 'mail.example.com', fromAddress: 'id@example.com' } }),
  'POST /settings/mail/test': async (make) => {
    await make.ownAddress();
    return {};
  },
  'GET /settings/mail-templates': none,
  'GET /settings/mail-templates/:kind/:language': async () => ({ params: TEMPLATE }),
  'PUT /settings/mail-templates/:kind/:language': async () => ({ params: TEMPLATE, body: { subject: 'Welcome to {service}' } }),
  'DELETE /settings/mail-templates/:kind/:language': async () => ({ params: TEMPLATE }),
  'POST /settings/mail-templates/:kind/:language/preview': async () => ({ params: TEMPLATE, body: { heading: 'Hello' } }),
  'POST /settings/mail-templates/:kind/:language/test': async (make) => {
    await make.ownAddress();
    return { params: TEMPLATE };
  },
  'GET /settings/texts': none,
  'GET /settings/texts/:language/:key': async () => ({ params: TEXT }),
  'PUT /settings/texts/:language/:key': async () => ({ params: TEXT, body: { text: 'Enter' } }),
  'DELETE /settings/texts/:language/:key': async () => ({ params: TEXT }),
  'GET /settings/audit': none,
  'PUT /settings/audit': async () => ({ body: { retentionDays: 365 } }),
};
