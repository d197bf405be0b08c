/** Logout settings of an application (OpenID Connect Back-Channel Logout 1.0 section 2.2). */
import { code, type SettingGroup, setting, yes } from '../setting-group.console.ts';

export const logoutSettings: SettingGroup = {
  id: 'logout',
  title: 'Back-channel logout',
  lead: 'Notifies the application, server to server, when a user signs out.',
  tab: 'settings',
  fields: ({ settings }) => [
    setting({
      kind: 'url',
      name: 'backchannel_logout_uri',
      label: 'Back-channel logout URI',
      value: settings.backchannel_logout_uri,
      hint: 'https, or http on localhost. Empty: no notification.',
    }),
    setting({
      kind: 'check',
      name: 'backchannel_logout_session_required',
      label: 'Include session ID (sid)',
      checked: settings.backchannel_logout_session_required,
      hint: 'For applications in which a user can have several sessions.',
    }),
  ],
  facts: ({ settings }) => [
    { label: 'Back-channel logout URI', value: code(settings.backchannel_logout_uri) },
    { label: 'Include session ID (sid)', value: yes(settings.backchannel_logout_session_required) },
  ],
};
