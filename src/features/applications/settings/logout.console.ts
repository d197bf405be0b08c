/** How an application learns of logouts (OpenID Connect Back-Channel Logout 1.0 section 2.2). */
import { code, type SettingGroup, setting, yes } from '../setting-group.console.ts';

export const logoutSettings: SettingGroup = {
  id: 'logout',
  title: 'Back-channel logout',
  lead: 'The application is told, from server to server, when somebody has signed out.',
  tab: 'settings',
  fields: ({ settings }) => [
    setting({
      kind: 'url',
      name: 'backchannel_logout_uri',
      label: 'Address that is told',
      value: settings.backchannel_logout_uri,
      hint: 'https, or http on localhost. Empty: it is not told.',
    }),
    setting({
      kind: 'check',
      name: 'backchannel_logout_session_required',
      label: 'Name the session (sid)',
      checked: settings.backchannel_logout_session_required,
      hint: 'For applications in which somebody can have several sessions, of which one ends.',
    }),
  ],
  facts: ({ settings }) => [
    { label: 'Address that is told', value: code(settings.backchannel_logout_uri) },
    { label: 'The session is named', value: yes(settings.backchannel_logout_session_required) },
  ],
};
