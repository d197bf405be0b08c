/** Trusted browsers: the fields of a record. */

export interface TrustedBrowser {
  readonly id: string;
  readonly userId: string;
  /** User-Agent of the browser. */
  readonly userAgent: string;
  readonly ipAddress: string | null;
  readonly created: Date;
  /** The last sign-in without a second factor; null: none yet. */
  readonly lastUsed: Date | null;
  readonly expiresAt: Date;
}
