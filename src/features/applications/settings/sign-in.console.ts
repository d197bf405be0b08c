/** Sign-in settings: who can sign in to an application, and with which checks. */

import type { Field, Option } from '../../../pages/console/form.ts';
import { phrase, series, verbatim } from '../../../platform/i18n/phrase.ts';
import type { ApplicationSettings } from '../application-settings.policy.ts';
import { type GroupContext, labelled, type SettingGroup, setting } from '../setting-group.console.ts';

const ASSIGNMENTS: readonly Option[] = [
  { value: 'EVERYONE', label: 'Everyone with an account' },
  { value: 'ASSIGNED', label: 'Only assigned users and groups', hint: 'Users and groups, under Access.' },
];
const CONSENTS: readonly Option[] = [
  {
    value: 'TRUSTED',
    label: 'Trusted (first-party): never ask',
    hint: 'For applications of your own. Scopes that ask for consent do not ask here.',
  },
  {
    value: 'REQUIRED',
    label: 'Third-party: ask for consent',
    hint: 'For applications of other companies. The scopes decide what users are asked about.',
  },
];
const FACTORS: readonly Option[] = [
  { value: '', label: 'As the sign-in policy' },
  { value: 'true', label: 'Always, for everyone' },
];
const REGISTRATIONS: readonly Option[] = [
  { value: 'INHERIT', label: 'As set under Security → Sign-up' },
  { value: 'ON', label: 'Offered' },
  { value: 'OFF', label: 'Not offered' },
];
const ORGANIZATIONS: readonly Option[] = [
  { value: 'OPTIONAL', label: 'Only if the request names one' },
  { value: 'REQUIRED', label: 'Always', hint: 'Users of several organizations choose one. Users without an organization have no access.' },
];
const PROFILES: readonly Option[] = [
  { value: '', label: 'As the authorization server' },
  { value: 'service', label: 'Service: state is required, of letters, digits and , . _ -' },
  { value: 'openid', label: 'OpenID Connect: state may be absent, or any printable ASCII' },
  { value: 'fapi2', label: 'FAPI 2.0: pushed requests, bound tokens, keys or certificates in the place of secrets' },
];
const PROVIDERS: readonly Option[] = [
  { value: 'all', label: 'All that are active' },
  { value: 'some', label: 'Only these' },
];

/** Who can sign in, and whether users are asked for consent; also for an application that is being created. */
export const accessFields = ({ assignment, consent_method }: Pick<ApplicationSettings, 'assignment' | 'consent_method'>): Field[] => [
  setting({ kind: 'radios', name: 'assignment', label: 'Who may sign in?', options: ASSIGNMENTS, value: assignment }),
  setting({ kind: 'radios', name: 'consent_method', label: 'Ask users for consent', options: CONSENTS, value: consent_method }),
];

/** The existing providers, and listed providers that no longer exist. */
function providerOptions({ identity_providers: named = [] }: ApplicationSettings, { providers }: GroupContext): readonly Option[] {
  const gone = named.filter((id) => !providers.some((provider) => provider.id === id));
  return [
    ...providers.map(({ id, name }) => ({ value: id, label: verbatim(name) })),
    ...gone.map((id) => ({ value: id, label: verbatim(id), hint: 'It no longer exists.' })),
  ];
}

export const signInSettings: SettingGroup = {
  id: 'sign-in',
  title: 'Sign-in and consent',
  tab: 'settings',
  fields({ settings }, around) {
    const providers = providerOptions(settings, around);
    const fields: Field[] = [
      ...accessFields(settings),
      setting({
        name: 'mfa_required',
        label: 'Second factor',
        options: FACTORS,
        value: settings.mfa_required === true ? 'true' : '',
        hint: 'The policy is under Security. This application can only be stricter.',
      }),
    ];
    fields.push(
      setting({
        name: 'registration',
        label: 'Create an account on its sign-in page',
        options: REGISTRATIONS,
        value: settings.registration ?? 'INHERIT',
      }),
      setting({
        kind: 'radios',
        name: 'organization',
        label: 'Sign in for an organization',
        options: ORGANIZATIONS,
        value: settings.organization ?? 'OPTIONAL',
        hint: 'The scope organization brings the organization, the department and the roles in it into tokens.',
      }),
      setting({
        name: 'profile',
        advanced: true,
        label: 'Protocol profile',
        options: PROFILES,
        value: settings.profile ?? '',
        hint: 'Decides the requests that are accepted. Spring Security, Auth.js, oauth2-proxy, Grafana and passport-openidconnect need OpenID Connect.',
      }),
    );
    if (providers.length === 0) return fields;
    const mode = settings.identity_providers === undefined ? 'all' : 'some';
    return [
      ...fields,
      {
        kind: 'radios',
        name: 'providers',
        label: 'Which identity providers does its sign-in page offer?',
        options: PROVIDERS,
        value: mode,
      },
      setting({
        kind: 'checks',
        name: 'identity_providers',
        when: { field: 'providers', value: 'some' },
        label: 'Identity providers',
        options: providers,
        values: settings.identity_providers ?? [],
        hint: 'If none is selected, users sign in with their password only.',
      }),
    ];
  },
  facts: ({ settings }, around) => [
    { label: 'Who may sign in', value: labelled(ASSIGNMENTS, settings.assignment) },
    { label: 'Consent', value: labelled(CONSENTS, settings.consent_method) },
    { label: 'Second factor', value: labelled(FACTORS, settings.mfa_required === true ? 'true' : '') },
    { label: 'Create an account on its sign-in page', value: labelled(REGISTRATIONS, settings.registration ?? 'INHERIT') },
    { label: 'Sign in for an organization', value: labelled(ORGANIZATIONS, settings.organization ?? 'OPTIONAL') },
    { label: 'Protocol profile', value: labelled(PROFILES, settings.profile ?? '') },
    {
      label: 'Identity providers',
      value:
        settings.identity_providers === undefined
          ? phrase('All that are active')
          : series(settings.identity_providers.map((id) => labelled(providerOptions(settings, around), id))),
    },
  ],
};
