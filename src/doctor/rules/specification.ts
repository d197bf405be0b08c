/** All rules that can be checked from outside, in the order of the specification. */
import type { Rule } from '../rule.ts';
import type { RuleContext } from '../rule-context.ts';
import { authenticationRules } from './authentication.ts';
import { authorizationResponse } from './authorization-response.ts';
import { authorizeRules, endpoints } from './authorize.ts';
import { byEndpoint, errorRules, oauthCodes, oidcCodes } from './errors.ts';
import { extensions } from './extensions.ts';
import { introspect, introspectionResult } from './introspect.ts';
import { limits } from './limits.ts';
import { logoutRules } from './logout.ts';
import { departmentNode, organizationDetail, organizationItem, organizationRules } from './organizations.ts';
import { revoke } from './revoke.ts';
import { scimRules } from './scim.ts';
import { addresses, behaviour, versioning } from './service.ts';
import { standards } from './standards.ts';
import { token, tokenResponse } from './token.ts';
import { transitions } from './transitions.ts';
import { userinfo, userinfoClaimRules } from './userinfo.ts';

/** Parts that the specification marks "not shown" have no rule. */
export const SPECIFICATION: readonly Rule<RuleContext>[] = [
  ...addresses,
  ...behaviour,
  ...authorizationResponse,
  ...tokenResponse,
  ...introspectionResult,
  ...userinfoClaimRules,
  ...organizationItem,
  ...organizationDetail,
  ...departmentNode,
  ...transitions,
  ...endpoints,
  ...authorizeRules,
  ...token,
  ...introspect,
  ...revoke,
  ...logoutRules,
  ...userinfo,
  ...organizationRules,
  ...authenticationRules,
  ...errorRules,
  ...oauthCodes,
  ...oidcCodes,
  ...byEndpoint,
  ...limits,
  ...versioning,
  ...standards,
  ...extensions,
  ...scimRules,
];
