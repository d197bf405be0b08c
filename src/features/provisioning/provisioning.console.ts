/** The tab Provisioning of an application: the SCIM target, the users and groups there, push and dry run. */
import { affectedCount, confirmationPages } from '../../pages/console/confirmation-page.ts';
import { detailPage, type Part, type TablePart } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { afterIn, LIMIT, pagerOf } from '../../pages/console/paging.ts';
import { searchedElsewhere } from '../../pages/console/stacked-pages.ts';
import { phrase, verbatim } from '../../platform/i18n/phrase.ts';
import { momentOrNull } from '../../platform/i18n/times.ts';
import { affectedBy } from '../affected/affected.service.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from '../applications/application-page.console.ts';
import type { Application } from '../applications/applications.resource.ts';
import { provisionedDownload, provisionedList, provisionedReceive, provisionedRetry } from './provisioned-list.console.ts';
import type { ProvisioningTarget } from './provisioning.resource.ts';
import {
  dryRun,
  findProvisioning,
  type PlannedUser,
  provisioningState,
  pushNow,
  removeProvisioning,
  setProvisioning,
} from './provisioning.service.ts';
import { AUTHENTICATIONS, provisioningFormFields, provisioningIn, REMOVAL_ACTIONS } from './provisioning-form.console.ts';

const homeOf = ({ id }: Pick<Application, 'id'>): string => applicationTabs(id).provisioning.href;
const crumbsOf = (application: Application) => applicationCrumbs(application, applicationTabs(application.id).provisioning);

async function settingsOf(visit: ConsoleRequest, application: Application, target: ProvisioningTarget): Promise<Part> {
  const { waiting, provisioned, deactivated, failed } = await provisioningState(visit.services, target);
  const home = homeOf(application);
  const isActive = target.status === 'ACTIVE';
  const actions = [
    ...(isActive ? [{ label: 'Push now', href: `${home}/push`, main: true }] : []),
    { label: 'Dry run', href: `${home}/plan` },
    { label: 'Edit', href: `${home}/edit` },
    { label: 'Remove', href: `${home}/remove`, danger: true },
  ];
  return {
    kind: 'facts',
    title: 'SCIM target',
    actions: mayChangeApplication(visit, application) ? actions : [],
    facts: [
      { label: 'Status', value: isActive ? { text: 'Active', tone: 'good' } : { text: 'Inactive', tone: 'warning' } },
      { label: 'Address', value: { text: target.baseUrl, code: true } },
      { label: 'Authentication', value: phrase(AUTHENTICATIONS[target.auth.type]) },
      { label: 'Users who leave', value: phrase(REMOVAL_ACTIONS[target.leavers]) },
      { label: 'Push groups', value: phrase(target.pushGroups ? 'Yes' : 'No') },
      { label: 'Waiting', value: waiting.count },
      ...(waiting.lastError === null ? [] : [{ label: 'Last failure', value: waiting.lastError }]),
      { label: 'Active there', value: provisioned },
      { label: 'Inactive there', value: deactivated },
      { label: 'Failed', value: failed === 0 ? 0 : { text: failed, href: `${home}?state=FAILED` } },
      { label: 'Away since', value: { moment: momentOrNull(target.awaySince) } },
      ...(target.outageUntil === null
        ? []
        : [
            { label: 'Last outage until', value: { moment: momentOrNull(target.outageUntil) } },
            { label: 'Reason of the last outage', value: target.outageReason ?? '' },
            { label: 'Outages in a row', value: target.outagesInARow },
          ]),
    ],
  };
}

/** @param list reads the users and groups at the target */
async function partsOf(visit: ConsoleRequest, application: Application, list: () => Promise<TablePart>): Promise<readonly Part[]> {
  const target = await findProvisioning(visit.services, application.id);
  if (target === undefined) {
    const emptyAction = { label: 'Set up provisioning', href: `${homeOf(application)}/edit` };
    return [
      {
        kind: 'table',
        title: 'Provisioning',
        name: 'Provisioning',
        columns: [],
        rows: [],
        empty: 'Without a SCIM target, the application manages its own users. Set one to keep its users in step with the assignments.',
        ...(mayChangeApplication(visit, application) && { emptyAction }),
      },
    ];
  }
  const away: Part[] =
    target.awaySince === null
      ? []
      : [
          {
            kind: 'words',
            tone: 'bad',
            paragraphs: [
              'The target is unreachable, or refuses the credentials. It is retried every 20 seconds, or when it asks for it.',
              verbatim(target.awayReason ?? ''),
            ],
          },
        ];
  return [...away, ...(await Promise.all([settingsOf(visit, application, target), list()]))];
}

