/** Network zones: the fields of a record. */

import { isNetwork } from '../../platform/validation/addresses.ts';
import { text } from '../../platform/validation/text.ts';

export interface NetworkZone {
  readonly id: string;
  readonly name: string;
  /** CIDR, e.g. `192.0.2.0/24` or `2001:db8::/32`. */
  readonly networks: readonly string[];
  readonly created: Date;
  readonly lastUpdated: Date;
}

export const MOST_ZONES = 100;
/** Limit per zone. */
export const MOST_NETWORKS = 150;

export const zoneName = text({ least: 1, most: 128 });
export const network = text({ least: 1, most: 64 })
  .refine(isNetwork, {
    error: 'must be a network in CIDR notation, such as 192.0.2.0/24 or 2001:db8::/32, without host bits',
  })
  .meta({ examples: ['192.0.2.0/24'] });
