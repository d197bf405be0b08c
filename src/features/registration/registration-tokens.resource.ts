/** Initial access tokens, with which a client can register itself at an authorization server (RFC 7591 section 3): the fields of a record. */
export interface RegistrationToken {
  readonly id: string;
  readonly serverId: string;
  readonly name: string;
  /** Is it used up by one registration? */
  readonly singleUse: boolean;
  /** Number of clients registered with it. */
  readonly uses: number;
  readonly created: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly lastUsed: Date | null;
}
