/**
 * What must be active, after whatever happened: a model of sessions, consents, codes and tokens, written from the specification ("States and transitions"),
 * docs/specification, docs/decisions and RFC 6749, 7009, 7662 and 9700, not from the code. Pure; times in seconds.
 */
import type { App, AuthorizationRequest, Code, Family, Refusal, Server, Session, Token, User } from './things.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The scope that an application asks its user for. */
export const ASKED_FOR = 'notes';
const pair = (app: string, server: string): string => `${app} at ${server}`;

export class Model {
  now = 0;
  readonly sessions = new Map<string, Session>();
  /** By `user: application at server`, of the one scope that is asked for. */
  readonly consents = new Map<string, Pick<Family, 'user' | 'app' | 'server'>>();
  readonly codes: Code[] = [];
  readonly tokens: Token[] = [];
  /** Whom the ends of sessions were told to: `application at server of user`. */
  readonly told: string[] = [];
  /** Of sessions that merely expired: nobody has to be told of those, but who ends them later may still tell. */
  readonly lapsed = new Set<string>();

  constructor(
    readonly users: Readonly<Record<string, User>>,
    readonly apps: Readonly<Record<string, App>>,
    readonly servers: Readonly<Record<string, Server>>,
  ) {}

  user = (name: string): User => found(this.users, name);
  app = (name: string): App => found(this.apps, name);
  server = (name: string): Server => found(this.servers, name);

  session = (browser: string): Session | undefined => this.sessions.get(browser);

