/** API → Authorization servers: all of its pages, in the order in which addresses are compared. */
import type { ConsolePage } from '../page.ts';
import { serverClaims } from './claims.ts';
import { serverKeys } from './keys.ts';
import { serverLifeCycle } from './life-cycle.ts';
import { serverList } from './list.ts';
import { serverPolicies } from './policies.ts';
import { serverRules } from './rules.ts';
import { serverScopes } from './scopes.ts';
import { serverSettings } from './settings.ts';
import { serverSimulator } from './simulator.ts';

export const servers: readonly ConsolePage[] = [
  ...serverList,
  ...serverSettings,
  ...serverLifeCycle,
  ...serverScopes,
  ...serverClaims,
  ...serverPolicies,
  ...serverRules,
  ...serverKeys,
  ...serverSimulator,
];
