/** What `authorizationServers/{id}/simulate` tells is what happens: many requests are simulated and then made (management API, "simulate"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { setPolicies } from '../../support/access-policies.ts';
import { enrolledUser } from '../../support/factors.ts';
import { type Service, startService } from '../../support/service.ts';
import { type Page, UserAgent } from '../../support/user-agent.ts';
import { answerOf, authorizeUrl, CALLBACK, post, type TestClient } from './relying-party.ts';

const GRANTS = ['authorization_code', 'implicit', 'password', 'client_credentials'] as const;
type Grant = (typeof GRANTS)[number];

interface Request {
  readonly client: TestClient;
  readonly grant: Grant;
  readonly scopes: readonly string[];
  readonly prompt: string;
  readonly resource?: string;
}
/** What both the simulation and the reality are put into. */
interface Happening {
  readonly outcome: 'TOKENS' | 'CONSENT' | 'REFUSED';
  readonly error?: string;
  readonly tokens?: unknown;
}

/** What is new in each token, and what it says of its request alone. */
const FLEETING = ['iat', 'exp', 'nbf', 'jti', 'nonce', 'at_hash', 'c_hash', 's_hash', 'auth_time', 'amr', 'acr', 'sid'];
const lasting = (token: unknown): unknown =>
  typeof token === 'string' ? Object.fromEntries(Object.entries(decodeJwt(token)).filter(([name]) => !FLEETING.includes(name))) : undefined;

const tokensIn = (body: Record<string, unknown>, scope: unknown): unknown => ({
  accessToken: lasting(body.access_token),
  idToken: lasting(body.id_token),
  refreshToken: body.refresh_token !== undefined,
  seconds: body.access_token === undefined ? undefined : Number(body.expires_in),
  scope: String(scope ?? ''),
});

const isDialog = (page: Page): boolean => page.text.includes('id="consent"');

