/** Api tokens: the fields of a record. */

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  /** Its creator, with whose roles it acts. */
  readonly userId: string;
  readonly created: Date;
  /** null: never. */
  readonly expiresAt: Date | null;
  readonly lastUsed: Date | null;
}
