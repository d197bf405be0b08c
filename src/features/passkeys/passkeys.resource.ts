/** Passkeys: the fields of a record. */

export interface Passkey {
  readonly id: string;
  readonly userId: string;
  /** Credential ID of the authenticator, base64url. */
  readonly credentialId: string;
  /** COSE_Key (RFC 9052 section 7). */
  readonly publicKey: Buffer;
  /** Transports of the authenticator (WebAuthn section 5.8.4). */
  readonly transports: readonly string[];
  /** Can it be copied to other devices? */
  readonly multiDevice: boolean;
  /** Is there a copy of it (WebAuthn section 6.1.3, "backup state")? */
  readonly backedUp: boolean;
  /** Model of the authenticator, as reported by it. */
  readonly aaguid: string;
  /** Name given by the user. */
  readonly name: string;
  readonly created: Date;
  readonly lastUsed: Date | null;
}
