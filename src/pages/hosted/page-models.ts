/** Applications and accounts as the pages show them to an end user; nothing of it is a secret. */

/** The way back to an application, for a page that can do nothing else. */
export interface ApplicationLink {
  readonly label: string;
  readonly clientUri?: string | undefined;
}

/** An application as its users see it. */
export interface ApplicationFacts {
  readonly id: string;
  readonly label: string;
  readonly clientUri?: string;
  readonly logoUri?: string;
  /** `#rrggbb`; absent: the service's. */
  readonly brandColor?: string;
  readonly policyUri?: string;
  readonly tosUri?: string;
}

export interface AccountFacts {
  readonly id: string;
  readonly login: string;
  /** Empty when the account has none. */
  readonly name: string;
}

/** How an account is written on a page. */
export const accountLabel = ({ login, name }: Pick<AccountFacts, 'login' | 'name'>): string =>
  name === '' || name === login ? login : `${name} (${login})`;
