/** What the walk's model is made of: users, applications, servers, and what they are given. Times in seconds. */

export interface User {
  status: 'ACTIVE' | 'SUSPENDED' | 'DEPROVISIONED';
}

export interface App {
  readonly asks: boolean;
  /** undefined: its refresh token does not rotate; else the seconds in which a used one still yields a successor. */
  readonly leeway: number | undefined;
  /** Is it told when a session ends? */
  readonly listens: boolean;
  active: boolean;
  /** How often it was deleted and made anew under its id. */
  born: number;
}

export interface Server {
  readonly accessToken: number;
  readonly refreshTokenWindow: number;
  readonly refreshToken: number;
  active: boolean;
  born: number;
}

/** Everything that comes from one authorization; it is ended as one when a code or refresh token is used again. */
export interface Family {
  readonly user: string;
  readonly app: string;
  readonly server: string;
  readonly appBorn: number;
  readonly serverBorn: number;
  readonly scopes: readonly string[];
  begun: number;
}

export interface Code {
  readonly family: Family;
  readonly expires: number;
  used: boolean;
  ended: boolean;
}

export interface Token {
  readonly name: string;
  readonly kind: 'access' | 'refresh' | 'id';
  readonly family: Family;
  readonly scopes: readonly string[];
  expires: number;
  ended: boolean;
  usedAt: number | undefined;
  /** The refresh token that it was last given for. */
  successor: Token | undefined;
}

export interface Session {
  readonly user: string;
  readonly parts: Map<string, Family>;
  begun: number;
  until: number;
}

export interface AuthorizationRequest {
  readonly browser: string;
  /** Who signs in, where that is asked for. */
  readonly user: string;
  readonly app: string;
  readonly server: string;
  readonly scopes: readonly string[];
  readonly prompt: 'none' | 'login' | 'consent' | undefined;
  /** The answer on the dialog, if it comes. */
  readonly allows: boolean;
}

export type Refusal =
  | 'no server'
  | 'no application'
  | 'login_required'
  | 'not signed in'
  | 'consent_required'
  | 'access_denied'
  | 'refused';
