/** Network zones: the fields of a record. */

export interface NetworkZone {
  readonly id: string;
  readonly name: string;
  /** CIDR, e.g. `192.0.2.0/24` or `2001:db8::/32`. */
  readonly networks: readonly string[];
  readonly created: Date;
  readonly lastUpdated: Date;
}

export const MOST_ZONES = 100;
/** Of one zone. */
export const MOST_NETWORKS = 150;
