/** All rules that are seen from outside, in the order of the specification. */
import type { Rule } from '../rule.ts';
import type { Visit } from '../visit.ts';
import { authentication } from './authentication.ts';
import { authorizationResponse } from './authorization-response.ts';
import { authorize, endpoints } from './authorize.ts';
import { byEndpoint, errors, oauthCodes, oidcCodes } from './errors.ts';
import { introspect } from './introspect.ts';
import { introspectionResult } from './introspection-result.ts';
import { limits } from './limits.ts';
import { logout } from './logout.ts';
import { departmentNode, organizationDetail, organizationEndpoints, organizationItem } from './organizations.ts';
import { revoke } from './revoke.ts';
import { addresses, does, versioning } from './service.ts';
import { standards } from './standards.ts';
import { token } from './token.ts';
import { tokenResponse } from './token-response.ts';
import { transitions } from './transitions.ts';
import { userinfo } from './userinfo.ts';
import { userinfoClaims } from './userinfo-claims.ts';

/** What the specification calls "not shown" is no rule, and has no line. */
export const SPECIFICATION: readonly Rule<Visit>[] = [
  ...addresses,
  ...does,
  ...authorizationResponse,
  ...tokenResponse,
  ...introspectionResult,
  ...userinfoClaims,
  ...organizationItem,
  ...organizationDetail,
  ...departmentNode,
  ...transitions,
  ...endpoints,
  ...authorize,
  ...token,
  ...introspect,
  ...revoke,
  ...logout,
  ...userinfo,
  ...organizationEndpoints,
  ...authentication,
  ...errors,
  ...oauthCodes,
  ...oidcCodes,
  ...byEndpoint,
  ...limits,
  ...versioning,
  ...standards,
];
