/** An application's settings: shown in groups on the tabs Settings, Credentials and Branding, and edited a group at a time. */

import { formPage } from '../../pages/console/form.ts';
import { carriedOutOnce, formKey } from '../../pages/console/once.ts';
import type { ConsolePage, Visit } from '../../pages/console/page.ts';
import { type FactsPart, sheetPage } from '../../pages/console/sheet.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { listIdentityProviders } from '../identity-providers/identity-providers.service.ts';
import { addressOf, applicationIn, applicationToChange, below, headOf, mayChange, tabsOf, warningsOf } from './application-page.console.ts';
import type { Application } from './applications.resource.ts';
import { changeSettings } from './applications.service.ts';
import { secretTold } from './secret-page.console.ts';
import type { SettingGroup, Surroundings, Tab } from './setting-group.console.ts';
import { GROUPS } from './setting-groups.console.ts';
import { changesIn } from './setting-values.console.ts';

/** So many identity providers are offered to choose from. */
const MOST_PROVIDERS = 200;

async function surroundings({ services }: Visit): Promise<Surroundings> {
  return { providers: (await listIdentityProviders(services, {}, { limit: MOST_PROVIDERS, after: undefined })).items };
}

/** The groups of a tab, each with a way to edit it. */
export async function partsOf(visit: Visit, application: Application, tab: Tab): Promise<readonly FactsPart[]> {
  const around = await surroundings(visit);
  return GROUPS.filter((group) => group.tab === tab).map(({ id, title, lead, facts }) => ({
    kind: 'facts',
    title,
    ...(lead !== undefined && { lead }),
    facts: facts(application, around),
    actions: mayChange(visit, application)
      ? [{ label: `Edit ${title.toLowerCase()}`, href: `${addressOf(application.id)}/settings/${id}` }]
      : [],
  }));
}

const shown: ConsolePage = {
  path: '/applications/:id/settings',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    return sheetPage({ ...headOf(application), parts: [...warningsOf(application), ...(await partsOf(visit, application, 'settings'))] });
  },
};

/** @throws {ApiError} not found */
function groupIn({ params }: Visit): SettingGroup {
  const group = GROUPS.find(({ id }) => id === params.group);
  if (group === undefined) throw notFound(params.group ?? '', 'SettingGroup');
  return group;
}

const edit: ConsolePage = {
  path: '/applications/:id/settings/:group',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { title, lead, tab, fields } = groupIn(visit);
    const back = tabsOf(application.id)[tab];
    return formPage(
      {
        title: `Edit ${title.toLowerCase()}`,
        ...(lead !== undefined && { lead }),
        crumbs: below(application, back),
        fields: fields(application, await surroundings(visit)),
        hidden: formKey(),
        submit: 'Save',
        cancel: back.href,
      },
      typed,
    );
  },
  async receive(visit, form) {
    const { id, tab, fields } = groupIn(visit);
    const application = await applicationToChange(visit);
    const changes = changesIn(fields(application, await surroundings(visit)), form);
    // A method that needs a first secret makes one.
    const { label, secret } = await carriedOutOnce(visit, form, [application.id, id, changes], async (services) => {
      const { application: changed, secret: made } = await changeSettings(services, application.id, changes, visit.request);
      return { label: changed.label, secret: made ?? null };
    });
    const back = tabsOf(application.id)[tab];
    if (secret === null) return { goTo: back.href, notice: 'application-changed' };
    return secretTold({
      title: 'The application has a secret now',
      application: { id: application.id, label },
      secret,
      next: back.href,
      crumbs: below(application, back),
    });
  },
};

export const settings: readonly ConsolePage[] = [shown, edit];
