/** Name, addresses and branding of an application (OpenID Connect Dynamic Client Registration 1.0 section 2). */

import { APPLICATION_KINDS, applicationKindOf } from '../application-page.console.ts';
import { code, codes, lines, type SettingGroup, setting } from '../setting-group.console.ts';

export const general: SettingGroup = {
  id: 'general',
  title: 'Name and addresses',
  tab: 'settings',
  fields: ({ label, settings }) => [
    { name: 'label', label: 'Name', hint: 'Shown to users when they sign in.', required: true, value: label },
    setting({
      name: 'application_type',
      label: 'Kind',
      options: APPLICATION_KINDS,
      value: settings.application_type,
      hint: 'Only native applications may return to a scheme of their own.',
    }),
    setting({
      kind: 'lines',
      name: 'redirect_uris',
      label: 'Redirect URIs',
      value: lines(settings.redirect_uris),
      hint: 'The browser returns to one of these addresses after the sign-in. One per line, compared character by character; https, or http on localhost.',
    }),
    setting({
      kind: 'lines',
      name: 'post_logout_redirect_uris',
      label: 'Post-logout redirect URIs',
      value: lines(settings.post_logout_redirect_uris),
      hint: 'The browser may return to these addresses after users sign out. One per line.',
    }),
    setting({
      kind: 'lines',
      name: 'allowed_origins',
      label: 'Allowed origins (CORS)',
      value: lines(settings.allowed_origins),
      rows: 2,
      hint: 'Pages of these origins may call the token and userinfo endpoints with JavaScript, one per line, e.g. https://app.example. For single-page applications.',
    }),
    setting({
      kind: 'url',
      name: 'initiate_login_uri',
      label: 'Initiate-login URI',
      value: settings.initiate_login_uri,
      hint: 'The https address that starts the application’s own sign-in. Users go there when a sign-in takes too long.',
    }),
  ],
  facts: ({ label, settings }) => [
    { label: 'Name', value: label },
    { label: 'Kind', value: applicationKindOf(settings.application_type) },
    { label: 'Redirect URIs', value: codes(settings.redirect_uris) },
    { label: 'Post-logout redirect URIs', value: codes(settings.post_logout_redirect_uris) },
    { label: 'Allowed origins (CORS)', value: codes(settings.allowed_origins) },
    { label: 'Initiate-login URI', value: code(settings.initiate_login_uri) },
  ],
};

/** Branding settings of an application (OpenID Connect Dynamic Client Registration 1.0 section 2). */
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
