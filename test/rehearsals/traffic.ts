/**
 * Users and applications that go on whatever happens, and keep account of it: what was answered, what was not and how, and every token that was
 * handed out, to be looked up afterwards. Acknowledged is what came with status 200.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
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

/** Something that was not answered as it should. */
class Unanswered extends Error {}

interface Failure {
  readonly at: number;
  readonly what: string;
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
  #goesOn = true;
  #loops: Promise<void>[] = [];
  #client!: TestClient;
  #user!: Awaited<ReturnType<ServiceCalls['createUser']>>;

  constructor(readonly service: ServiceCalls) {}

  /** @param each users of each kind at once */
  async start(each: number): Promise<void> {
    // A refresh whose answer was lost is asked for again with the same token, as applications do: within the leeway that succeeds.
    this.#client = await createClient(this.service, {
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      refresh_token: { rotation_type: 'ROTATE', leeway: 60 },
    });
    this.#user = await this.service.createUser();
    for (let n = 0; n < each; n += 1) {
      this.#loops.push(this.#repeat('client credentials', () => this.#machine()));
      this.#loops.push(this.#family(), this.#visitor());
    }
    this.#loops.push(this.#repeat('sign-in', () => this.#signIn()));
    this.#loops.push(this.#repeat('user', () => this.#directory()));
  }

  /** @returns what was acknowledged since it was asked last, and the longest time without an answer, milliseconds */
  take(): { tokens: string[]; used: string[]; users: string[]; failures: Failure[]; silence: number } {
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

  /** @returns how many of the acknowledged tokens are not there any more */
  async lost(acknowledged: readonly string[] = this.acknowledged): Promise<number> {
    let lost = 0;
    const tokens = [...acknowledged];
    const look = async () => {
      for (let token = tokens.pop(); token !== undefined; token = tokens.pop()) {
        if ((await this.#ask('introspect', { token })).active !== true) lost += 1;
      }
    };
    await Promise.all(Array.from({ length: 8 }, look));
    return lost;
  }

  /** How often each failure happened, by its words. */
  get summary(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { what } of this.failures) counts[what] = (counts[what] ?? 0) + 1;
    return counts;
  }

  async #repeat(kind: string, once: () => Promise<void>): Promise<void> {
    while (this.#goesOn) {
      const begun = performance.now();
      try {
        await once();
        this.answered.set(kind, (this.answered.get(kind) ?? 0) + 1);
        const now = performance.now();
        if (this.lastAnswer > 0) this.longestSilence = Math.max(this.longestSilence, now - this.lastAnswer);
        this.lastAnswer = now;
      } catch (error) {
        const { message, cause } = error as Error & { cause?: { code?: string } };
        this.failures.push({ at: begun, what: `${kind}: ${message}${cause?.code === undefined ? '' : ` (${cause.code})`}` });
        await delay(AGAIN);
      }
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: what the endpoint answers
  async #ask(endpoint: string, form: Record<string, string>): Promise<any> {
    const { clientId, clientSecret } = this.#client;
    const response = await fetch(`${this.service.issuer('built-in')}/${endpoint}`, {
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
  async #family(): Promise<void> {
    const browser = new UserAgent(this.service.baseUrl);
    let token: string | undefined;
    await this.#repeat('refresh', async () => {
      const old = token;
      token = undefined;
      if (old === undefined) {
        token = (await this.#tokens(browser)).refresh_token;
        return;
      }
      try {
        token = (await this.#ask('token', { grant_type: 'refresh_token', refresh_token: old })).refresh_token;
        this.used.push(old);
      } catch (error) {
        // A token that is refused for good is not asked for again: a new family begins.
        if (!(error instanceof Unanswered && error.message.includes('invalid_grant'))) token = old;
        throw error;
      }
    });
  }

  /** A browser with a session, that visits the application again and again. */
  async #visitor(): Promise<void> {
    const browser = new UserAgent(this.service.baseUrl);
    await this.#repeat('code', async () => {
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

  async #tokens(browser: UserAgent): Promise<{ refresh_token: string }> {
    const proof = verifier();
    const url = authorizeUrl(this.service, 'built-in', {
      client_id: this.#client.clientId,
      scope: SCOPE,
      code_challenge: challengeOf(proof),
    });
    const page = await browser.visit(url);
    if (page.status >= 400) throw new Unanswered(`${page.status} at ${page.url.pathname}`);
    const arrived = page.url.origin === new URL(CALLBACK).origin ? page : await browser.signIn(page, this.#user);
    const { code, error } = answerOf(arrived);
    if (code === undefined) throw new Unanswered(`${arrived.status} ${error ?? 'no code'}`);
    const tokens = await this.#ask('token', { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: proof });
    this.used.push(code);
    return tokens;
  }
}
