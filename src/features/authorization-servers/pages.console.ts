/** API → Authorization servers: all pages, in the order in which their paths are matched. */

import type { ConsolePage } from '../../pages/console/page.ts';
import { serverDetailTypes } from '../authorization-details/detail-types.console.ts';
import { claimPages } from '../claims/claims.console.ts';
import { protectMcpServerPage } from '../mcp-servers/mcp-server-form.console.ts';
import { mcpServerPage } from '../mcp-servers/mcp-server-page.console.ts';
import { serverPolicies } from '../policies/policies.console.ts';
import { serverRules } from '../policies/rules.console.ts';
import { serverSimulator } from '../policies/simulator.console.ts';
import { registrationPages } from '../registration/registration.console.ts';
import { serverScopes } from '../scopes/scopes.console.ts';
import { serverKeys } from './keys.console.ts';
import { serverLifeCycle } from './lifecycle.console.ts';
import { serverList } from './list.console.ts';
import { protectApiPages } from './protect-api.console.ts';
import { serverSettings } from './settings.console.ts';

export const servers: readonly ConsolePage[] = [
  ...serverList,
  ...serverSettings,
  ...serverLifeCycle,
  ...serverScopes,
  ...serverDetailTypes,
  ...claimPages,
  ...serverPolicies,
  ...serverRules,
  ...serverKeys,
  ...registrationPages,
  ...protectApiPages,
  ...serverSimulator,
  protectMcpServerPage,
  mcpServerPage,
];
