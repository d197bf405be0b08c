/** One rule at one authorization server: the recorded steps of a relying party, and objects that several rules share, created once. */

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { formOf, TestBrowser } from './browser.ts';
import { BUILT_IN_SERVER, CALLBACK, type Fixtures, type TestApplication, type TestUser } from './fixtures.ts';
import { HttpClient, type HttpExchange, jsonOf, type Reply } from './http-client.ts';
import { type Arrival, authorizationResponseOf, type Json, type ResponseFields, type ResponseParameters } from './responses.ts';
import { Blocked, must } from './rule.ts';
import type { SecretRedactor } from './secret-redactor.ts';

// Request objects (OpenID Connect Core section 6.1): valid, except for the claims that a rule changes.

/** @param claims undefined removes one @param by absent: the application for every flow */
export async function requestClaims(visit: RuleContext, claims: Json = {}, by?: TestApplication): Promise<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1000);
  const right = { iss: (by ?? (await visit.everything())).id, aud: visit.issuer, iat: now, exp: now + 60 };
  return Object.fromEntries(Object.entries({ ...right, ...claims }).filter(([, value]) => value !== undefined));
}

/** Signed with the client secret. */
export async function requestBySecret(visit: RuleContext, claims: Json = {}, alg = 'HS256'): Promise<string> {
  const { secret } = await visit.everything();
  return new SignJWT(await requestClaims(visit, claims)).setProtectedHeader({ alg }).sign(new TextEncoder().encode(secret));
}

/** Request JWT signed with the application's private key. */
export async function requestByKey(visit: RuleContext, claims: Json = {}, alg = 'RS256'): Promise<string> {
  const right = await requestClaims(visit, claims, await visit.signing());
  return new SignJWT(right).setProtectedHeader({ alg }).sign(await visit.fixtures.keyFor(alg));
}

interface Code {
  readonly code: string;
  readonly verifier: string;
}

/** Shared state of all visits in a run. */
export interface Examination {
  readonly baseUrl: string;
  readonly fixtures: Fixtures;
  readonly secrets: SecretRedactor;
  readonly signal: AbortSignal;
  /** Shared objects by name. */
  readonly made: Map<string, Promise<Made>>;
  /** Started sign-ins: each is cancelled after its rule, because the service would keep it for an hour. */
  readonly begun: Begun[];
}

interface Begun {
  readonly browser: TestBrowser;
  readonly page: Reply;
}

interface Made {
  readonly value: unknown;
  readonly exchanges: readonly HttpExchange[];
}

const RIGHT_REQUEST = { redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 'some-state', nonce: 'some-nonce' };

export const CODE_AND_REFRESH = ['authorization_code', 'refresh_token'];

export const SCOPE = 'openid profile email offline_access';

/** Milliseconds until a new server must respond every time. */
const SERVED_WITHIN = 10_000;
/** Consecutive responses after which every process is assumed to have the server. */
const ANSWERS_IN_A_ROW = 5;

export class RuleContext {
  readonly wire: HttpClient;

  constructor(
    readonly examination: Examination,
    readonly serverId: string,
  ) {
    this.wire = new HttpClient(examination);
  }

  get fixtures(): Fixtures {
    return this.examination.fixtures;
  }

  get baseUrl(): string {
    return this.examination.baseUrl;
  }

  get isBuiltIn(): boolean {
    return this.serverId === BUILT_IN_SERVER;
  }

  get issuer(): string {
    return `${this.baseUrl}/oauth/v1${this.isBuiltIn ? '' : `/${this.serverId}`}`;
  }

  /** The context of the same rule at the other server. */
  get elsewhere(): RuleContext {
    return new RuleContext(this.examination, this.isBuiltIn ? this.fixtures.serverId : BUILT_IN_SERVER);
  }

