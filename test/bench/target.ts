/** What is measured: a service that runs in processes of its own, on loopback, and what a flow must know to speak to it. Plain data: it travels to the generator. */

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/** Where one authorization server has its endpoints (`/authorize`, `/token`, `/introspect`, `/userinfo`). */
export interface ServerAddress {
  readonly opaque: string;
  readonly jwt: string;
}

export interface Target {
  readonly name: TargetName;
  /** Processes whose CPU time and memory count, with all that descend from them. */
  readonly roots: readonly number[];
  /** In use: the concurrent users go round them. */
  readonly servers: readonly ServerAddress[];
  /** A confidential client, by `client_secret_basic`. */
  readonly clientId: string;
  readonly clientSecret: string;
  /** Of all users; their logins are those of {@link loginOf}. */
  readonly password: string;
  /** The organization endpoints, which only Gatehouse has. */
  readonly directory?: { readonly api: string; readonly apiToken: string; readonly orgId: string };
}

/** One place that a concurrent user sends his requests to. */
export interface Seat {
  readonly server: ServerAddress;
  /** Of a family of its own. */
  readonly tokens: Tokens;
  readonly login: string;
}

export interface RunningTarget {
  readonly target: Target;
  /** Tokens of a user, opaque, scope {@link SCOPE}, issued by a server. */
  issueTokens(server: ServerAddress, count: number): Promise<Tokens[]>;
  /** Fills the table of tokens with more rows like those that are there. */
  fill(rows: number): Promise<void>;
  stop(): Promise<void>;
}

/** The library with everything in a Map; the library on PostgreSQL, in the plainest way; this service. In the order in which they are measured. */
export const TARGETS = ['map', 'plain', 'gatehouse'] as const;
export type TargetName = (typeof TARGETS)[number];

export const SCOPE = 'openid profile email offline_access';
export const CALLBACK = 'https://app.example/callback';
/** The baselines'; Gatehouse makes its own. */
export const CLIENT = { id: 'bench', secret: 'a-secret-of-at-least-thirty-two-characters' };
export const PERSON = { firstName: 'Ada', lastName: 'Lovelace' };
export const loginOf = (user: number): string => `bench${user}@example.com`;
/** Users that can sign in at once without meeting at one row. */
export const USERS = 32;