/** The SCIM target, its state, and the first users and groups there. */
export const provisioningParts = (visit: ConsoleRequest, application: Application): Promise<readonly Part[]> =>
  partsOf(visit, application, async () => {
    const { choosing: _, files: __, ...list } = await provisionedList({ ...visit, query: new URLSearchParams() }, application);
    return searchedElsewhere(list, homeOf(application));
  });

const overview: ConsolePage = {
  path: '/applications/:id/provisioning',
  access: 'service',
  async show(visit, typed) {
    const application = await applicationIn(visit);
    const parts = await partsOf(visit, application, () => provisionedList(visit, application, typed));
    return detailPage({ ...headOf(visit, application), parts: [...warningsOf(application), ...parts] });
  },
  receive: provisionedReceive,
  download: provisionedDownload,
};

const edit: ConsolePage = {
  path: '/applications/:id/provisioning/edit',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const target = await findProvisioning(visit.services, application.id);
    return formPage(
      {
        title: 'SCIM target',
        crumbs: crumbsOf(application),
        facts: ['After you save, all assigned users are matched with the target by user name, and created there if they are missing.'],
        fields: provisioningFormFields(target),
        submit: 'Save',
        cancel: homeOf(application),
      },
      typed,
    );
  },
  async receive(visit, form) {
    const application = await applicationToChange(visit);
    await setProvisioning(visit.services, application.id, provisioningIn(form), visit.request);
    return { goTo: homeOf(application), notice: 'provisioning-changed' };
  },
};

const ACTIONS: Readonly<Record<PlannedUser['action'], string>> = {
  CREATE: 'Create',
  LINK: 'Link to the existing user',
  UPDATE: 'Change',
  DEACTIVATE: 'Deactivate',
  DELETE: 'Delete',
  NONE: 'Nothing',
  FAIL: 'Failed',
};

const plan: ConsolePage = {
  path: '/applications/:id/provisioning/plan',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    const home = `${homeOf(application)}/plan`;
    const { items, next } = await dryRun(visit.services, application.id, { limit: LIMIT, after: afterIn(home, visit) });
    return detailPage({
      title: 'Dry run',
      lead: 'Preview of a push. The target was read; nothing was changed.',
      crumbs: crumbsOf(application),
      parts: [
        {
          kind: 'table',
          name: 'dry run',
          columns: ['Name', 'Changes', 'Preview', 'Error'],
          rows: items.map(({ id, name, action, resource, error }) => ({
            cells: [
              { text: name, href: `/admin/users/${encodeURIComponent(id)}` },
              phrase(ACTIONS[action]),
              { text: resource === undefined ? '' : JSON.stringify(resource), code: true },
              error ?? '',
            ],
          })),
          empty: 'The application is not assigned.',
          pager: pagerOf(home, visit, next),
        },
      ],
    });
  },
};

const step = confirmationPages(async (visit) => {
  const application = await applicationToChange(visit);
  return { name: application.label, address: homeOf(application), crumbs: crumbsOf(application) };
});

export const provisioningPages: readonly ConsolePage[] = [
  overview,
  edit,
  plan,
  step({
    path: '/applications/:id/provisioning/push',
    label: 'Push',
    facts: ['All assigned users and groups are compared with the target again, and changed where they differ.'],
    notice: 'provisioning-started',
    execute: ({ services, request }, id) => pushNow(services, id, undefined, request),
  }),
  step({
    path: '/applications/:id/provisioning/remove',
    label: 'Remove provisioning',
    async facts({ services, params }) {
      const { users, groups } = await affectedBy(services, 'provisioning', { id: params.id ?? '' });
      return [
        phrase('At the target, {users} and {groups} stay unchanged.', {
          users: affectedCount(users, 'user'),
          groups: affectedCount(groups, 'group'),
        }),
        'Users who leave are not deactivated there any more.',
      ];
    },
    danger: true,
    notice: 'provisioning-removed',
    execute: ({ services, request }, id) => removeProvisioning(services, id, request),
  }),
  provisionedRetry,
];
