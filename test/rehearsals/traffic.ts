/**
 * Users and applications that go on whatever happens, and keep account of it: what was answered, what was not and how, and every token that was
 * handed out, to be looked up afterwards. Acknowledged is what came with status 200.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { rowKey } from '../../src/protocol/storage/row-keys.ts';
import {
  answerOf,
  authorizeUrl,
  CALLBACK,
  challengeOf,
  createClient,
  type TestClient,
  verifier,
} from '../protocol/servers/relying-party.ts';
import type { ServiceCalls } from '../support/service.ts';
import { UserAgent } from '../support/user-agent.ts';

const SCOPE = 'openid profile email offline_access';
const AGAIN = 50;
/** Seconds after its use in which a refresh token is taken again: the most that an application can set. */
const LEEWAY = 60;
/** Milliseconds in which a refresh is repeated, well within the leeway: later, reuse revokes the family. An answer may take as long as the balancer waits. */
const REPEATED = 25_000;
/** Milliseconds for looking tokens up while the service cannot be reached. */
const LOOK_UP = 120_000;

export interface TrafficOptions {
  /** The authorization server that all applications use. */
  readonly serverId?: string;
  /** Users who sign in, in turn. */
  readonly users?: number;
  /** Requests per second of each kind, of all senders together. Kinds without a rate are sent as fast as they are answered. */
  readonly rates?: Readonly<Record<string, number>>;
  /** How much faster the clock of the service runs: its leeway is shorter by this factor. */
  readonly clockFactor?: number;
}

/** A request that did not get the right answer. */
class Unanswered extends Error {}

interface Failure {
  readonly at: number;
  readonly what: string;
}

interface UserTokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

export type Query = <Row>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** What was acknowledged in a span of time, and what failed. */
export interface Taken {
  readonly tokens: readonly string[];
  readonly used: readonly string[];
  readonly users: readonly string[];
  readonly failures: readonly Failure[];
  /** Milliseconds: the longest time without an answer. */
  readonly silence: number;
}

export class Traffic {
  readonly failures: Failure[] = [];
  readonly answered = new Map<string, number>();
  /** Access tokens of every acknowledged answer. */
  readonly acknowledged: string[] = [];
  /** Codes and refresh tokens whose use was acknowledged. */
  readonly used: string[] = [];
  /** Users whose creation was acknowledged, by their id. */
  readonly users: string[] = [];
  /** When something was answered last. */
  lastAnswer = 0;
  /** Milliseconds: the longest time without an answer. */
  longestSilence = 0;
  client!: TestClient;
  /** The last answer with tokens of a user. */
  newest!: UserTokens;
  #goesOn = true;
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[] = [];
  readonly #users: Awaited<ReturnType<ServiceCalls['createUser']>>[] = [];
  readonly #serverId: string;
  readonly #rates: Readonly<Record<string, number>>;
  /** Milliseconds. */
  readonly #repeated: number;
  #signIns = 0;

