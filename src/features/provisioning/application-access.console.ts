/** Access to an application: assignments, roles and provisioning on one page. */
import { detailPage, type Part } from '../../pages/console/detail-page.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { rolesSummary } from '../application-roles/roles.console.ts';
import { applicationIn, headOf, warningsOf } from '../applications/application-page.console.ts';
import { assignmentParts } from '../applications/assignments.console.ts';
import { provisioningParts } from './provisioning.console.ts';

/** A page has at most one main action, and this one has several equal ones. */
const withoutMain = (part: Part): Part => ({
  ...part,
  ...(part.actions && { actions: part.actions.map((one) => ({ ...one, main: false })) }),
});

export const applicationAccess: ConsolePage = {
  path: '/applications/:id/access',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const parts = [
      ...(await assignmentParts(visit, application)),
      await rolesSummary(visit, application),
      ...(await provisioningParts(visit, application)),
    ];
    return detailPage({ ...headOf(visit, application), parts: [...warningsOf(application), ...parts.map(withoutMain)] });
  },
};
