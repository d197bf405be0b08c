/** Branding settings of an application (OpenID Connect Dynamic Client Registration 1.0 section 2). */
import { code, type SettingGroup, setting } from '../setting-group.console.ts';

export const brandingSettings: SettingGroup = {
  id: 'branding',
  title: 'Logo, colour and links',
  tab: 'branding',
  fields: ({ settings }) => [
    setting({
      kind: 'url',
      name: 'logo_uri',
      label: 'Logo',
      value: settings.logo_uri,
      hint: 'The address of a picture. Pages show it over https only.',
    }),
    setting({
      name: 'brand_color',
      label: 'Colour',
      value: settings.brand_color,
      hint: 'The colour of its sign-in pages, as #rrggbb. Empty: the colour of the service.',
    }),
    setting({
      kind: 'url',
      name: 'client_uri',
      label: 'Home page',
      value: settings.client_uri,
      hint: 'The address of the application’s home page. https or http.',
    }),
    setting({
      kind: 'url',
      name: 'policy_uri',
      label: 'Privacy policy',
      value: settings.policy_uri,
      hint: 'Linked where users are asked for consent. https or http.',
    }),
    setting({
      kind: 'url',
      name: 'tos_uri',
      label: 'Terms of service',
      value: settings.tos_uri,
      hint: 'Linked where users are asked for consent. https or http.',
    }),
  ],
  facts: ({ settings }) => [
    { label: 'Logo', value: code(settings.logo_uri) },
    { label: 'Colour', value: code(settings.brand_color) },
    { label: 'Home page', value: code(settings.client_uri) },
    { label: 'Privacy policy', value: code(settings.policy_uri) },
    { label: 'Terms of service', value: code(settings.tos_uri) },
  ],
};
