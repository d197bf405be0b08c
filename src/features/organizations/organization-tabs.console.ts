/** Organization → Sign-in: identity providers, domains and policy on one page. */
import type { ConsolePage } from '../../pages/console/page.ts';
import { stackedParts } from '../../pages/console/stacked-pages.ts';
import { forbidden } from '../../platform/errors/errors.ts';
import { domainPages } from '../organization-domains/domains.console.ts';
import { organizationPolicyPages } from '../organization-policy/policy.console.ts';
import { organizationSignInPages } from '../organization-providers/sign-in.console.ts';
import { organizationHead, orgIdIn, SIGN_IN_TAB, visibleBelow } from './organization-page.console.ts';
import { getOrganization } from './organizations.service.ts';

const BELOW: readonly ConsolePage[] = [...organizationSignInPages, ...domainPages, ...organizationPolicyPages];

const signIn: ConsolePage = {
  path: `/organizations/:orgId${SIGN_IN_TAB}`,
  access: 'organizations',
  async show(visit, typed) {
    const organization = await getOrganization(visit.services, orgIdIn(visit), visit.request);
    const shown = visibleBelow(visit, organization.id, 'Sign-in').flatMap(({ label, path }) => {
      const page = BELOW.find((one) => one.path === `/organizations/:orgId${path}`);
      return page === undefined ? [] : [{ label, page }];
    });
    if (shown.length === 0) throw forbidden();
    return { ...organizationHead(visit, organization), view: 'sheet', locals: { parts: await stackedParts(visit, shown, typed) } };
  },
};

export const organizationTabs: readonly ConsolePage[] = [signIn, ...BELOW];