  /** Time passes. */
  pass(seconds: number): void {
    this.now += seconds;
    for (const [browser, session] of this.sessions) {
      if (this.now < session.until) continue;
      this.sessions.delete(browser);
      for (const line of this.#listeners(session)) this.lapsed.add(line);
    }
  }

  /** Neither its application nor its server was deleted since: what has the same id now is another one. */
  stands = ({ app, server, appBorn, serverBorn }: Family): boolean =>
    this.app(app).born === appBorn && this.server(server).born === serverBorn;

  /** @param asker the application that asks: to another than its own a refresh token is worth nothing once it was used, leeway or not */
  isActive(token: Token, asker?: string): boolean {
    const { user, app, server } = token.family;
    const leeway = asker === app ? (this.app(app).leeway ?? 0) : 0;
    const isSpent = token.usedAt !== undefined && !this.#mayBeUsedAgain(token, leeway);
    const isOpen = this.user(user).status === 'ACTIVE' && this.app(app).active && this.server(server).active;
    return isOpen && this.stands(token.family) && !token.ended && !isSpent && this.now < token.expires;
  }

  authorize({ browser, user, app, server, scopes, prompt, allows }: AuthorizationRequest): Code | Refusal {
    if (!this.server(server).active) return 'no server';
    if (!this.app(app).active) return 'no application';
    let session = this.session(browser);
    if (session === undefined && prompt === 'none') return 'login_required';
    if (session === undefined || prompt === 'login') {
      if (this.user(user).status !== 'ACTIVE') return 'not signed in';
      if (session?.user !== user) {
        this.#endSession(browser);
        session = { user, parts: new Map(), begun: this.now, until: 0 };
        this.sessions.set(browser, session);
      }
      session.begun = this.now;
    }
    session.until = Math.min(this.now + 12 * HOUR, session.begun + 30 * DAY);
    const consent = `${session.user}: ${pair(app, server)}`;
    // The table of decisions.md; its other scopes are implicit.
    const isAsked = prompt === 'consent' || (this.app(app).asks && !this.consents.has(consent));
    if (scopes.includes(ASKED_FOR) && isAsked) {
      if (prompt === 'none') return 'consent_required';
      if (!allows) return 'access_denied';
      this.consents.set(consent, { user: session.user, app, server });
    }
    const born = { appBorn: this.app(app).born, serverBorn: this.server(server).born };
    const family = { user: session.user, app, server, scopes, begun: this.now, ...born };
    session.parts.set(pair(app, server), family);
    const code = { family, expires: this.now + 300, used: false, ended: false };
    this.codes.push(code);
    return code;
  }

  exchange(code: Code): readonly Token[] | Refusal {
    const refusal = this.#closed(code.family);
    if (refusal !== undefined) return refusal;
    if (!this.stands(code.family) || code.ended || this.now >= code.expires) return 'refused';
    if (code.used) return this.#endFamily(code.family);
    code.used = true;
    code.family.begun = this.now;
    return this.#issue(code.family, code.family.scopes, code.family.scopes.includes('offline_access'));
  }

  /** @param scopes all or some of the family's */
  refresh(token: Token, scopes: readonly string[]): readonly Token[] | Refusal {
    const { family } = token;
    const refusal = this.#closed(family);
    if (refusal !== undefined) return refusal;
    if (!this.stands(family) || token.ended || this.now >= token.expires) return 'refused';
    const { leeway } = this.app(family.app);
    if (leeway === undefined) token.expires = this.#refreshTokenEnd(family);
    else if (token.usedAt !== undefined && !this.#mayBeUsedAgain(token, leeway)) return this.#endFamily(family);
    else token.usedAt ??= this.now;
    if (token.successor !== undefined) token.successor.usedAt = Number.NEGATIVE_INFINITY;
    const issued = this.#issue(family, scopes, leeway !== undefined);
    if (leeway !== undefined) token.successor = issued.find(({ kind }) => kind === 'refresh');
    return issued;
  }

  /** Within its leeway, while what it was given for it was neither used nor revoked. */
  #mayBeUsedAgain({ usedAt = 0, successor }: Token, leeway: number): boolean {
    return (
      this.now < usedAt + leeway &&
      successor !== undefined &&
      !successor.ended &&
      successor.usedAt === undefined &&
      this.now < successor.expires
    );
  }

  /** @param app that asks for it */
  revoke(token: Token, app: string): void {
    const { family } = token;
    if (this.#closed({ ...family, app }) !== undefined || !this.stands(family) || family.app !== app || token.kind === 'id') return;
    token.ended = true;
  }

  logout(browser: string, server: string): void {
    if (this.server(server).active) this.#endSession(browser);
  }

  /** What an administrator does to the account itself. Nothing of it comes back when the account does. */
  setStatus(user: string, status: User['status']): void {
    this.user(user).status = status;
    if (status !== 'ACTIVE') this.endAll(user, true);
  }

  /** @param tokens too; ID tokens are not kept by anybody, they just expire */
  endAll(user: string, tokens: boolean): void {
    for (const [browser, session] of this.sessions) if (session.user === user) this.#endSession(browser);
    if (tokens) this.#end((family) => family.user === user);
  }

  /** With a consent ends what the application holds of the user there. */
  withdraw(user: string, app: string, server: string): void {
    this.consents.delete(`${user}: ${pair(app, server)}`);
    this.#end((family) => family.user === user && family.app === app && family.server === server);
  }

  /** Deletes it, and makes another one of the same id: nothing of the old one is left, no consent and no part in a session. */
  replace(kind: 'app' | 'server', name: string): void {
    this[kind](name).born += 1;
    this[kind](name).active = true;
    for (const [consent, given] of this.consents) if (given[kind] === name) this.consents.delete(consent);
    for (const { parts } of this.sessions.values()) for (const [part, family] of parts) if (family[kind] === name) parts.delete(part);
  }

  #closed({ app, server }: Pick<Family, 'app' | 'server'>): Refusal | undefined {
    if (!this.server(server).active) return 'no server';
    return this.app(app).active ? undefined : 'no application';
  }

  #issue(family: Family, scopes: readonly string[], refreshable: boolean): readonly Token[] {
    const make = (kind: Token['kind'], of: readonly string[], expires: number): Token => {
      const token = {
        name: `${kind}${this.tokens.length}`,
        kind,
        family,
        scopes: of,
        expires,
        ended: false,
        usedAt: undefined,
        successor: undefined,
      };
      this.tokens.push(token);
      return token;
    };
    const issued = [make('access', scopes, this.now + this.server(family.server).accessToken)];
    if (scopes.includes('openid')) issued.push(make('id', scopes, this.now + HOUR));
    if (refreshable) issued.push(make('refresh', family.scopes, this.#refreshTokenEnd(family)));
    return issued;
  }

  #refreshTokenEnd({ server, begun }: Family): number {
    const { refreshTokenWindow, refreshToken } = this.server(server);
    return Math.min(this.now + refreshTokenWindow, begun + refreshToken);
  }

  #endFamily(family: Family): 'refused' {
    this.#end((other) => other === family);
    return 'refused';
  }

  #end(isMeant: (family: Family) => boolean): void {
    for (const thing of [...this.codes, ...this.tokens])
      if (isMeant(thing.family) && !('kind' in thing && thing.kind === 'id')) thing.ended = true;
  }

  #endSession(browser: string): void {
    const session = this.sessions.get(browser);
    this.sessions.delete(browser);
    if (session !== undefined) this.told.push(...this.#listeners(session));
  }

  #listeners = ({ user, parts }: Session): string[] =>
    [...parts.values()].filter(({ app }) => this.app(app).listens).map(({ app, server }) => `${pair(app, server)} of ${user}`);
}

function found<T>(known: Readonly<Record<string, T>>, name: string): T {
  const one = known[name];
  if (one === undefined) throw new Error(`there is no ${name}`);
  return one;
}