  constructor(
    readonly service: ServiceCalls,
    { serverId = 'built-in', users = 1, rates = {}, clockFactor = 1 }: TrafficOptions = {},
  ) {
    this.#serverId = serverId;
    this.#rates = rates;
    this.#repeated = REPEATED / clockFactor;
    this.#users.length = users;
    setMaxListeners(0, this.#stopping.signal);
  }

  /** @param each users of each kind at once */
  async start(each: number): Promise<void> {
    // A refresh whose answer was lost is asked for again with the same token, as applications do: within the leeway that succeeds.
    this.client = await createClient(this.service, {
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      refresh_token: { rotation_type: 'ROTATE', leeway: LEEWAY },
    });
    for (let n = 0; n < this.#users.length; n += 1) {
      this.#users[n] = await this.service.createUser({ firstName: 'Ada', lastName: 'Lovelace', email: `rehearsed-${n}@example.com` });
    }
    await this.#signIn();
    this.add('client credentials', each, () => this.#machine());
    for (let n = 0; n < each; n += 1) this.#loops.push(this.#family(each), this.#visitor(each));
    this.add('sign-in', Math.ceil(each / 2), () => this.#signIn());
    this.add('user', 1, () => this.#directory());
  }

  /** Adds requests of another kind. @param each how many senders */
  add(kind: string, each: number, once: () => Promise<void>): void {
    for (let n = 0; n < each; n += 1) this.#loops.push(this.#repeat(kind, each, once));
  }

  /** @returns what was acknowledged since it was asked last */
  take(): Taken {
    const taken = {
      tokens: this.acknowledged.splice(0),
      used: this.used.splice(0),
      users: this.users.splice(0),
      failures: this.failures.splice(0),
      silence: this.longestSilence,
    };
    this.longestSilence = 0;
    return taken;
  }

  async stop(): Promise<void> {
    this.#goesOn = false;
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  get total(): number {
    return [...this.answered.values()].reduce((sum, one) => sum + one, 0);
  }

  /** @returns the milliseconds from a moment until something was answered that had been asked after it */
  async recovery(since: number): Promise<number> {
    const { answered } = this;
    const before = [...answered.values()].reduce((sum, one) => sum + one, 0);
    for (;;) {
      if (this.total > before && this.lastAnswer > since) return this.lastAnswer - since;
      await delay(5);
    }
  }

  /**
   * Failed look-ups count as failures and are repeated.
   * @returns how many of the acknowledged tokens are not active any more
   * @throws if the service cannot be reached for two minutes
   */
  async lost(acknowledged: readonly string[] = this.acknowledged): Promise<number> {
    let lost = 0;
    const tokens = [...acknowledged];
    let end = performance.now() + LOOK_UP;
    const look = async () => {
      for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
        try {
          if ((await this.#ask('introspect', { token })).active !== true) lost += 1;
          end = performance.now() + LOOK_UP;
        } catch (error) {
          if (performance.now() > end) throw error;
          this.#failed('look', performance.now(), error);
          tokens.push(token);
          await delay(AGAIN);
        }
      }
    };
    await Promise.all(Array.from({ length: 8 }, look));
    return lost;
  }

  /** @param query of the database @returns how many acknowledged things are missing */
  async missing({ tokens, used, users }: Taken, query: Query): Promise<Record<'tokens' | 'uses' | 'users' | 'events', number>> {
    const count = async (text: string, values: readonly string[]) => (await query<{ count: number }>(text, [values]))[0]?.count ?? 0;
    const created = `SELECT count(DISTINCT target->0->>'id')::integer FROM audit_events
      WHERE event_type = 'user.lifecycle.create' AND target->0->>'id' = ANY ($1)`;
    return {
      tokens: await this.lost(tokens),
      // If its use was lost, a code or refresh token is still unused.
      uses: await count('SELECT count(*)::integer FROM oidc_payload WHERE id = ANY ($1) AND consumed_at IS NULL', used.map(rowKey)),
      users: users.length - (await count('SELECT count(*)::integer FROM users WHERE id = ANY ($1)', users)),
      events: users.length - (await count(created, users)),
    };
  }

  /** How often each failure happened, by its words. */
  get summary(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { what } of this.failures) counts[what] = (counts[what] ?? 0) + 1;
    return counts;
  }

  async #repeat(kind: string, each: number, once: () => Promise<void>): Promise<void> {
    const { [kind]: rate } = this.#rates;
    const interval = rate === undefined ? 0 : (1000 * each) / rate;
    let due = performance.now() + Math.random() * interval;
    while (this.#goesOn) {
      // After a slow answer, requests follow without a pause until the rate is reached again.
      const wait = due - performance.now();
      if (wait > 0) await delay(wait, undefined, { signal: this.#stopping.signal }).catch(() => {});
      if (!this.#goesOn) return;
      due += interval;
      const begun = performance.now();
      try {
        await once();
        this.answered.set(kind, (this.answered.get(kind) ?? 0) + 1);
        const now = performance.now();
        if (this.lastAnswer > 0) this.longestSilence = Math.max(this.longestSilence, now - this.lastAnswer);
        this.lastAnswer = now;
      } catch (error) {
        this.#failed(kind, begun, error);
        await delay(AGAIN);
      }
    }
  }

  #failed(kind: string, at: number, error: unknown): void {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    this.failures.push({ at, what: `${kind}: ${message}${cause?.code === undefined ? '' : ` (${cause.code})`}` });
  }

  // biome-ignore lint/suspicious/noExplicitAny: what the endpoint answers
  async #ask(endpoint: string, form: Record<string, string>): Promise<any> {
    const { clientId, clientSecret } = this.client;
    const response = await fetch(`${this.service.issuer(this.#serverId)}/${endpoint}`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: new URLSearchParams(form),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Unanswered(`${response.status} ${text.slice(0, 100)}`);
    const answer = JSON.parse(text);
    if (typeof answer.access_token === 'string') this.acknowledged.push(answer.access_token);
    return answer;
  }

  async #machine(): Promise<void> {
    await this.#ask('token', { grant_type: 'client_credentials' });
  }

  /** A family of refresh tokens. */
  async #family(each: number): Promise<void> {
    const browser = new UserAgent(this.service.baseUrl);
    let token: string | undefined;
    /** When the current token was sent first; undefined: its answer has come. */
    let begun: number | undefined;
    await this.#repeat('refresh', each, async () => {
      const [old, asked] = [token, performance.now()];
      token = undefined;
      if (old === undefined) {
        token = (await this.#tokens(browser)).refresh_token;
        return;
      }
      try {
        token = (await this.#ask('token', { grant_type: 'refresh_token', refresh_token: old })).refresh_token;
        this.used.push(old);
        begun = undefined;
      } catch (error) {
        // A new family begins if the token is refused, or may have been used too long ago.
        begun ??= asked;
        const isRefused = error instanceof Unanswered && error.message.includes('invalid_grant');
        if (isRefused || performance.now() - begun > this.#repeated) begun = undefined;
        else token = old;
        throw error;
      }
    });
  }

  /** A browser with a session, that visits the application again and again. */
  async #visitor(each: number): Promise<void> {
    const browser = new UserAgent(this.service.baseUrl);
    await this.#repeat('code', each, async () => {
      await this.#tokens(browser);
    });
  }

  /** Somebody who creates users. */
  async #directory(): Promise<void> {
    const { status, body } = await this.service.api('POST', '/users', { profile: { login: `rehearsed-${randomUUID()}` } });
    if (status !== 200) throw new Unanswered(`${status} ${JSON.stringify(body).slice(0, 100)}`);
    this.users.push(body.id);
  }

  async #signIn(): Promise<void> {
    await this.#tokens(new UserAgent(this.service.baseUrl));
  }

  async #tokens(browser: UserAgent): Promise<UserTokens> {
    const proof = verifier();
    const url = authorizeUrl(this.service, this.#serverId, {
      client_id: this.client.clientId,
      scope: SCOPE,
      code_challenge: challengeOf(proof),
    });
    const page = await browser.visit(url);
    if (page.status >= 400) throw new Unanswered(`${page.status} at ${page.url.pathname}`);
    const arrived = page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, this.#nextUser());
    const { code, error } = answerOf(arrived);
    if (code === undefined) throw new Unanswered(`${arrived.status} ${error ?? 'no code'}`);
    const tokens = await this.#ask('token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof });
    this.used.push(code);
    this.newest = tokens;
    return tokens;
  }

  #nextUser(): Awaited<ReturnType<ServiceCalls['createUser']>> {
    this.#signIns += 1;
    const user = this.#users[this.#signIns % this.#users.length];
    assert.ok(user !== undefined);
    return user;
  }
}
