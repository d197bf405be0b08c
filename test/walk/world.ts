/** The running service as the walk meets it: users, applications and servers of the model's names, and what was handed out for each of its codes and tokens. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createClient, type JsonAnswer, post, type TestClient } from '../protocol/servers/relying-party.ts';
import { setPolicies } from '../support/access-policies.ts';
import { moveClock } from '../support/clock.ts';
import { onServer } from '../support/database.ts';
import type { Answer, Service } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';
import { ASKED_FOR, type Model } from './model.ts';
import type { App, Code, Server, Token, User } from './things.ts';

export const USERS = ['ann', 'ben'];
export const BROWSERS = ['laptop', 'phone'];

export const newUsers = (): Record<string, User> => Object.fromEntries(USERS.map((name) => [name, { status: 'ACTIVE' }]));

export const newApps = (): Record<string, App> => ({
  /** Confidential and trusted. */
  shop: { asks: false, leeway: 30, listens: true, active: true, born: 0 },
  /** Public; it asks, and forgives no second use. */
  page: { asks: true, leeway: 0, listens: true, active: true, born: 0 },
  /** Confidential; it asks, and its refresh token stays. */
  robot: { asks: true, leeway: undefined, listens: false, active: true, born: 0 },
});

export const newServers = (): Record<string, Server> => ({
  'built-in': { accessToken: 3600, refreshTokenWindow: 30 * 86_400, refreshToken: 90 * 86_400, active: true, born: 0 },
  walk: { accessToken: 600, refreshTokenWindow: 2700, refreshToken: 7200, active: true, born: 0 },
});

interface Person {
  readonly id: string;
  readonly login: string;
  password: string;
}

export class World {
  readonly people = new Map<string, Person>();
  readonly clients = new Map<string, TestClient>();
  readonly browsers = new Map<string, UserAgent>();
  readonly codes = new Map<Code, { readonly value: string; readonly verifier: string }>();
  readonly tokens = new Map<Token, string>();
  #noted = 0;
  #steps = 0;
  /** What was active at the last look. */
  #lively: ReadonlySet<Token> = new Set();

  private constructor(
    readonly t: TestContext,
    readonly service: Service,
    readonly resourceServer: TestClient,
  ) {}

  /** A world of new users and applications. */
  static async begin(t: TestContext, service: Service, resourceServer: TestClient, model: Model): Promise<World> {
    const world = new World(t, service, resourceServer);
    for (const name of USERS) world.people.set(name, await service.createUser());
    for (const name of Object.keys(model.apps)) await world.makeApp(model, name);
    for (const name of BROWSERS) world.browsers.set(name, new UserAgent(service.baseUrl));
    const { status, body } = await service.api('GET', '/authorizationServers/walk');
    if (status === 404) await world.makeServer(model, 'walk');
    else if (body.status === 'INACTIVE') await world.api('POST', '/authorizationServers/walk/lifecycle/activate');
    world.#noted = (await world.#outbox()).length;
    return world;
  }

  person = (name: string): Person => of(this.people, name);
  client = (name: string): TestClient => of(this.clients, name);
  browser = (name: string): UserAgent => of(this.browsers, name);

  move(model: Model, seconds: number): void {
    moveClock(this.t, seconds);
    model.pass(seconds);
  }

