/** An application's settings: shown in groups on the tabs Settings, Credentials and Branding, and edited one group at a time. */

import { detailPage, type FactsPart } from '../../pages/console/detail-page.ts';
import { formPage } from '../../pages/console/form.ts';
import type { ConsolePage, ConsoleRequest } from '../../pages/console/page.ts';
import { formKey, submitOnce } from '../../pages/console/submit-once.ts';
import { notFound } from '../../platform/errors/errors.ts';
import { asPhrase, phrase } from '../../platform/i18n/phrase.ts';
import { isPrintable } from '../../platform/validation/text.ts';
import { listProvidersToChoose } from '../identity-providers/identity-providers.service.ts';
import {
  applicationCrumbs,
  applicationIn,
  applicationPath,
  applicationTabs,
  applicationToChange,
  headOf,
  mayChangeApplication,
  warningsOf,
} from './application-page.console.ts';
import type { Application } from './applications.resource.ts';
import { changeApplicationSettings } from './applications.service.ts';
import { newSecretPage } from './secret-page.console.ts';
import { changesIn, type GroupContext, type SettingGroup, type Tab } from './setting-group.console.ts';
import { authenticationSettings } from './settings/authentication.console.ts';
import { flow } from './settings/flow.console.ts';
import { brandingSettings, general } from './settings/general.console.ts';
import { logoutSettings } from './settings/logout.console.ts';
import { responseSettings } from './settings/responses.console.ts';
import { signInSettings } from './settings/sign-in.console.ts';
import { subjectSettings } from './settings/subjects.console.ts';
import { tokenSettings } from './settings/tokens.console.ts';

// An application's settings in groups. Each group is shown as facts and edited in its own form. Fields have the names of the API;
// setting-group.console.ts reads the submitted form.

const SETTING_GROUPS: readonly SettingGroup[] = [
  general,
  flow,
  signInSettings,
  tokenSettings,
  responseSettings,
  subjectSettings,
  logoutSettings,
  authenticationSettings,
  brandingSettings,
];

/** Maximum number of identity providers to select from. */
const MOST_PROVIDERS = 200;

const surroundings = async ({ services }: ConsoleRequest, { settings }: Application): Promise<GroupContext> => ({
  providers: await listProvidersToChoose(services, settings.identity_providers ?? [], MOST_PROVIDERS),
});

/** The groups of a tab, each with a link to its form. */
export async function settingParts(visit: ConsoleRequest, application: Application, tab: Tab): Promise<readonly FactsPart[]> {
  const around = await surroundings(visit, application);
  return SETTING_GROUPS.filter((group) => group.tab === tab).map(({ id, title, lead, facts }) => ({
    kind: 'facts',
    title,
    ...(lead !== undefined && { lead }),
    facts: facts(application, around),
    actions:
      mayChangeApplication(visit, application) && application.origin !== 'INTRODUCED'
        ? [
            {
              label: phrase('Edit: {settings}', { settings: asPhrase(title) }),
              icon: 'edit',
              href: `${applicationPath(application.id)}/settings/${id}`,
            },
          ]
        : [],
  }));
}

const shown: ConsolePage = {
  path: '/applications/:id/settings',
  access: 'service',
  async show(visit) {
    const application = await applicationIn(visit);
    return detailPage({
      ...headOf(visit, application),
      parts: [...warningsOf(application), ...(await settingParts(visit, application, 'settings'))],
    });
  },
};

/** @throws {ApiError} not found */
function groupIn({ params }: ConsoleRequest): SettingGroup {
  const group = SETTING_GROUPS.find(({ id }) => id === params.group);
  if (group === undefined) throw notFound(params.group ?? '', 'SettingGroup');
  return group;
}

/** Maximum characters of a redirect URI. */
const LONGEST = 2048;
/** The URL parameter of a redirect URI that is added to those of the application. */
const ADDED = 'redirect_uri';

/** URL of the form with a redirect URI that the application does not have yet. */
export const withRedirectUri = (id: string, uri: string): string =>
  `${applicationPath(id)}/settings/general?${new URLSearchParams({ [ADDED]: uri })}`;

/** The redirect URI from the link; undefined: none, or invalid. */
function addedIn({ query, params }: ConsoleRequest): string | undefined {
  const uri = query.get(ADDED) ?? '';
  return params.group === 'general' && uri !== '' && uri.length <= LONGEST && isPrintable(uri) ? uri : undefined;
}

function withAddress(application: Application, uri: string | undefined): Application {
  if (uri === undefined) return application;
  const redirect_uris = [...new Set([...application.settings.redirect_uris, uri])];
  return { ...application, settings: { ...application.settings, redirect_uris } };
}

const edit: ConsolePage = {
  path: '/applications/:id/settings/:group',
  access: 'service',
  verb: 'write',
  async show(visit, typed) {
    const application = await applicationToChange(visit);
    const { title, lead, tab, fields } = groupIn(visit);
    const back = applicationTabs(application.id)[tab];
    const added = addedIn(visit);
    return formPage(
      {
        title: phrase('Edit: {settings}', { settings: asPhrase(title) }),
        ...(lead !== undefined && { lead }),
        ...(added !== undefined && {
          facts: [
            phrase('Anyone can send a request with a wrong address. Save {uri} only if it belongs to the application.', { uri: added }),
          ],
        }),
        crumbs: applicationCrumbs(application, back),
        fields: fields(withAddress(application, added), await surroundings(visit, application)),
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
    const changes = changesIn(fields(application, await surroundings(visit, application)), form);
    // A method that needs a first secret creates one.
    const { label, secret } = await submitOnce(visit, form, [application.id, id, changes], async (services) => {
      const { application: changed, secret: made } = await changeApplicationSettings(services, application.id, changes, visit.request);
      return { label: changed.label, secret: made ?? null };
    });
    const back = applicationTabs(application.id)[tab];
    if (secret === null) return { goTo: back.href, notice: 'application-changed' };
    return newSecretPage({
      title: 'The application has a secret now',
      application: { id: application.id, label },
      secret,
      next: back.href,
      crumbs: applicationCrumbs(application, back),
    });
  },
};

export const applicationSettingsPages: readonly ConsolePage[] = [shown, edit];
