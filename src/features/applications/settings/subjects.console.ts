/** Subject identifiers of users at an application (OpenID Connect Core section 8). */
import type { Option } from '../../../pages/console/form.ts';
import { code, labelled, type SettingGroup, setting } from '../setting-group.console.ts';

const TYPES: readonly Option[] = [
  { value: 'public', label: 'User ID (public)', hint: 'The same for every application.' },
  {
    value: 'pairwise',
    label: 'An identifier of its own (pairwise)',
    hint: 'Applications of different hosts cannot compare their users. Claims such as email still tell who they are: grant few scopes.',
  },
];

export const subjectSettings: SettingGroup = {
  id: 'subjects',
  title: 'User identifier',
  lead: 'The value of sub in ID tokens, access tokens and userinfo. After a change, the application sees every user as a new one.',
  tab: 'settings',
  fields: ({ settings }) => [
    setting({ kind: 'radios', name: 'subject_type', label: 'Identifier', options: TYPES, value: settings.subject_type ?? 'public' }),
    setting({
      kind: 'url',
      name: 'sector_identifier_uri',
      label: 'Sector identifier URI',
      value: settings.sector_identifier_uri,
      when: { field: 'subject_type', value: 'pairwise' },
      hint: 'A JSON list of all redirect URIs, by https. Applications that name the same host share identifiers. Needed if the redirect URIs have several hosts.',
    }),
  ],
  facts: ({ settings }) => [
    { label: 'Identifier', value: labelled(TYPES, settings.subject_type ?? 'public') },
    { label: 'Sector identifier URI', value: code(settings.sector_identifier_uri) },
  ],
};
