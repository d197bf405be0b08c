/** Departments: the fields of a record. */

/** A department as its organization's tree shows it. */
export interface Department {
  readonly id: string;
  /** null at the top level. */
  readonly parentId: string | null;
  readonly name: string;
  /** Its id in the source; empty where there is none. */
  readonly originId: string;
}
