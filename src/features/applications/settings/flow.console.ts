/** Flow settings: how an application gets its tokens (RFC 6749 section 1.3, RFC 7636). */

import type { Option } from '../../../pages/console/form.ts';
import { series, verbatim } from '../../../platform/i18n/phrase.ts';
import { CIBA_GRANT, DEVICE_GRANT, JWT_BEARER_GRANT, TOKEN_EXCHANGE_GRANT } from '../../policies/access-policy.policy.ts';
import { algOptions, code, codes, labelled, type SettingGroup, setting, yes } from '../setting-group.console.ts';
import { REQUEST_OBJECT_ALGS } from './algorithms.policy.ts';

const GRANTS: readonly Option[] = [
  {
    value: 'authorization_code',
    label: 'Authorization code',
    hint: 'Users sign in. Right for web, single-page and native applications.',
  },
  {
    value: 'refresh_token',
    label: 'Refresh token',
    hint: 'New access tokens without the user, when the scope offline_access is requested.',
  },
  {
    value: 'client_credentials',
    label: 'Client credentials',
    hint: 'The application authenticates as itself, without a user. It needs a secret or a key.',
  },
  {
    value: DEVICE_GRANT,
    label: 'Device code',
    hint: 'For devices without a browser or keyboard, and command lines. The user confirms a code in a browser elsewhere.',
  },
  {
    value: CIBA_GRANT,
    label: 'Sign-in request (CIBA)',
    hint: 'The application names a user, who answers on a page of this service. For call centres, points of sale and approvals. It needs a secret or a key.',
  },
  {
    value: TOKEN_EXCHANGE_GRANT,
    label: 'Token exchange',
    hint: 'Exchanges a user’s token for one to call another API with, on behalf of the user. It needs a secret or a key.',
  },
  {
    value: JWT_BEARER_GRANT,
    label: 'JWT bearer',
    hint: 'Presents a token of a trusted identity provider about a user, such as an ID-JAG. It needs a secret or a key.',
  },
  {
    value: 'implicit',
    label: 'Implicit',
    hint: 'Tokens in the address. For old applications only: addresses are written into histories and logs.',
  },
  {
    value: 'password',
    label: 'Password',
    hint: 'The application itself asks for the password. For old applications only: it sees the password, and no second factor is possible.',
  },
];

const RESPONSES: readonly Option[] = [
  { value: 'code', label: verbatim('code'), hint: 'Right for nearly all.' },
  { value: 'id_token', label: verbatim('id_token') },
  { value: 'token', label: verbatim('token') },
  { value: 'id_token token', label: verbatim('id_token token') },
  { value: 'code id_token', label: verbatim('code id_token') },
  { value: 'code token', label: verbatim('code token') },
  { value: 'code id_token token', label: verbatim('code id_token token') },
];

const DELIVERY_MODES: readonly Option[] = [
  { value: '', label: 'The application polls for the answer (poll)' },
  { value: 'ping', label: 'The application is notified (ping)' },
];

const REQUEST_ALGS = algOptions(REQUEST_OBJECT_ALGS);

export const flow: SettingGroup = {
  id: 'flow',
  title: 'Flow',
  lead: 'The ways the application gets tokens.',
  tab: 'settings',
  fields: ({ settings }) => [
    setting({
      kind: 'checks',
      name: 'grant_types',
      label: 'Grant types',
      options: GRANTS,
      values: settings.grant_types,
      hint: 'Grants that a response type below needs are added automatically.',
    }),
    setting({
      kind: 'checks',
      name: 'response_types',
      label: 'Response types',
      options: RESPONSES,
      values: settings.response_types,
      hint: 'The responses that the authorization endpoint may give. None: nobody signs in to this application.',
    }),
    setting({
      name: 'backchannel_token_delivery_mode',
      label: 'Answers to sign-in requests',
      options: DELIVERY_MODES,
      value: settings.backchannel_token_delivery_mode === 'ping' ? 'ping' : '',
      hint: 'The application learns in this way that a user answered its sign-in request (CIBA).',
    }),
    setting({
      kind: 'url',
      name: 'backchannel_client_notification_endpoint',
      label: 'Notification endpoint',
      value: settings.backchannel_client_notification_endpoint,
      hint: 'For mode ping: called when a user has answered. https, or http on localhost.',
    }),
    setting({
      kind: 'check',
      name: 'pkce_required',
      label: 'PKCE is required',
      checked: settings.pkce_required,
      hint: 'A stolen code is useless. Safe for every application whose library supports PKCE; without a secret it is always required.',
    }),
    setting({
      kind: 'check',
      name: 'require_signed_request_object',
      label: 'Signed requests are required',
      checked: settings.require_signed_request_object === true,
      hint: 'The application signs each request (request object, JAR). Its keys or its secret must be known here.',
    }),
    setting({
      name: 'request_object_signing_alg',
      label: 'Request object algorithm',
      options: REQUEST_ALGS,
      value: settings.request_object_signing_alg ?? '',
      hint: 'A signed request with any other algorithm is refused.',
    }),
    setting({
      kind: 'check',
      name: 'require_pushed_authorization_requests',
      label: 'Pushed requests are required',
      checked: settings.require_pushed_authorization_requests === true,
      hint: 'The application sends its request to the server itself (PAR), so nobody can read or change it in the browser. Its library must know PAR.',
    }),
  ],
  facts: ({ settings }) => [
    { label: 'Grant types', value: series(settings.grant_types.map((grant) => labelled(GRANTS, grant))) },
    { label: 'Response types', value: codes(settings.response_types) },
    {
      label: 'Answers to sign-in requests',
      value: labelled(DELIVERY_MODES, settings.backchannel_token_delivery_mode === 'ping' ? 'ping' : ''),
    },
    { label: 'Notification endpoint', value: code(settings.backchannel_client_notification_endpoint) },
    { label: 'PKCE is required', value: yes(settings.pkce_required) },
    { label: 'Signed requests are required', value: yes(settings.require_signed_request_object) },
    { label: 'Request object algorithm', value: labelled(REQUEST_ALGS, settings.request_object_signing_alg ?? '') },
    { label: 'Pushed requests are required', value: yes(settings.require_pushed_authorization_requests) },
  ],
};
