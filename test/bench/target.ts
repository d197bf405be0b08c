/** What is measured: a service that runs in processes of its own, on loopback, and what a flow must know to speak to it. Plain data: it travels to the generator. */

export interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface Endpoints {
  readonly authorize: string;
  readonly token: string;
  readonly introspect: string;
  readonly userinfo: string;
}

/** Gatehouse's endpoints, which the baselines share. */
export const endpointsAt = (base: string): Endpoints => ({
  authorize: `${base}/authorize`,
  token: `${base}/token`,
  introspect: `${base}/introspect`,
  userinfo: `${base}/userinfo`,
});

/** One authorization server, by the format of its access tokens. A peer that issues only one format has the same endpoints twice. */
export interface ServerAddress {
  readonly opaque: Endpoints;
  readonly jwt: Endpoints;
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
  /** The client that gets JWTs, with the same secret, where the format depends on the client. */
  readonly jwtClientId?: string;
  /** Absent: {@link SCOPE}. */
  readonly scope?: string;
  /** Set when the server has no pages: its admin API, by which the flow accepts sign-ins and consents. */
  readonly signInApi?: string;
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
  /** Fills the table of tokens with more rows like those that are there; absent: there is no such table, or its format is private. */
  fill?(rows: number): Promise<void>;
  stop(): Promise<void>;
}

/** Other products. */
export const PEERS = ['keycloak', 'hydra'] as const;
export type PeerName = (typeof PEERS)[number];
/** The library with everything in a Map; the library on PostgreSQL, in the plainest way; this service; peers. In the order in which they are measured. */
export const TARGETS = ['map', 'plain', 'gatehouse', ...PEERS] as const;
export type TargetName = (typeof TARGETS)[number];

export const SCOPE = 'openid profile email offline_access';
export const CALLBACK = 'https://app.example/callback';
/** The baselines'; Gatehouse makes its own. */
export const CLIENT = { id: 'bench', secret: 'a-secret-of-at-least-thirty-two-characters' };
export const PERSON = { firstName: 'Ada', lastName: 'Lovelace' };
export const loginOf = (user: number): string => `bench${user}@example.com`;
/** Users that can sign in at once without meeting at one row. */
export const USERS = 32;