  /** Calls the management API, which must agree. */
  async api(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await this.service.api(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Makes an application, or another one under the id of a deleted one. */
  async makeApp(model: Model, name: string): Promise<void> {
    const { asks, leeway, listens } = model.app(name);
    const known = this.clients.get(name);
    const settings = {
      consent_method: asks ? 'REQUIRED' : 'TRUSTED',
      refresh_token: leeway === undefined ? { rotation_type: 'STATIC' } : { rotation_type: 'ROTATE', leeway },
      ...(listens && { backchannel_logout_uri: 'https://app.example/backchannel' }),
    };
    const credentials = {
      token_endpoint_auth_method: name === 'page' ? 'none' : 'client_secret_basic',
      ...(known !== undefined && { client_id: known.clientId }),
    };
    this.clients.set(name, await createClient(this.service, settings, credentials));
  }

  async makeServer(model: Model, id: string): Promise<void> {
    await this.api('POST', '/authorizationServers', { id, name: id, audiences: ['api://walk'], signingAlg: 'ES256' });
    await this.api('POST', `/authorizationServers/${id}/scopes`, { name: ASKED_FOR, consent: 'REQUIRED' });
    const { accessToken, refreshToken, refreshTokenWindow } = model.server(id);
    const token = {
      accessTokenLifetimeMinutes: accessToken / 60,
      refreshTokenLifetimeMinutes: refreshToken / 60,
      refreshTokenWindowMinutes: refreshTokenWindow / 60,
    };
    await setPolicies(this.service, id, [{ rules: [{ actions: { token } }] }]);
  }

  post(server: string, endpoint: string, app: string, form: Record<string, string>): Promise<JsonAnswer> {
    return post(this.service, server, endpoint, this.client(app), form);
  }

  /** @param asker undefined: an application that none of the tokens belongs to */
  introspect(token: Token, asker: string | undefined): Promise<JsonAnswer> {
    const client = asker === undefined ? this.resourceServer : this.client(asker);
    return post(this.service, token.family.server, 'introspect', client, { token: of(this.tokens, token) });
  }

  /**
   * What can be seen from outside is as the model says.
   * @param thorough every fourth time: also of tokens that have long been over, that they are, and of whom was told what
   */
  async compare(model: Model, thorough = this.#steps % 4 === 3): Promise<void> {
    this.#steps += 1;
    await this.#compareTokens(model, thorough);
    for (const name of BROWSERS) {
      const { status, userId } = await this.#sessionIn(name);
      const user = model.session(name)?.user;
      assert.deepEqual(
        [status, userId],
        user === undefined ? [404, undefined] : [200, this.person(user).id],
        `session in ${name}: ${user}`,
      );
    }
    const consents: string[] = [];
    for (const user of USERS) {
      const { body } = await this.api('GET', `/users/${this.person(user).id}/grants?limit=200`);
      for (const { clientId, issuer } of body) consents.push(`${user}: ${this.#pair(clientId, issuer)}`);
    }
    assert.deepEqual(consents.sort(), [...model.consents.keys()].sort(), 'consents');
    if (!thorough) return;
    const told = (await this.#outbox()).slice(this.#noted);
    const isCertain = (line: string) => !model.lapsed.has(line);
    assert.deepEqual(told.filter(isCertain).sort(), model.told.filter(isCertain).sort(), 'logouts told');
  }

  async #compareTokens(model: Model, thorough: boolean): Promise<void> {
    const active: string[] = [];
    const expected: string[] = [];
    const ask = async (token: Token, asker: string | undefined): Promise<void> => {
      const { user, app, server } = token.family;
      const { status, body } = await this.introspect(token, asker);
      assert.equal(status, model.server(server).active ? 200 : 404);
      const described = (scope: string) => `${token.name} of ${user} for ${app} at ${server}, asked by ${asker ?? 'another'}: ${scope}`;
      const scopeOf = (scope: string) => (token.kind === 'id' ? '' : scope);
      if (body.active === true) active.push(described(scopeOf(body.scope)));
      if (model.isActive(token, asker)) expected.push(described(scopeOf(token.scopes.join(' '))));
    };
    const isLively = (token: Token) => model.isActive(token, token.family.app);
    const tokens = [...this.tokens.keys()].filter((token) => thorough || this.#lively.has(token) || isLively(token));
    this.#lively = new Set(tokens.filter(isLively));
    const ofOwners = tokens.filter(({ kind, family }) => kind === 'refresh' && model.app(family.app).active);
    await Promise.all([...tokens.map((token) => ask(token, undefined)), ...ofOwners.map((token) => ask(token, token.family.app))]);
    assert.deepEqual(active.sort(), expected.sort(), 'active tokens');
  }

  async #sessionIn(browser: string): Promise<{ status: number; userId: string | undefined }> {
    const response = await this.browser(browser).send('/api/v1/sessions/me', { headers: { 'sec-fetch-site': 'same-origin' } });
    const body = (await response.json()) as { userId?: string };
    return { status: response.status, userId: body.userId };
  }

  /** What the outbox holds for applications, as the model writes it; nothing is sent. */
  #outbox(): Promise<string[]> {
    return onServer(this.service.database.url, async (client) => {
      const { rows } = await client.query(`SELECT payload FROM outbox WHERE kind = 'backchannel-logout' ORDER BY created, payload::text`);
      return rows.map(({ payload }) => {
        const user = [...this.people].find(([, { id }]) => id === payload.userId)?.[0];
        return `${this.#appOf(payload.clientId)} at ${payload.serverId} of ${user}`;
      });
    });
  }

  #appOf = (clientId: string): string | undefined => [...this.clients].find(([, client]) => client.clientId === clientId)?.[0];

  #pair(clientId: string, issuer: string): string {
    return `${this.#appOf(clientId)} at ${issuer === this.service.issuer('built-in') ? 'built-in' : issuer.slice(issuer.lastIndexOf('/') + 1)}`;
  }
}

function of<K, V>(known: ReadonlyMap<K, V>, key: K): V {
  const value = known.get(key);
  assert.ok(value !== undefined, `there is no ${String(key)}`);
  return value;
}
