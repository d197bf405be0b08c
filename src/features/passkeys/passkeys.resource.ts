/** Passkeys: the fields of a record. */

export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** What the authenticator calls it, base64url. */
  readonly credentialId: string;
  /** COSE_Key (RFC 9052 section 7). */
  readonly publicKey: Buffer;
  /** How the authenticator is reached (WebAuthn section 5.8.4). */
  readonly transports: readonly string[];
  /** May it be copied to other devices? */
  readonly multiDevice: boolean;
  /** Has it been? */
  readonly backedUp: boolean;
  /** The model of the authenticator, as it says itself. */
  readonly aaguid: string;
  /** What its user calls it. */
  readonly name: string;
  readonly created: Date;
  readonly lastUsed: Date | null;
}
