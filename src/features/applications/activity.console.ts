/** Activity of an application, and its lifecycle steps: deactivate, activate, delete. */

import { affectedCount, confirmedStep } from '../../pages/console/confirmation-page.ts';
import { detailPage } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { PageNotice } from '../../pages/console/notices.ts';
import type { ConsolePage } from '../../pages/console/page.ts';
import { phrase } from '../../platform/i18n/phrase.ts';
import { momentOf, momentOrNull } from '../../platform/i18n/times.ts';
import { affectedBy } from '../affected/affected.service.ts';
import { activityOf } from '../audit/activity.console.ts';
import {
  APPLICATIONS_PATH,
  applicationCrumbs,
  applicationIn,
  applicationPath,
  applicationTabs,
  applicationToChange,
  headOf,
  warningsOf,
} from './application-page.console.ts';
import type { ApplicationStatus } from './applications.resource.ts';
import { deleteApplication, setApplicationStatus } from './applications.service.ts';

const activity: ConsolePage = {
  path: '/applications/:id/activity',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    return detailPage({
      ...headOf(visit, application),
      parts: [
        ...warningsOf(application),
        {
          kind: 'facts',
          facts: [
            { label: 'Created', value: { moment: momentOf(application.created) } },
            { label: 'Last change', value: { moment: momentOf(application.lastUpdated) } },
            { label: 'Last used', value: { moment: momentOrNull(application.lastUsed) } },
          ],
        },
        await activityOf(visit, application.id, applicationTabs(application.id).activity.href),
      ],
    });
  },
};

interface Step {
  readonly path: 'activate' | 'deactivate';
  readonly status: ApplicationStatus;
  readonly title: string;
  readonly facts: readonly string[];
  readonly submit: string;
  readonly notice: PageNotice;
}

const step = ({ path, status, title, facts, submit, notice }: Step): ConsolePage => ({
  path: `/applications/:id/${path}`,
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const back = applicationPath(application.id);
    const danger = status === 'INACTIVE';
    return formPage(
      {
        title: phrase(`${title} “{name}”?`, { name: application.label }),
        crumbs: applicationCrumbs(application),
        facts,
        submit,
        danger,
        cancel: back,
      },
      typed,
    );
  },
  async receive({ services, params, request }) {
    const { id = '' } = params;
    await setApplicationStatus(services, id, status, request);
    const home = applicationPath(id);
    return { goTo: home, notice, undo: { href: `${home}/${path === 'activate' ? 'deactivate' : 'activate'}` } };
  },
});

const deactivate = step({
  path: 'deactivate',
  status: 'INACTIVE',
  title: 'Deactivate',
  facts: [
    'Nobody can sign in to it, and its tokens are not accepted, from the next request on.',
    'Nothing is lost. When you activate it again, it works as before, and tokens that have not expired are valid again.',
  ],
  submit: 'Deactivate application',
  notice: 'application-deactivated',
});

const activate = step({
  path: 'activate',
  status: 'ACTIVE',
  title: 'Activate',
  facts: ['Users can sign in to it again, and its tokens that have not expired are accepted.'],
  submit: 'Activate application',
  notice: 'application-activated',
});

const remove = confirmedStep({
  path: '/applications/:id/delete',
  access: 'service',
  submit: 'Delete application',
  danger: true,
  notice: 'application-deleted',
  goTo: APPLICATIONS_PATH,
  async question(visit) {
    const application = await applicationToChange(visit);
    const { id, label } = application;
    const { users, groups, consents } = await affectedBy(visit.services, 'application', { id });
    const facts = [
      phrase('This removes the assignments of {users} and {groups}, {consents}, its secrets and all its tokens.', {
        users: affectedCount(users, 'user'),
        groups: affectedCount(groups, 'group'),
        consents: affectedCount(consents, 'consent'),
      }),
      'Nobody can sign in to it from the next request on.',
      'To stop it temporarily, deactivate it instead.',
      'This cannot be undone.',
    ];
    return {
      ...{ title: phrase('Delete “{application}”?', { application: label }), name: label, crumbs: applicationCrumbs(application) },
      ...{ cancel: applicationPath(id), facts, affected: users + groups + consents },
      execute: () => deleteApplication(visit.services, id, visit.request),
    };
  },
});

export const lifecycle: readonly ConsolePage[] = [activity, activate, deactivate, remove];