  /** Creates an object once for all rules. @throws {Blocked} it could not be created */
  async once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const { made } = this.examination;
    let making = made.get(name);
    if (making === undefined) {
      const before = this.wire.exchanges.length;
      making = make().then((value) => ({ value, exchanges: this.wire.exchanges.slice(before) }));
      made.set(name, making);
    } else {
      this.wire.exchanges.push(...((await making.catch(() => undefined))?.exchanges ?? []));
    }
    try {
      return (await making).value as T;
    } catch (error) {
      throw new Blocked(`${name}: ${(error as Error).message}`);
    }
  }

  /** Every process has the new server within a second: it is available when it has responded several times. */
  ownServer = (): Promise<void> =>
    this.once('an authorization server', async () => {
      await this.fixtures.makeServer();
      const wire = new HttpClient(this.examination);
      let answered = 0;
      for (const end = Date.now() + SERVED_WITHIN; answered < ANSWERS_IN_A_ROW; await delay(50)) {
        const { status } = await wire.send(`${this.baseUrl}/oauth/v1/${this.fixtures.serverId}/.well-known/openid-configuration`);
        answered = status === 200 ? answered + 1 : 0;
        must(Date.now() < end, 'every process must serve a new authorization server within a second');
      }
    });

  everything = (): Promise<TestApplication> => this.once('an application for every flow', () => this.fixtures.makeEverything());
  other = (): Promise<TestApplication> =>
    this.once('another application', () => this.fixtures.makeApplication('other', { grant_types: CODE_AND_REFRESH }));
  publicOne = (): Promise<TestApplication> =>
    this.once('a public application', () =>
      this.fixtures.makeApplication('public', { application_type: 'browser', grant_types: CODE_AND_REFRESH }, 'none'),
    );
  asking = (): Promise<TestApplication> =>
    this.once('an application that asks for consent', () => this.fixtures.makeApplication('asking', { consent_method: 'REQUIRED' }));
  signing = (): Promise<TestApplication> => this.once('an application that signs', () => this.fixtures.makeSigning());
  user = (): Promise<TestUser> => this.once('a user', () => this.fixtures.makeUser());

  visitor = (): Promise<TestUser> => this.once('a user who signs in on the page', () => this.fixtures.makeVisitor());

  /** The parameters of a valid authorization request with the given changes; undefined removes one. */
  async requestUrl(parameters: ResponseParameters = {}): Promise<URL> {
    const { id } = await this.everything();
    const url = new URL(`${this.issuer}/authorize`);
    for (const [name, value] of Object.entries({ client_id: id, ...RIGHT_REQUEST, ...parameters }))
      if (value !== undefined) url.searchParams.set(name, value);
    return url;
  }

  /** Sends an authorization request, in the browser where the user is signed in, or in a given one. */
  async authorize(parameters: ResponseParameters = {}, browser?: TestBrowser): Promise<Arrival> {
    const by = browser ?? (await this.signedIn()).copy();
    const arrival = authorizationResponseOf(await by.visit(this.wire, await this.requestUrl(parameters)));
    if (arrival.place === 'page') this.examination.begun.push({ browser: by, page: arrival.reply });
    return arrival;
  }

  /** A browser without a session. */
  stranger = (): TestBrowser => new TestBrowser(this.baseUrl);

  /** Browser session shared by most rules. Ending a dialog changes the session ID, so use a copy for that. */
  signedIn = (): Promise<TestBrowser> => this.once('a session', () => this.newSession());

  async sessionToken(): Promise<string> {
    const { mfa } = jsonOf(await this.fixtures.api.call('GET', '/settings/sign-in'));
    must(mfa !== 'EVERYONE', 'settings/sign-in requires a second factor for everyone, and the test user of the doctor has none');
    const { login: username, password } = await this.user();
    const reply = await this.fixtures.api.call('POST', '/authn', { username, password }, this.wire);
    const { sessionToken } = jsonOf(reply);
    must(typeof sessionToken === 'string', 'POST /api/v1/authn must answer with a sessionToken');
    this.examination.secrets.add(sessionToken);
    return sessionToken;
  }

  /** Signs the user in, in a new browser. */
  async newSession(): Promise<TestBrowser> {
    const browser = this.stranger();
    const { fields } = await this.authorize({ sessionToken: await this.sessionToken() }, browser);
    must(fields.code !== undefined, 'an authorization request with a sessionToken must be answered with a code');
    return browser;
  }

  async hasSession(browser: TestBrowser): Promise<boolean> {
    return (await this.authorize({ prompt: 'none' }, browser.copy())).fields.code !== undefined;
  }

  /** An unused code. @throws {Broken} the response has none */
  async code(parameters: ResponseParameters = {}, browser?: TestBrowser): Promise<Code> {
    const verifier = randomBytes(32).toString('base64url');
    const { fields } = await this.authorize(
      { scope: SCOPE, code_challenge: challengeOf(verifier), code_challenge_method: 'S256', ...parameters },
      browser,
    );
    must(fields.code !== undefined, `the response must have a code, but is ${fields.error ?? 'a page'}`);
    return { code: fields.code, verifier };
  }

  exchange = ({ code, verifier }: Pick<Code, 'code'> & Partial<Code>, by?: TestApplication): Promise<Reply> =>
    this.post('token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: verifier }, by);

  /** Tokens of the code flow that no other rule uses. @throws {Broken} the response has none */
  async freshTokens(scope = SCOPE, by?: TestApplication, browser?: TestBrowser): Promise<Json> {
    const parameters = { scope, ...(by !== undefined && { client_id: by.id }) };
    const reply = await this.exchange(await this.code(parameters, browser), by);
    must(reply.status === 200, `the code exchange must return 200, not ${reply.status}`);
    return jsonOf(reply);
  }

  /** Tokens of the code flow that rules can read, but must neither refresh nor revoke. */
  tokens = (scope = SCOPE): Promise<Json> => this.once(`tokens for ${scope} from ${this.serverId}`, () => this.freshTokens(scope));

  /** The response of the authorize endpoint to `response_type=code id_token token`. */
  hybrid = (): Promise<Arrival> =>
    this.once(`a hybrid answer from ${this.serverId}`, () =>
      this.authorize({ response_type: 'code id_token token', scope: 'openid email' }),
    );

  /** Posts a form as the application for every flow, or another one; a public one sends its client_id. */
  async post(endpoint: string, form: ResponseParameters, by?: TestApplication): Promise<Reply> {
    const { id, secret } = by ?? (await this.everything());
    return this.send(endpoint, secret === undefined ? { client_id: id, ...form } : form, secret === undefined ? {} : basic(id, secret));
  }

  /** Posts a form with the given client authentication. */
  send(endpoint: string, form: ResponseParameters, headers: Readonly<Record<string, string>> = {}): Promise<Reply> {
    const given = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined);
    return this.wire.send(`${this.issuer}/${endpoint}`, { method: 'POST', headers, body: new URLSearchParams(given) });
  }

  userinfo = (accessToken: unknown): Promise<Reply> =>
    this.wire.send(`${this.issuer}/userinfo`, { headers: { authorization: `Bearer ${accessToken}` } });

  introspect = async (token: unknown, by?: TestApplication): Promise<Json> =>
    jsonOf(await this.post('introspect', { token: String(token) }, by));

  /** Introspection result of a token. */
  introspected = (name: 'access_token' | 'refresh_token' | 'id_token'): Promise<Json> =>
    this.once(`introspection of an ${name} from ${this.serverId}`, async () => this.introspect((await this.tokens())[name]));

  /** For a client library: the same HTTP client. */
  fetch = async (address: string | URL, init: object): Promise<Response> => {
    const { status, headers, text } = await this.wire.send(address, init);
    return new Response(text === '' ? null : text, { status, headers });
  };

  logout = (parameters: ResponseFields, browser: TestBrowser): Promise<Reply> =>
    browser.visit(this.wire, `${this.issuer}/logout?${new URLSearchParams(parameters)}`);
}

export const basic = (id: string, secret: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

export const challengeOf = (verifier: string): string => createHash('sha256').update(verifier).digest('base64url');

/** Cancels pending sign-ins by the cancel link of each page. */
export async function cancelExamination({ begun, secrets }: Examination): Promise<void> {
  const wire = new HttpClient({ secrets });
  for (const { browser, page } of begun.splice(0)) {
    const isDialog = formOf(page.text, 'consent') !== undefined;
    const way = isDialog ? browser.submit(wire, page, 'consent', { decision: 'deny' }) : browser.press(wire, page, 'cancel');
    await way.catch(() => undefined);
  }
}