/** A service with one server of every kind of scope, and a user who is signed in. */
async function laboratory(t: Parameters<typeof startService>[0]) {
  const service = await startService(t);
  const made = async (method: string, path: string, body?: unknown) => {
    const answer = await service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await made('POST', '/authorizationServers', { id: 'lab', name: 'Laboratory', audiences: ['api://lab', 'https://other.example'] });
  for (const consent of ['IMPLICIT', 'REQUIRED', 'FLEXIBLE']) {
    await made('POST', '/authorizationServers/lab/scopes', { name: consent.toLowerCase(), consent, default: consent === 'IMPLICIT' });
  }
  const claim = { valueType: 'STATIC', value: 'x', alwaysIncludeInToken: true };
  await made('POST', '/authorizationServers/lab/claims', {
    ...claim,
    name: 'lab',
    claimType: 'RESOURCE',
    conditions: { scopes: ['flexible'] },
  });
  await made('POST', '/authorizationServers/lab/claims', {
    ...claim,
    name: 'badge',
    claimType: 'IDENTITY',
    valueType: 'USER_ATTRIBUTE',
    value: 'nickName',
  });
  const user = await service.createUser({ email: 'ada@example.com', firstName: 'Ada', nickName: 'Lady <b>' });
  const browser = new UserAgent(service.baseUrl);
  const everywhere = await createClient(service, {});
  await browser.signIn(await browser.visit(authorizeUrl(service, 'lab', { client_id: everywhere.clientId })), user);

  /** What the API says would happen. */
  async function simulate({
    client,
    grant,
    scopes,
    prompt,
    resource,
  }: Request): Promise<Happening & { readonly told: Record<string, never> }> {
    const told = await made('POST', '/authorizationServers/lab/simulate', {
      client_id: client.clientId,
      grant_type: grant,
      scopes,
      ...(grant !== 'client_credentials' && { user: user.login }),
      ...(prompt !== '' && { prompt }),
      ...(resource !== undefined && { resources: [resource] }),
    });
    const { outcome, refusal, tokens, lifetimes } = told;
    if (outcome === 'REFUSED') return { outcome, error: refusal.error, told };
    const expected = {
      accessToken: tokens.access_token?.claims,
      idToken: tokens.id_token?.claims,
      refreshToken: tokens.refresh_token,
      seconds: tokens.access_token === null ? undefined : lifetimes.accessTokenSeconds,
      scope: told.scopes.granted.join(' '),
    };
    return { outcome, tokens: expected, told };
  }

  const atToken = async (client: TestClient, form: Record<string, string>): Promise<Happening> => {
    const { status, body } = await post(service, 'lab', 'token', client, form);
    return status === 200 ? { outcome: 'TOKENS', tokens: tokensIn(body, body.scope) } : { outcome: 'REFUSED', error: body.error };
  };

  /** Makes the request. @param responseType as the simulation tells it */
  async function make({ client, grant, scopes, prompt, resource }: Request, responseType: string | null): Promise<Happening> {
    const scope = { ...(scopes.length > 0 && { scope: scopes.join(' ') }), ...(resource !== undefined && { resource }) };
    if (grant === 'client_credentials') return atToken(client, { grant_type: grant, ...scope });
    if (grant === 'password') return atToken(client, { grant_type: grant, username: user.login, password: user.password, ...scope });
    const parameters = {
      client_id: client.clientId,
      response_type: responseType ?? (grant === 'implicit' ? 'token' : 'code'),
      prompt: prompt === '' ? undefined : prompt,
    };
    let page = await browser.visit(authorizeUrl(service, 'lab', { ...parameters, scope: undefined, ...scope }));
    if (prompt.includes('login') && page.text.includes('id="sign-in-form"')) page = await browser.signIn(page, user);
    if (page.text.includes('id="not-assigned"')) page = await browser.submit(page, 'return-form');
    const asked = isDialog(page);
    if (asked) page = await browser.submit(page, 'consent', { decision: 'allow' });
    assert.equal(page.url.origin + page.url.pathname, CALLBACK, page.text.slice(0, 500));
    const answer = answerOf(page);
    if (answer.error !== undefined) return { outcome: 'REFUSED', error: answer.error };
    const exchanged: Happening =
      answer.code === undefined
        ? { outcome: 'TOKENS', tokens: tokensIn(answer, answer.scope ?? scope.scope) }
        : await atToken(client, { grant_type: 'authorization_code', code: answer.code, redirect_uri: CALLBACK });
    return asked && exchanged.outcome === 'TOKENS' ? { ...exchanged, outcome: 'CONSENT' } : exchanged;
  }

  return { service, made, user, simulate, make };
}

const createClient = (service: Service, settings: Record<string, unknown>): Promise<TestClient> =>
  service.createApp({
    redirect_uris: [CALLBACK],
    grant_types: [...GRANTS, 'refresh_token'],
    response_types: ['code', 'token', 'id_token token'],
    ...settings,
  });

test('what is simulated is what happens: consent method, consent of scopes, prompt, grant and policies in every combination', async (t) => {
  const { service, made, user, simulate, make } = await laboratory(t);
  const clients = [await createClient(service, {}), await createClient(service, { consent_method: 'REQUIRED' })] as const;
  const { id: group } = await made('POST', '/groups', { profile: { name: 'Staff' } });
  await made('PUT', `/groups/${group}/users/${user.id}`);
  const scopeSets = [
    ['openid', 'implicit'],
    ['openid', 'profile', 'required', 'flexible', 'offline_access'],
    ['flexible', 'offline_access'],
    [],
    ['required', 'unknown'],
  ];
  const short = { token: { accessTokenLifetimeMinutes: 7, refreshTokenLifetimeMinutes: 9, refreshTokenWindowMinutes: 8 } };
  const worlds = {
    open: [{ rules: [{}] }],
    narrow: [
      { clients: [clients[0].clientId], rules: [{ conditions: { grantTypes: { include: ['password', 'implicit'] } }, actions: short }] },
      {
        rules: [
          { conditions: { scopes: { include: ['flexible'] } } },
          { conditions: { people: { groups: { include: [group] } } }, actions: short },
        ],
      },
    ],
    nobody: [{ rules: [{ conditions: { people: { users: { include: [] } } } }] }],
  };
  const seen = new Map<string, number>();
  for (const [world, policies] of Object.entries(worlds)) {
    await setPolicies(service, 'lab', policies);
    for (const client of clients) {
      for (const grant of GRANTS) {
        for (const scopes of scopeSets) {
          // Nothing is remembered when the first is made; what is allowed then counts for those after it.
          await made('DELETE', `/users/${user.id}/grants`);
          for (const prompt of grant === 'authorization_code' || grant === 'implicit' ? ['none', '', 'none', 'consent', 'login'] : ['']) {
            const request = { client, grant, scopes, prompt };
            const { told, ...simulated } = await simulate(request);
            const happened = await make(request, (told as Record<string, string | null>).response_type ?? null);
            assert.deepEqual(happened, simulated, `${world} ${JSON.stringify(request)} ${JSON.stringify(told)}`);
            seen.set(simulated.error ?? simulated.outcome, (seen.get(simulated.error ?? simulated.outcome) ?? 0) + 1);
          }
        }
      }
    }
  }
  for (const outcome of ['TOKENS', 'CONSENT', 'access_denied', 'invalid_scope', 'consent_required']) {
    assert.ok((seen.get(outcome) ?? 0) >= 5, `${outcome} was among them: ${JSON.stringify([...seen])}`);
  }
});

test('what is simulated is what happens where user, application or server cannot', async (t) => {
  const { service, made, user, simulate, make } = await laboratory(t);
  const both = async (client: TestClient, grant: Grant, error: string | undefined, prompt = 'none') => {
    const visits = grant === 'authorization_code' || grant === 'implicit';
    const request = { client, grant, scopes: ['openid', 'implicit'], prompt: visits ? prompt : '' };
    const { told, ...simulated } = await simulate(request);
    assert.equal(simulated.error, error, `${grant}: ${JSON.stringify(simulated)}`);
    assert.deepEqual(await make(request, (told as Record<string, string | null>).response_type ?? null), simulated);
  };

  const asking = await createClient(service, {});
  for (const grant of GRANTS) {
    for (const [resource, error] of [
      ['https://other.example', undefined],
      ['https://foreign.example', 'invalid_target'],
    ] as const) {
      const request = { client: asking, grant, scopes: ['implicit'], prompt: '', resource };
      const { told, ...simulated } = await simulate(request);
      assert.equal(simulated.error, error, `${grant}: ${JSON.stringify(simulated)}`);
      assert.deepEqual(await make(request, (told as Record<string, string | null>).response_type ?? null), simulated);
    }
  }

  const closed = await createClient(service, { assignment: 'ASSIGNED' });
  for (const grant of ['authorization_code', 'password'] as const) await both(closed, grant, 'access_denied');
  await both(closed, 'authorization_code', 'access_denied', '');
  await both(closed, 'client_credentials', 'invalid_scope');
  await made('PUT', `/apps/${closed.clientId}/users/${user.id}`);
  for (const grant of ['authorization_code', 'password'] as const) await both(closed, grant, undefined);

  const narrow = await createClient(service, { grant_types: ['authorization_code'], response_types: ['code'] });
  await both(narrow, 'authorization_code', undefined);
  await both(narrow, 'password', 'unauthorized_client');
  await both(narrow, 'client_credentials', 'unauthorized_client');

  for (const responseTypes of [['id_token'], ['token'], ['id_token', 'token']]) {
    await both(await createClient(service, { response_types: responseTypes }), 'implicit', undefined);
  }
  await both(narrow, 'implicit', 'unauthorized_client');

  const inactive = await createClient(service, {});
  await made('POST', `/apps/${inactive.clientId}/lifecycle/deactivate`);
  await both(inactive, 'password', 'invalid_client');

  await made('POST', `/users/${user.id}/lifecycle/suspend`);
  await both(closed, 'authorization_code', 'login_required');
  await both(closed, 'password', 'invalid_grant');
  await made('POST', `/users/${user.id}/lifecycle/unsuspend`);

  await made('POST', '/authorizationServers/lab/lifecycle/deactivate');
  await both(closed, 'password', 'invalid_request');
});

test('the password grant is simulated as it is made: second factors and sign-in rules that it cannot meet', async (t) => {
  const { service, made, user } = await laboratory(t);
  const client = await createClient(service, { grant_types: ['password'], response_types: [] });
  const demanding = await createClient(service, { grant_types: ['password'], response_types: [], mfa_required: true });
  const closed = await createClient(service, { grant_types: ['password'], response_types: [], assignment: 'ASSIGNED' });
  const enrolled = await enrolledUser(service);
  const NEEDED = 'the user needs a second factor, which this grant does not support';
  const both = async (app: TestClient, person: { id: string; login: string; password: string }, error?: string, reason?: string) => {
    const told = await made('POST', '/authorizationServers/lab/simulate', {
      ...{ client_id: app.clientId, user: person.id, grant_type: 'password', scopes: ['openid'] },
      sign_in: { ip_address: '127.0.0.1', new_browser: true },
    });
    assert.deepEqual([told.refusal?.error, told.refusal?.reason], [error, reason], JSON.stringify(told));
    const credentials = { username: person.login, password: person.password };
    const { body } = await post(service, 'lab', 'token', app, { grant_type: 'password', scope: 'openid', ...credentials });
    assert.equal(body.error, error, JSON.stringify(body));
  };
  await both(client, user);
  await both(client, enrolled, 'invalid_grant', NEEDED);
  await both(demanding, user, 'invalid_grant', NEEDED);
  await both(closed, enrolled, 'access_denied', 'the application is not assigned to the user');
  await made('PUT', '/settings/sign-in', { mfa: 'EVERYONE' });
  await both(client, user, 'invalid_grant', NEEDED);
  for (const [action, reason] of [
    ['SECOND_FACTOR', NEEDED],
    ['DENY', 'a rule of the sign-in policy refuses the sign-in'],
  ]) {
    await made('PUT', '/settings/sign-in', { mfa: 'OPTIONAL', rules: [{ name: 'New', conditions: { newBrowser: true }, action }] });
    await both(client, user, 'invalid_grant', reason);
  }
  await made('PUT', '/settings/sign-in', { rules: [], methods: ['passkey'] });
  await both(client, enrolled, 'invalid_grant', 'the sign-in policy does not allow passwords');
});

test('the simulation tells why: each step, the row of the consent table, the first reason of a refusal', async (t) => {
  const { service, made, user } = await laboratory(t);
  const client = await createClient(service, { consent_method: 'REQUIRED' });
  await setPolicies(service, 'lab', [
    { clients: [], rules: [{}] },
    { rules: [{ conditions: { grantTypes: { include: ['password'] } } }, { actions: { token: { accessTokenLifetimeMinutes: 3 } } }] },
  ]);
  const told = await made('POST', '/authorizationServers/lab/simulate', {
    client_id: client.clientId,
    user: user.id,
    grant_type: 'authorization_code',
    scopes: ['openid', 'required', 'flexible'],
  });
  assert.equal(told.outcome, 'CONSENT');
  assert.deepEqual([told.access.policy.name, told.access.rule.name, told.lifetimes.accessTokenSeconds], ['Policy 1', 'Rule 1', 180]);
  assert.deepEqual(told.access.steps, [
    { policy: 'Policy 0', reason: 'the policy is for other clients' },
    { policy: 'Policy 1', reason: 'the policy is for this client' },
    { policy: 'Policy 1', rule: 'Rule 0', reason: 'the rule is for another grant type' },
    { policy: 'Policy 1', rule: 'Rule 1', reason: 'the rule fits' },
  ]);
  assert.deepEqual(told.consent, {
    asked: true,
    consent_method: 'REQUIRED',
    prompted: false,
    scopes: [
      { scope: 'openid', consent: 'IMPLICIT', ask: false, reason: 'scope is granted without a dialog' },
      { scope: 'required', consent: 'REQUIRED', ask: true, reason: 'not given yet' },
      { scope: 'flexible', consent: 'FLEXIBLE', ask: true, reason: 'not given yet' },
    ],
    authorization_details: [],
  });
  assert.deepEqual(told.user, { id: user.id, login: user.login, status: 'ACTIVE' });
  assert.deepEqual(told.assignment, { setting: 'EVERYONE', assigned: false });

  const refused = async (body: Record<string, unknown>, ...expected: string[]) => {
    const answer = await service.api('POST', '/authorizationServers/lab/simulate', { client_id: client.clientId, ...body });
    assert.equal(answer.status, 400);
    assert.deepEqual(
      answer.body.errorCauses.map(({ errorSummary }: { errorSummary: string }) => errorSummary),
      expected,
    );
  };
  await refused({ grant_type: 'implicit', user: 'nobody' }, 'user: does not exist');
  await refused({ grant_type: 'implicit', user: 'nobody', client_id: 'none' }, 'client_id: does not exist', 'user: does not exist');
  await refused({ grant_type: 'password' }, 'user: is required');
  await refused({ grant_type: 'client_credentials', user: user.id }, 'user: cannot be used with grant_type client_credentials');
  await refused({ grant_type: 'password', user: user.id, prompt: 'none' }, 'prompt: cannot be used with grant_type password');
  await refused({ grant_type: 'implicit', user: user.id, prompt: 'none login' }, 'prompt: cannot combine none with other values');
  await refused({ grant_type: 'implicit', user: user.id, prompt: 'select_account' }, 'prompt.0: must be a list of none, login, consent');
  await refused(
    { grant_type: 'refresh_token', user: user.id },
    'grant_type: must be authorization_code or implicit or password or client_credentials or urn:ietf:params:oauth:grant-type:device_code or urn:openid:params:grant-type:ciba or urn:ietf:params:oauth:grant-type:token-exchange or urn:ietf:params:oauth:grant-type:jwt-bearer',
  );
});

test('of an opaque access token the simulation tells what introspection tells', async (t) => {
  const service = await startService(t);
  const [user, client] = [await service.createUser(), await createClient(service, {})];
  const simulated = await service.api('POST', '/authorizationServers/built-in/simulate', {
    client_id: client.clientId,
    user: user.id,
    grant_type: 'password',
    scopes: ['openid'],
  });
  const form = { grant_type: 'password', username: user.login, password: user.password, scope: 'openid' };
  const { body } = await post(service, 'built-in', 'token', client, form);
  const { body: told } = await post(service, 'built-in', 'introspect', client, { token: body.access_token });
  const { format, claims } = simulated.body.tokens.access_token;
  assert.equal(format, 'opaque');
  assert.deepEqual(claims, Object.fromEntries(Object.keys(claims).map((name) => [name, told[name]])));
  assert.deepEqual(Object.keys(claims).sort(), ['aud', 'client_id', 'iss', 'scope', 'sub']);
});
